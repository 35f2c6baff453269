"""``ebbtide doctor --prepare``: what makes the next starts of Spark faster, stored once.

A few rows go through queries of the usual kinds, as ``ebbtide run`` would take them: so Spark has
loaded the classes that programs need, its workers have compiled their kernels, and both are stored
where the next start finds them.
"""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from subprocess import TimeoutExpired

from ebbtide.errors import UnsupportedError

__all__ = ["prepared"]

_PATIENCE = 600.0
"""Seconds within which a JVM has written its archive."""

_ROWS = 10

_SCRIPT = """
CREATE STREAM bids (item BIGINT, bidder STRING, price DOUBLE, at TIMESTAMP NOT NULL,
  PROGRESS FOR at AS at - INTERVAL 5 SECONDS) FROM FILES '{rows}' FORMAT json RETAIN 1 MINUTE;
CREATE VIEW means AS
  SELECT item, COUNT(*) AS bids, AVG(price) AS mean FROM bids [RANGE 10 MINUTES] GROUP BY item;
CREATE VIEW pairs AS
  SELECT a.bidder, b.price FROM bids AS a LEFT JOIN bids AS b
  ON b.item = a.item AND b.at BETWEEN a.at AND a.at + INTERVAL 1 MINUTE;
CREATE VIEW best AS
  SELECT item, bidder FROM bids [RANGE 1 HOUR]
  QUALIFY ROW_NUMBER() OVER (PARTITION BY item ORDER BY price DESC) <= 3;
CREATE VIEW counts AS
  SELECT window_end, COUNT(*) AS n FROM TUMBLE(bids, at, 1 MINUTE)
  GROUP BY window_start, window_end EMIT FINAL;
"""
_VIEWS = ("means", "pairs", "best", "counts")


def prepared() -> str:
    """Runs Spark once, and gives the file in which its classes are then."""
    from ebbtide.spark.class_archive import archive_file, is_archive

    file = archive_file()
    if file is None:
        raise UnsupportedError(
            "no-cache",
            "there is no directory in which the classes of Spark could be stored",
            detail="it must be yours, and nobody else may write there",
            hint="EBBTIDE_CACHE=/var/tmp/ebbtide-cache ebbtide doctor --prepare",
        )
    new = f"{file}.{os.getpid()}"
    try:
        with tempfile.TemporaryDirectory(prefix="ebbtide-") as directory:
            _run(directory, new)
        if not is_archive(new):
            raise UnsupportedError(
                "classes-not-stored",
                "this Java has not written an archive of its classes",
                detail="everything runs without one, but Spark starts more slowly",
            )
        os.replace(new, file)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(new)
    return file


def _run(directory: str, archive: str) -> None:
    """Runs queries on a few rows, in a Spark that writes its classes to a file at its end."""
    from ebbtide.engine.engine import Engine
    from ebbtide.spark.private import end_jvm
    from ebbtide.spark.session import start_spark
    from ebbtide.spark.worker_warming import warm_workers

    rows = Path(directory, "rows")
    rows.mkdir()
    lines = (
        {"item": i % 3, "bidder": f"b{i}", "price": i + 0.5, "at": f"2026-01-01 00:00:{i:02d}"}
        for i in range(_ROWS)
    )
    (rows / "bids.json").write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    spark = start_spark(log=os.path.join(directory, "spark.log"), archive=archive)
    warming = warm_workers(spark)
    try:
        engine = Engine(os.path.join(directory, "ebbtide"), spark=spark)
        engine.execute(_SCRIPT.format(rows=rows))
        views = [engine.query(f"SELECT * FROM {view}", name=view) for view in _VIEWS]
        run = engine.start(*views, name="prepared", trigger={"availableNow": True})
        run.await_termination()
        warming.join()
        engine.stop()
    finally:
        spark.stop()
        with suppress(TimeoutExpired):
            end_jvm(_PATIENCE)
