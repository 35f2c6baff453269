"""Admission: operations on keyed sources, key by key, as changes."""
