"""Kernels: every operator as a pure function on changes and state, without Spark."""
