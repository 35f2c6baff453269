"""Flink beside us: its own environment, its own process, told what to run line by line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from ebbtide.bench.cases import BenchCase
from ebbtide.bench.data import ReadingFiles
from ebbtide.bench.peer import Peer, peer_of
from ebbtide.errors import InternalError

_JOB = Path(__file__).with_name("flink_job.py")


class Flink:
    """A process that runs queries on Flink."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer

    def seconds(self, case: BenchCase, streams: tuple[ReadingFiles, ...]) -> float:
        """How long a query takes into a sink that keeps nothing."""
        self._declare(streams)
        return float(self.peer.ask("seconds", case.flink, case.flink_columns))

    def check(self, case: BenchCase, streams: tuple[ReadingFiles, ...]) -> None:
        """Counts the answer of a query, and compares."""
        self._declare(streams)
        found = self.peer.ask("rows", case.flink, case.flink_columns)
        expected = case.flink_rows(*streams)
        if found != expected:
            raise InternalError(
                "wrong-answer", f"Flink answers {case.name} with {found} rows, not {expected}"
            )

    def declare(self, statements: list[str]) -> None:
        """Declares tables."""
        self.peer.ask("declare", statements)

    def timed(self, query: str) -> float:
        """How long a query on them takes into a sink that keeps nothing."""
        return float(self.peer.ask("timed", query))

    def _declare(self, streams: tuple[ReadingFiles, ...]) -> None:
        paths = (rows.apart.resolve().as_uri() for rows in streams)
        self.peer.ask("tables", dict(zip("su", paths, strict=False)))


@contextmanager
def flink_in(python: Path, log: TextIO) -> Iterator[Flink]:
    """Flink in the environment of a Python; what it says otherwise goes to the log."""
    with peer_of([str(python), str(_JOB)], log) as peer:
        yield Flink(peer)
