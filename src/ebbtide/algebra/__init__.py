"""The algebra: typed scalar expressions, aggregates and relations, as frozen dataclasses.

A query is a value.  Nothing here evaluates anything.
"""
