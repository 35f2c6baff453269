"""Runs in Flink's own environment: takes what to do as JSON, and says what came of it as JSON.

Needs nothing but the standard library and PyFlink.  A line of input is a list:
``["tables", paths]`` declares streams, ``["seconds", query, columns]`` times a query into a sink
that keeps nothing, and ``["rows", query, columns]`` counts its answer; ``["declare", statements]``
declares other tables, and ``["timed", query]`` times a query on them.  Every line is answered by
one.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

_STREAM = """CREATE TABLE {name} (k BIGINT, v DOUBLE, `at` TIMESTAMP(3),
  WATERMARK FOR `at` AS `at` - INTERVAL '1' SECOND)
WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv')"""
_SINK = "CREATE TABLE sink ({columns}) WITH ({options})"


class Flink:
    """Flink in this process, on two cores."""

    def __init__(self) -> None:
        from pyflink.table import EnvironmentSettings, TableEnvironment

        self.tables_made = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        settings = self.tables_made.get_config()
        settings.set("parallelism.default", "2")
        settings.set("table.exec.resource.default-parallelism", "2")

    def run(self, text: str) -> Any:
        """A statement."""
        return self.tables_made.execute_sql(text)

    def tables(self, paths: dict[str, str]) -> int:
        """Declares streams of files anew."""
        for name, path in paths.items():
            self.run(f"DROP TABLE IF EXISTS {name}")
            self.run(_STREAM.format(name=name, path=path))
        return len(paths)

    def declare(self, statements: list[str]) -> int:
        """Declares tables by their statements."""
        for text in statements:
            self.run(text)
        return len(statements)

    def timed(self, query: str) -> float:
        """How long any query takes into a sink that keeps nothing."""
        from pyflink.table import TableDescriptor

        nothing = TableDescriptor.for_connector("blackhole").build()
        began = time.perf_counter()
        self.tables_made.sql_query(query).execute_insert(nothing).wait()
        return time.perf_counter() - began

    def seconds(self, query: str, columns: str) -> float:
        """How long a query takes into a sink that keeps nothing."""
        return self._insert(query, columns, "'connector' = 'blackhole'")

    def rows(self, query: str, columns: str) -> int:
        """How many rows a query has answered with when its input has ended."""
        with TemporaryDirectory() as directory:
            path = Path(directory) / "sink"
            files = f"'connector' = 'filesystem', 'path' = '{path.as_uri()}', 'format' = 'csv'"
            self._insert(query, columns, files)
            written = (file for file in path.rglob("*") if file.is_file())
            return sum(len(file.read_bytes().splitlines()) for file in written)

    def _insert(self, query: str, columns: str, options: str) -> float:
        self.run("DROP TABLE IF EXISTS sink")
        self.run(_SINK.format(columns=columns, options=options))
        began = time.perf_counter()
        self.run(f"INSERT INTO sink {query}").wait()
        return time.perf_counter() - began


def main() -> None:
    """Answers each line of the standard input by one of the standard output."""
    answers, sys.stdout = sys.stdout, sys.stderr
    flink = Flink()
    verbs: dict[str, Callable[..., Any]] = {
        "tables": flink.tables,
        "seconds": flink.seconds,
        "rows": flink.rows,
        "declare": flink.declare,
        "timed": flink.timed,
    }
    for line in sys.stdin:
        verb, *arguments = json.loads(line)
        print(json.dumps(verbs[verb](*arguments)), file=answers, flush=True)


if __name__ == "__main__":
    main()
