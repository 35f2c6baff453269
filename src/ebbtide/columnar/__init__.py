"""Scalar expressions computed on columns of Arrow, without Spark.

Columnar      an expression as a function from tables to columns
Evaluated     its values on a table, and where it failed
"""

from ebbtide.columnar.evaluation import Columnar, Evaluated
from ebbtide.columnar.vectors import Failures

__all__ = ["Columnar", "Evaluated", "Failures"]
