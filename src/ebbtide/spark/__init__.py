"""Spark: the session, sources, entry, exchange, errors and listeners; nothing else knows it."""
