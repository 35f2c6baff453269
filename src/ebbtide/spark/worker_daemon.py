"""The process that Spark's Python workers are forked from: it has imported what they need.

Law: a worker that is forked here does what one of Spark's own would do, only sooner: a step waits
for no imports, and all workers of a machine share the memory of what was imported.

Spark runs it as ``python -m``, in the place of ``pyspark.daemon``, in sessions that we start.
"""

import gc

import pandas  # type: ignore[import-untyped]  # noqa: F401 - for the first batch of a worker

import ebbtide.spark.entry
import ebbtide.spark.transport  # noqa: F401 - imported for the workers
from ebbtide.spark.private import fork_workers

if __name__ == "__main__":
    gc.collect()
    gc.freeze()  # what is here stays, so no worker has to copy it to find that out
    fork_workers()
