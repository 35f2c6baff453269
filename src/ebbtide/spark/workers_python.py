"""Whether the Python of Spark's workers has what they need, asked before anything runs.

Law: workers on this machine run the Python that this process runs, unless the user has chosen
another; one that was chosen, and has no Ebbtide, is refused at the start.  What executors elsewhere
have is found out by the first step.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

from ebbtide.config import workers_python
from ebbtide.errors import SourceError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["check_workers_python"]

_PROBE = "import importlib.util, sys; sys.exit(importlib.util.find_spec('ebbtide') is None)"


def check_workers_python(spark: SparkSession) -> None:
    """Has workers of this machine run a Python that has Ebbtide, or refuses the session.

    A session that was made in an environment that is not activated takes the first Python on the
    PATH; nobody has chosen that, so it is put right.
    """
    context = spark.sparkContext
    if not str(context.master).startswith("local"):
        return
    found = context.pythonExec
    if _is_this(found) or _has_ebbtide(found):
        return
    if workers_python() is None:
        context.pythonExec = sys.executable
        return
    raise SourceError(
        "missing-package",
        f'Spark\'s workers would run "{found}", which has no package "ebbtide"',
        detail="PYSPARK_PYTHON names it",
        hint=f"PYSPARK_PYTHON={sys.executable}, or install ebbtide there",
    )


def _is_this(program: str) -> bool:
    return shutil.which(program) == sys.executable


def _has_ebbtide(program: str) -> bool:
    try:
        done = subprocess.run([program, "-c", _PROBE], check=False, capture_output=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
