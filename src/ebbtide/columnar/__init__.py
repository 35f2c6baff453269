"""Scalar expressions computed on columns of Arrow, without Spark.

Columnar      an expression as a function from tables to columns
Evaluated     its values on a table, and where it failed
arrow_type    the Arrow type of a column inside of the engine
"""

from ebbtide.columnar.evaluation import Columnar, Evaluated
from ebbtide.columnar.types import arrow_type
from ebbtide.columnar.vectors import Failures

__all__ = ["Columnar", "Evaluated", "Failures", "arrow_type"]
