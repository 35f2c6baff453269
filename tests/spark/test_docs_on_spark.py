"""The Python of the documentation that needs Spark does what its page says."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from docs import PAGES, ROOT, blocks, run_python

ON_SPARK = [page for page in PAGES if any(block.spark for block in blocks(page))]


@pytest.mark.parametrize("page", ON_SPARK, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_python_runs_on_spark(
    spark: SparkSession, page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run_python(page, {"spark": spark}, spark=True)
