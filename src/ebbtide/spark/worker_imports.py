"""What Spark's Python workers import for a step; who has imported this has done it for them.

So has Numba: what it sets up with the first kernel that it loads takes as long as many kernels do.
"""

from contextlib import suppress

import numpy as np
import pandas  # type: ignore[import-untyped]  # noqa: F401 - for the first batch of a worker

import ebbtide.spark.entry
import ebbtide.spark.transport  # noqa: F401 - imported for the workers
from ebbtide.kernels.grouping import numbered
from ebbtide.spark.private import import_worker

import_worker()
with suppress(Exception):  # what is wrong with kernels is for a step to say
    numbered(np.zeros(1, np.uint64))
