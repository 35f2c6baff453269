"""The process that Spark's Python workers are forked from: it has imported what they need.

Law: a worker that is forked here does what one of Spark's own would do, only sooner: a step waits
for no imports, and all workers of a machine share the memory of what was imported.

Spark runs it as ``python -m``, in the place of ``pyspark.daemon``, in sessions that we start.  Its
place is taken by a child of the nursery, where there is one; else it imports here.
"""

import sys

from ebbtide.config import nursery_address
from ebbtide.spark.worker_nursery import fork_with_imports, hand_over

if __name__ == "__main__":
    # Spark offers PySpark in a zip, out of which Python would compile every module anew; in
    # sessions that we start it is installed as well, compiled.
    sys.path.sort(key=lambda path: path.endswith(".zip"))
    address = nursery_address()
    if address is not None and hand_over(address):
        sys.exit()
    fork_with_imports()
