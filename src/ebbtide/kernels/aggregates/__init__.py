"""Aggregates: accumulators, extremes, chosen rows, and how groups are brought up to date."""
