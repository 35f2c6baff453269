"""Scalar expressions computed on columns of Arrow, without Spark.

Columnar      an expression as a function from tables to columns
Evaluated     its values on a table, and where it failed
arrow_type    the Arrow type of a column inside of the engine
"""

from ebbtide.columnar.evaluation import Columnar, Evaluated
from ebbtide.columnar.vectors import Failures
from ebbtide.state.types import arrow_type

__all__ = ["Columnar", "Evaluated", "Failures", "arrow_type"]
