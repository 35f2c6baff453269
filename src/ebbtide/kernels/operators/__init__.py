"""Operators: a file each, the kernel that keeps its answer current."""
