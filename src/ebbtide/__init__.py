"""Ebbtide: continuous SQL over streams, on Apache Spark.

Every answer is right for a stated time, expires when its inputs expire, and is corrected when its
inputs are corrected.

Importing this package is cheap and must stay so: it loads no Spark, no Arrow, no NumPy and no SQL
parser. `tests/architecture/test_import_budget.py` holds it to that.
"""

__all__ = ["__version__"]

__version__ = "0.1.0"
