"""Predicates on tables of Arrow columns, for the conditions that kernels have to look at."""

from ebbtide.columnar import Columnar

__all__ = ["Columnar"]
