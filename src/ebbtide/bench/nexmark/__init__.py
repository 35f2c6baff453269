"""Nexmark: an auction house, its 23 queries, their answers by another engine, and Flink beside.

``sql`` has each query as it is written here, ``duckdb`` the same in plain SQL on all events at
once, and ``flink`` the same for Flink, where it can say it.
"""
