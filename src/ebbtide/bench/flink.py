"""Flink beside us: its own environment, its own process, told what to run line by line."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from ebbtide.bench.cases import BenchCase
from ebbtide.bench.data import ReadingFiles
from ebbtide.errors import InternalError

_JOB = Path(__file__).with_name("flink_job.py")


class Flink:
    """A process that runs queries on Flink."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def seconds(self, case: BenchCase, streams: tuple[ReadingFiles, ...]) -> float:
        """How long a query takes into a sink that keeps nothing."""
        self._declare(streams)
        return float(self._ask("seconds", case.flink, case.flink_columns))

    def check(self, case: BenchCase, streams: tuple[ReadingFiles, ...]) -> None:
        """Counts the answer of a query, and compares."""
        self._declare(streams)
        found = self._ask("rows", case.flink, case.flink_columns)
        expected = case.flink_rows(*streams)
        if found != expected:
            raise InternalError(
                "wrong-answer", f"Flink answers {case.name} with {found} rows, not {expected}"
            )

    def declare(self, statements: list[str]) -> None:
        """Declares tables."""
        self._ask("declare", statements)

    def timed(self, query: str) -> float:
        """How long a query on them takes into a sink that keeps nothing."""
        return float(self._ask("timed", query))

    def _declare(self, streams: tuple[ReadingFiles, ...]) -> None:
        paths = (rows.apart.resolve().as_uri() for rows in streams)
        self._ask("tables", dict(zip("su", paths, strict=False)))

    def _ask(self, *request: Any) -> Any:
        told, heard = self.process.stdin, self.process.stdout
        assert told is not None
        assert heard is not None
        told.write(json.dumps(request) + "\n")
        told.flush()
        answer = heard.readline()
        if not answer:
            raise InternalError("flink-ended", f"Flink has ended at {request[0]}")
        return json.loads(answer)


@contextmanager
def flink_in(python: Path, log: TextIO) -> Iterator[Flink]:
    """Flink in the environment of a Python; what it says otherwise goes to the log."""
    command = [str(python), str(_JOB)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=log, text=True) as process:
        try:
            yield Flink(process)
        finally:
            if process.stdin is not None:
                process.stdin.close()
            process.wait(timeout=60)
