"""Hostile names and texts wherever SQL takes one: they stay names and texts.

    python -m tests.faults.injection --count 500 --seed 7
    python -m tests.faults.injection --count 10 --seed 7 --spark

makes programs in which every identifier (of a stream, its columns, a source's and a column's alias,
a field, a query, a program, the table of a sink) and every text (a literal, a pattern, a path, what
separates values in files) is put together from pieces that mean something to Spark, to a shell, to
SQLite or to a file system, and runs them.  The answers have to be those of a program with plain
names, nothing may be written outside of the places that were named, and nothing may have been run.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sqlite3
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from ebbtide import Engine
from ebbtide.algebra.identifiers import identifier
from ebbtide.algebra.literal_text import literal_text
from ebbtide.core.types import STRING
from ebbtide.errors import EbbtideError, QueryError
from ebbtide.sinks import Files
from ebbtide.sinks.sqlite import Sqlite

PROPERTY = "ebbtide.injected"
CALL = f"java_method('java.lang.System', 'setProperty', '{PROPERTY}', 'yes')"
PIECES = (
    "a", "B", "`", "``", "'", "''", '"', '""', "\\", "\\'", ";", "--", "/*", "*/", "(", ")", ",",
    " AS ", " FROM ", "${env:HOME}", "${spark.app.name}", "$(touch injected)", "`touch injected`",
    f"` + {CALL} + `", f"', {CALL}, '", f'", {CALL}, "', f"); {CALL} --", "../", "..", "/etc/x",
    "%2e%2e%2f", "~", "*", "?", "[a]", "{b,c}", "\n", "\t", " ", "ä", "\u4fa1", "\U0001f600",
    "\u202e", "file:", "hdfs://x/", "s3a://x", ":", "=", "day=1", "#", "%", "&", "|", ">", "<",
    "null", "x" * 90, "DROP TABLE changes", "'); DROP TABLE changes; --", "<script>", "{{7*7}}",
    "%s", "{0}", "_x", "__",
)  # fmt: skip
IN_A_PATH = (
    "'", '"', "`", ";", "$HOME", "${HOME}", " ", "%41", "&", "a", "B", "ä", "#", "--", ",",
)  # fmt: skip
PLAIN = re.compile(r"[\w.-]+")


def hostile(dice: Random, pieces: tuple[str, ...] = PIECES) -> str:
    """A name of some pieces, which is not empty."""
    return "".join(dice.choice(pieces) for _ in range(dice.randint(1, 4))).strip() or "a"


def literal(text: str) -> str:
    """A text as SQL writes it."""
    return literal_text(text, STRING)


@dataclass
class Figures:
    """What became of programs."""

    seed: int
    ran: int = 0
    refused: dict[str, int] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    def told(self) -> dict[str, Any]:
        """The figures, for JSON."""
        return {
            "seed": self.seed,
            "programs": self.ran + sum(self.refused.values()),
            "ran": self.ran,
            "refused": self.refused,
            "wrong": self.wrong,
        }


class Attempt:
    """One program, all of whose names are hostile."""

    def __init__(self, place: Path, dice: Random, spark: Any = None) -> None:
        self.place, self.spark = place, spark
        self.text, self.pattern = hostile(dice), hostile(dice)
        names = [hostile(dice) for _ in range(7)]
        # Names that are equal but for their case are the same name.
        self.names = [f"{name}{number}" for number, name in enumerate(names)]
        self.files = place / f"files{hostile(dice, IN_A_PATH)}".replace("/", "")
        self.separator = dice.choice(",;|\t#$'&")

    def run(self) -> None:
        """Runs it; an ``AssertionError`` says what came of it."""
        stream, key, text, alias, shown, other, table = self.names
        quoted = {name: identifier(name) for name in self.names}
        engine = Engine(
            self.place / "location",
            transport="spark" if self.spark is not None else "local",
            spark=self.spark,
            shards=1,
        )
        files = ""
        if self.spark is not None:
            self.files.mkdir()
            head = self.separator.join(f'"{n.replace(chr(34), chr(34) * 2)}"' for n in (key, text))
            values = self.separator.join(("7", _csv(self.text)))
            at = "2026-01-01 00:00:00"
            lines = f"{head}{self.separator}at\n{values}{self.separator}{at}\n"
            plain = not any("\n" in part for part in (key, text, self.text))
            if not plain:
                return
            (self.files / "1.csv").write_text(lines, "utf-8")
            files = (
                f" FROM FILES {literal(str(self.files))} FORMAT csv"
                f" OPTIONS (sep {literal(self.separator)})"
            )
        engine.execute(
            f"CREATE STREAM {quoted[stream]} ({quoted[key]} BIGINT, {quoted[text]} STRING,"
            f" at TIMESTAMP, PROGRESS FOR at AS at){files}"
        )
        query = engine.query(
            f"SELECT {quoted[alias]}.{quoted[key]} AS {quoted[shown]}, {literal(self.text)} AS"
            f" {quoted[other]}, COUNT(*) AS n FROM {quoted[stream]} [UNBOUNDED] AS {quoted[alias]}"
            f" WHERE {quoted[text]} = {literal(self.text)}"
            f" AND NOT {quoted[text]} LIKE {literal(_escaped(self.pattern) + 'zzz')}"
            f" GROUP BY {quoted[key]}",
            name=self._named("a query", lambda name: engine.query("SELECT 1 AS n", name)),
        )
        sinks = [Sqlite(str(self.place / "data.db"), table), Files(str(self.place / "out"), "json")]
        program = self._named("a program", lambda name: engine.start(query, name=name))
        if self.spark is not None:
            engine.start(query, name=program, sink=sinks, trigger={"availableNow": True})
            engine._runs[program].await_termination()
        else:
            engine.start(query, name=program, sink=sinks)
            engine.feed(stream, [(7, self.text, "2026-01-01 00:00:00")])
            engine.step()
        found = query.snapshot()
        rows = found.to_pylist() if self.spark is None else [r.asDict() for r in found.collect()]
        assert rows == [{shown: 7, other: self.text, "n": 1}], rows
        engine.stop()
        self._check(table)

    def _named(self, what: str, use: Callable[[str], object]) -> str:
        """A name for a query or a program, once the hostile ones were refused: it is a path."""
        for name in self.names:
            if PLAIN.fullmatch(name) is None:
                with suppress(QueryError):
                    use(name)
                    raise AssertionError(f"{name!r} may name {what}")
        return "plain"

    def _check(self, table: str) -> None:
        """Nothing lies anywhere but where it was told to."""
        places = {path.name for path in self.place.iterdir()}
        allowed = {"location", "data.db", "out", self.files.name}
        assert places <= allowed, places
        with closing(sqlite3.connect(self.place / "data.db")) as database:
            names = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            assert names.fetchall() == [(table,)]
            assert database.execute(f"SELECT COUNT(*) FROM {_double(table)}").fetchone() == (1,)
        if self.spark is not None:
            system = self.spark.sparkContext._jvm.java.lang.System
            assert system.getProperty(PROPERTY) is None


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _double(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _csv(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '""') + '"'


def run(count: int, seed: int, directory: Path, spark: Any = None) -> Figures:
    """Makes programs, each from its own seed."""
    figures = Figures(seed)
    for number in range(count):
        place = directory / str(number)
        place.mkdir()
        attempt = Attempt(place, Random(f"{seed}/{number}"), spark)
        before = set(os.listdir("."))
        try:
            attempt.run()
            figures.ran += 1
            assert set(os.listdir(".")) <= before
        except EbbtideError as error:
            figures.refused[error.code] = figures.refused.get(error.code, 0) + 1
        except Exception as error:
            figures.wrong.append(f"{number} {attempt.names!r} {attempt.text!r}: {error!r}")
    return figures


def main() -> int:
    """Makes programs and prints what became of them."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.injection")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--spark", action="store_true")
    chosen = parser.parse_args()
    spark = None
    if chosen.spark:
        from ebbtide.spark.session import start_spark

        spark = start_spark(2, {"spark.log.level": "OFF"})
    with tempfile.TemporaryDirectory() as directory:
        figures = run(chosen.count, chosen.seed, Path(directory), spark)
    json.dump(figures.told(), sys.stdout, indent=1, ensure_ascii=True)
    sys.stdout.write("\n")
    return 1 if figures.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
