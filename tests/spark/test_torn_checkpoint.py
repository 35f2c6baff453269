"""A checkpoint of Spark's that has lost what it said of steps that are there."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.spark.files import as_json, put

from ebbtide.engine.engine import Engine
from ebbtide.engine.query import Query
from ebbtide.errors import EbbtideError
from ebbtide.spark.batch_files import files_of_batch

SECOND = 1_000_000


def query_of(spark: SparkSession, path: Path, name: str, files: int = 1) -> Query:
    engine = Engine(path / "state", spark=spark, shards=2)
    engine.execute(f"""
        CREATE STREAM s (a BIGINT, at TIMESTAMP, PROGRESS FOR at AS at - INTERVAL 1 HOUR)
          FROM FILES '{path}/s' FORMAT json OPTIONS (maxFilesPerTrigger '{files}');""")
    return engine.query("SELECT a FROM s [RANGE 1 HOUR]", name)


def give(path: Path, number: int) -> None:
    put(path / "s", number, as_json(["a", "at"], [(number, number * SECOND)]))


def taken(query: Query) -> list[int]:
    run = query.start(trigger={"availableNow": True})
    run.await_termination()
    return sorted(row.a for row in query.snapshot().collect())


def lose(checkpoint: Path, batch: int) -> None:
    """What a power cut does to a file that was never synced."""
    for kind in ("offsets", "commits", "sources/s"):
        for name in (f"{batch}", f"{batch}.compact"):
            (checkpoint / kind / name).unlink(missing_ok=True)
            (checkpoint / kind / f".{name}.crc").unlink(missing_ok=True)


def empty(checkpoint: Path, batch: int) -> None:
    for kind in ("offsets", "sources/s"):
        (checkpoint / kind / f"{batch}").write_bytes(b"")
    (checkpoint / f"commits/{batch}").unlink()


def lose_several(checkpoint: Path, batch: int) -> None:
    for number in range(batch - 2, batch + 1):
        lose(checkpoint, number)


@pytest.mark.parametrize("harm", [lose, empty, lose_several])
def test_a_checkpoint_that_is_behind_is_put_right(
    spark: SparkSession, tmp_path: Path, harm: Callable[[Path, int], None]
) -> None:
    name = f"torn_{harm.__name__}"
    for number in range(12):
        give(tmp_path, number)
    query = query_of(spark, tmp_path, name)
    assert taken(query) == list(range(12))
    root = Path(query.engine.root_of(name))
    assert files_of_batch(str(root), 11) == {"s": [str(tmp_path / "s/000011")]}
    assert files_of_batch(str(root), 9) == {"s": [str(tmp_path / "s/000009")]}
    harm(root / "checkpoint", 11)
    give(tmp_path, 12)
    # Were more files taken at once, the lost batch would come back with the new file in it.
    assert taken(query_of(spark, tmp_path, name, files=9)) == list(range(13))


def test_a_checkpoint_that_cannot_be_put_right_is_refused(
    spark: SparkSession, tmp_path: Path
) -> None:
    for number in range(3):
        give(tmp_path, number)
    query = query_of(spark, tmp_path, "torn_for_good")
    assert taken(query) == [0, 1, 2]
    root = Path(query.engine.root_of("torn_for_good"))
    kept = tmp_path / "kept"
    shutil.copytree(root, kept)
    (root / "inputs/1").write_text("damaged", "utf-8")
    shutil.rmtree(root / "checkpoint")
    give(tmp_path, 3)
    with pytest.raises(EbbtideError, match="checkpoint-behind"):
        taken(query_of(spark, tmp_path, "torn_for_good"))
    assert sorted(row.a for row in query.snapshot().collect()) == [0, 1, 2]
    # The remedy that the hint names.
    shutil.rmtree(root)
    shutil.copytree(kept, root)
    assert taken(query_of(spark, tmp_path, "torn_for_good")) == [0, 1, 2, 3]
