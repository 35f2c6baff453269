"""A program as it runs: its steps, its directory, what takes its output, and where it runs."""
