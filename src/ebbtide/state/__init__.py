"""State: batches of changes, SweepAreas over immutable segments, and the manifest of a version."""
