"""Sweeps: the ordered passes over end points that operators are built on."""
