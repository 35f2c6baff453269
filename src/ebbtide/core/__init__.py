"""The model: time, intervals, changes, types, schemas, frontiers and codecs.

Everything here is plain Python on the standard library.
"""
