"""Ebbtide: continuous SQL over streams, on Apache Spark.

Every answer is right for a stated time, expires when its inputs expire, and is corrected when its
inputs are corrected.

Importing this package is cheap and must stay so: it loads no Spark, no Arrow, no NumPy and no SQL
parser. `tests/architecture/test_import_budget.py` holds it to that.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ebbtide.builder import col, exists, fn, lit, source
    from ebbtide.engine.engine import Engine
    from ebbtide.errors import EbbtideError

__all__ = ["EbbtideError", "Engine", "__version__", "col", "exists", "fn", "lit", "source"]

__version__ = "0.1.0"

_HOMES = {
    "EbbtideError": "ebbtide.errors",
    "Engine": "ebbtide.engine.engine",
    "col": "ebbtide.builder",
    "exists": "ebbtide.builder",
    "fn": "ebbtide.builder",
    "lit": "ebbtide.builder",
    "source": "ebbtide.builder",
}


def __getattr__(name: str) -> Any:
    """Loads what is asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module 'ebbtide' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """What there is, loaded or not."""
    return sorted({*globals(), *__all__})
