"""Bad rows in files: every row that is offered is accepted, pending or unused, and counted once.

    python -m tests.faults.bad_rows --count 1000000 --seed 7

writes files of CSV, JSON and Parquet with rows of many kinds, most of them bad, reads them as the
tasks of a step do, and takes them in steps of a program in this process.  An empty line is no row,
and a file that cannot be read is one.  It prints a JSON object: what was offered, and what became
of it; the answers, and not the counts of the engine, say what was accepted.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ebbtide.compile.arrival import arrival_schema
from ebbtide.compile.lowering import Lowered, lower
from ebbtide.core.time import format_instant, instant
from ebbtide.dataflow.plan import Dataflow
from ebbtide.dataflow.record import Given
from ebbtide.dataflow.step import Stepper
from ebbtide.engine.engine import Engine
from ebbtide.files import HowToRead
from ebbtide.local.host import arrived_table
from ebbtide.local.transport import LocalTransport
from ebbtide.spark.files_in_tasks import FilesOfTask
from ebbtide.state.batch import DIFF
from ebbtide.store.archive import Archive
from ebbtide.store.manifest import Manifest
from ebbtide.store.readers import View, unused_parts

SECOND = 1_000_000
START = instant("2026-03-01 00:00:00")
COLUMNS = ("id", "item", "price", "x", "good", "day", "at")
PLAIN = (
    "id BIGINT, item STRING, price DECIMAL(6, 2), x DOUBLE, good BOOLEAN, day DATE, at TIMESTAMP"
)
TAIL = "PROGRESS FOR at AS at - INTERVAL 1 HOUR) LATE QUARANTINE NOT BEYOND 1 DAY;"
SCRIPT = f"""
CREATE STREAM csv ({PLAIN}, {TAIL}
CREATE STREAM json ({PLAIN}, {TAIL}
CREATE STREAM parquet ({PLAIN}, {TAIL}
CREATE STREAM keyed (id BIGINT, word STRING, at TIMESTAMP, PRIMARY KEY (id), {TAIL[:-1]} OP word;
"""
FORMATS = {"csv": "csv", "json": "json", "parquet": "parquet", "keyed": "json"}
ROWS = 5_000
"""The rows of a file."""


@dataclass
class Kind:
    """A kind of rows: what is put in the place of a good value, and whether it is good as well."""

    name: str
    changes: dict[str, Any] = field(default_factory=dict)
    good: bool = False
    line: Callable[[str], bytes] | None = None


def _text(made: Callable[[str], str]) -> Callable[[str], bytes]:
    return lambda line: made(line).encode()


ANY = (
    Kind("good", good=True),
    Kind("letters in a number", {"id": "12a"}),
    Kind("a number beyond 64 bits", {"id": "9223372036854775808"}),
    Kind("a fraction in a whole number", {"id": "1.5"}),
    Kind("a hexadecimal number", {"id": "0x1F"}),
    Kind("a digit too many behind the point", {"price": "1.005"}),
    Kind("a decimal that is too large", {"price": "123456.00"}),
    Kind("a decimal in letters", {"price": "free"}),
    Kind("a double beyond all", {"x": "1e400"}),
    Kind("a double with a comma", {"x": "1;5"}),
    Kind("a truth value that is none", {"good": "maybe"}),
    Kind("a day that is not in the calendar", {"day": "2026-02-30"}),
    Kind("a day in words", {"day": "tomorrow"}),
    Kind("a time in words", {"at": "soon"}),
    Kind("a time without a day", {"at": "12:00:00"}),
    Kind("the year 0", {"at": "0000-01-01 00:00:00"}),
    Kind("the year 10000", {"at": "10000-01-01 00:00:00"}),
    Kind("the year 57971", {"at": "+57971-01-01 00:00:00"}),
    Kind("no time", {"at": None}),
    Kind("a time that is long ago", {"at": "2020-01-01 00:00:00"}),
    Kind("a time of the far future", {"at": "9999-12-31 23:59:59"}),
    Kind("a month 13", {"at": "2026-13-01 00:00:00"}),
    Kind("a second 61", {"at": "2026-03-01 00:00:61"}),
    Kind("text of other alphabets", {"item": "größe 価格 \U0001f600"}, good=True),
    Kind("no text", {"item": None}, good=True),
)
"""What all formats have."""

LINES = {
    "csv": (
        Kind("too few values", line=_text(lambda line: line.rpartition(",")[0])),
        Kind("too many values", line=_text(lambda line: f"{line},more")),
        Kind("a quote that is left open", line=_text(lambda line: f'{line[:-3]},"x')),
        Kind("bytes that are not UTF-8", line=lambda line: line.encode() + b",\xff\xfe"),
        Kind("only a separator", line=lambda line: b","),
        Kind("a zero byte", line=lambda line: b"\x00" + line.encode()),
        Kind("a quoted separator", {"item": "a,b"}, good=True),
    ),
    "json": (
        Kind("an object that is cut off", line=_text(lambda line: line[: len(line) // 2])),
        Kind("two objects on a line", line=_text(lambda line: f"{line} {line}")),
        Kind("an array", line=_text(lambda line: f"[{line}]")),
        Kind("a number alone", line=lambda line: b"17"),
        Kind("bytes that are not UTF-8", line=lambda line: line.encode()[:-1] + b"\xff}"),
        Kind("an object in the place of a number", {"id": {"a": 1}}),
        Kind("a time in milliseconds", {"at": 1767268800000}),
        Kind("a key twice", line=_text(lambda line: f'{line[:-1]}, "id": "x"}}')),
        Kind("a column more", line=_text(lambda line: f'{line[:-1]}, "more": 1}}'), good=True),
    ),
}


def line_of(format_: str, values: dict[str, Any]) -> str:
    """A row as text, without the end of its line."""
    if format_ == "json":
        numbers = {name: _number(name, value) for name, value in values.items()}
        return json.dumps(numbers, ensure_ascii=False)
    return ",".join(_quoted(values[name]) for name in COLUMNS)


def _number(name: str, value: Any) -> Any:
    """Numbers and truth values are written as such, unless they are bad."""
    if name in ("id", "x", "good") and isinstance(value, str):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _quoted(value: Any) -> str:
    text = "" if value is None else str(value)
    return f'"{text}"' if "," in text else text


@dataclass
class Offered:
    """What files have offered to a source: rows, those that are good, and the sum of their ids."""

    rows: int = 0
    good: int = 0
    ids: int = 0
    pending: Counter[int] = field(default_factory=Counter)
    """How many negatives name nothing, by the steps that they come in."""
    kinds: Counter[str] = field(default_factory=Counter)


class Writer:
    """Writes files of rows."""

    def __init__(self, directory: Path, seed: int) -> None:
        self.directory, self.seed = directory, seed
        self.next_id = 1
        self.offered = {source: Offered() for source in FORMATS}

    def file(self, source: str, step: int) -> Path:
        """A file of a source; now and then one that cannot be read."""
        dice = Random(f"{self.seed}/{source}/{step}")
        path = self.directory / f"{source}-{step}.{FORMATS[source]}"
        if dice.random() < 0.2 and step:
            return self.unreadable(source, path, dice)
        if source == "parquet":
            return self.parquet(path, dice, step)
        if source == "keyed":
            return self.keyed(path, dice, step)
        return self.lines(source, path, dice, step)

    def lines(self, source: str, path: Path, dice: Random, step: int) -> Path:
        """Lines of CSV or JSON, with empty ones between them."""
        kinds = (*ANY, *LINES[source])
        with open(path, "wb") as file:
            if source == "csv":
                file.write(",".join(COLUMNS).encode() + b"\n")
            for _ in range(ROWS):
                kind = dice.choice(kinds)
                plain = line_of(FORMATS[source], self.values(source, kind, step))
                file.write(plain.encode() if kind.line is None else kind.line(plain))
                file.write(dice.choice((b"\n", b"\n", b"\r\n", b"\n\n")))
        return path

    def parquet(self, path: Path, dice: Random, step: int) -> Path:
        """A file of Parquet, whose columns are texts so that they can be bad."""
        rows = [self.values("parquet", dice.choice(ANY), step) for _ in range(ROWS)]
        columns = {
            name: pa.array([None if r[name] is None else str(r[name]) for r in rows], pa.string())
            for name in COLUMNS
        }
        pq.write_table(pa.table(columns), path, row_group_size=dice.choice((100, ROWS)))
        return path

    def keyed(self, path: Path, dice: Random, step: int) -> Path:
        """Operations by key: some name facts that are there, some what never was."""
        offered, lines = self.offered["keyed"], []
        at = format_instant(START + step * 60 * SECOND).removesuffix("Z")
        for _ in range(ROWS // 10):
            self.next_id += 1
            key = self.next_id
            row = {"id": key, "word": "insert", "at": at}
            rows = dice.choice(
                (
                    ("an insert", [row], 1, 1, 0),
                    ("an insert and its delete", [row, {**row, "word": "delete"}], 2, 0, 0),
                    ("an insert twice", [row, row], 1, 1, 0),
                    ("a delete of nothing", [{**row, "word": "delete"}], 0, 0, 1),
                    ("a word that means nothing", [{**row, "word": "forget"}], 0, 0, 0),
                    ("no key", [{**row, "id": None}], 0, 0, 0),
                )
            )
            name, made, good, left, pending = rows
            lines += [json.dumps(values) for values in made]
            offered.rows += len(made)
            offered.good += good
            offered.ids += key * left
            offered.pending[step] += pending
            offered.kinds[name] += 1
        path.write_text("\n".join(lines), "utf-8")
        return path

    def unreadable(self, source: str, path: Path, dice: Random) -> Path:
        """A file that is one bad row."""
        offered = self.offered[source]
        offered.rows += 1
        offered.kinds["a file that cannot be read"] += 1
        if source == "parquet":
            path.write_bytes(dice.choice((b"", b"PAR1", b"id,item\n1,2\n", b"PAR1" * 50)))
            return path
        if source == "csv" and dice.random() < 0.5:
            path.write_bytes(dice.choice((b"id,item\n1,a\n", b"id,id,at\n1,2,3\n", b"\xff\xfe\n")))
            return path
        packed = path.with_name(f"{path.name}.gz")
        whole = gzip.compress(b"id,item,price,x,good,day,at\n" * 50)
        packed.write_bytes(dice.choice((whole[:-9], b"no gzip at all")))
        return packed

    def values(self, source: str, kind: Kind, step: int) -> dict[str, Any]:
        """The values of a row of a kind, which is counted."""
        self.next_id += 1
        at = START + step * 60 * SECOND
        good = {
            "id": str(self.next_id),
            "item": "a",
            "price": "1.25",
            "x": "0.5",
            "good": "true",
            "day": "2026-03-01",
            "at": format_instant(at).removesuffix("Z"),
        }
        offered = self.offered[source]
        offered.rows += 1
        offered.kinds[kind.name] += 1
        if kind.good:
            offered.good += 1
            offered.ids += self.next_id
        return {**good, **kind.changes}


class Program:
    """Counts what comes, in steps that read files."""

    def __init__(self, root: str) -> None:
        engine = Engine(f"{root}/engine", transport="local")
        engine.execute(SCRIPT)
        queries = [
            engine.query(
                f"SELECT COUNT(*) AS n, SUM(id) AS ids FROM {source} [UNBOUNDED]", f"of_{source}"
            )
            for source in FORMATS
        ]
        self.root = f"{root}/program"
        self.lowered: Lowered = lower({query.name: query.analysis for query in queries})
        self.sources = {d.name: number for number, d in enumerate(self.lowered.declarations)}
        self.version = 0

    def step(self, files: dict[str, Path], advance: int | None = None) -> Manifest:
        """Reads files of sources, in one step."""
        flow = Dataflow(self.lowered, 2)
        reader = FilesOfTask(self.lowered.declarations)
        arrived = {}
        for name, number in self.sources.items():
            schema = arrival_schema(self.lowered.declarations[number])
            tables = [arrived_table(schema, ())]
            if name in files:
                how = HowToRead(FORMATS[name], "UTC").text
                path = f"file:{files[name]}"
                tables += reader.rows(number, path, how, self.version << 32)
            arrived[number] = pa.concat_tables(table.cast(tables[0].schema) for table in tables)
        advances = {} if advance is None else dict.fromkeys(self.sources.values(), advance)
        clock = START + self.version * 60 * SECOND
        stepper = Stepper(flow, LocalTransport(flow), self.root)
        manifest = stepper.step(self.version, arrived, Given(advances, clock))
        self.version += 1
        return manifest

    def accepted(self, source: str) -> tuple[int, int]:
        """How many rows the answer has counted, and the sum of their ids."""
        (output,) = (o for o in self.lowered.physical.outputs if o.name == f"of_{source}")
        view = View(self.root, output.name, output.schema, output.marked)
        ((count, ids),) = view.snapshot()
        return count, ids or 0

    def unused(self) -> Counter[tuple[str, str]]:
        """How many rows are unused, by source and reason."""
        found: Counter[tuple[str, str]] = Counter()
        for part in unused_parts(self.root):
            table = Archive(self.root).table(part.file).select(["source", "reason", DIFF])
            for row in table.group_by(["source", "reason"]).aggregate([(DIFF, "sum")]).to_pylist():
                found[row["source"], row["reason"]] += row[f"{DIFF}_sum"]
        return found


def balance(program: Program, writer: Writer, first: int) -> Iterator[str]:
    """What does not add up; negatives that came before the ``first`` step are no more pending."""
    unused = program.unused()
    for source, offered in writer.offered.items():
        count, ids = program.accepted(source)
        left = sum(n for (name, _), n in unused.items() if name == source)
        # Of keyed operations, a delete is accepted as well, and takes away what it names.
        gone = 2 * offered.kinds["an insert and its delete"]
        accepted = count + gone
        pending = sum(number for step, number in offered.pending.items() if step >= first)
        if accepted + pending + left != offered.rows:
            yield f"{source}: {accepted} + {pending} + {left} is not {offered.rows}"
        if (accepted, ids) != (offered.good, offered.ids):
            yield f"{source}: {accepted} rows of {ids}, not {offered.good} of {offered.ids}"


def run(count: int, seed: int, directory: str) -> dict[str, Any]:
    """Offers so many rows, and says what became of them."""
    writer, program = Writer(Path(directory), seed), Program(directory)
    wrong: list[str] = []
    step = 0
    while sum(offered.rows for offered in writer.offered.values()) < count:
        files = {source: writer.file(source, step) for source in FORMATS}
        if step == 0:
            # The first rows show how far time has come, so that late rows are late.
            first = _first(Path(directory), writer)
            program.step(first)
        program.step(files)
        step += 1
        for file in files.values():
            file.unlink()
    # A step is a minute, and the horizon is an hour behind the last.
    kept = max(0, max(writer.offered["keyed"].pending, default=0) - 60)
    wrong += balance(program, writer, kept)
    pending = sum(n for at, n in writer.offered["keyed"].pending.items() if at >= kept)
    far = START + 30 * 86400 * SECOND
    program.step({}, advance=far)
    program.step({}, advance=far + SECOND)
    wrong += [f"once time has passed: {what}" for what in balance(program, writer, step)]
    kinds: Counter[str] = Counter()
    for offered in writer.offered.values():
        kinds += offered.kinds
    unused = program.unused()
    return {
        "seed": seed,
        "offered": sum(offered.rows for offered in writer.offered.values()),
        "accepted": sum(offered.good for offered in writer.offered.values()),
        "pending": pending,
        "unused": unused.total(),
        "reasons": {reason: _of(unused, reason) for reason in sorted({r for _, r in unused})},
        "kinds": len(kinds),
        "wrong": wrong,
    }


def _of(unused: Counter[tuple[str, str]], reason: str) -> int:
    return sum(count for (_, why), count in unused.items() if why == reason)


def _first(directory: Path, writer: Writer) -> dict[str, Path]:
    """A good row for each source."""
    files = {}
    for source in FORMATS:
        path = directory / f"first.{source}"
        if source == "keyed":
            writer.next_id += 1
            row = {"id": writer.next_id, "word": "insert"}
            path.write_text(json.dumps({**row, "at": format_instant(START)}), "utf-8")
            offered = writer.offered[source]
            offered.rows, offered.good = offered.rows + 1, offered.good + 1
            offered.ids += writer.next_id
        else:
            values = writer.values(source, ANY[0], 0)
            if source == "parquet":
                pq.write_table(pa.table({name: [values[name]] for name in COLUMNS}), path)
            else:
                head = ",".join(COLUMNS) + "\n" if source == "csv" else ""
                path.write_text(head + line_of(FORMATS[source], values), "utf-8")
        files[source] = path
    return files


def main() -> int:
    """Offers rows and prints what became of them."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.bad_rows")
    parser.add_argument("--count", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        told = run(chosen.count, chosen.seed, directory)
    json.dump(told, sys.stdout, indent=1)
    sys.stdout.write("\n")
    return 1 if told["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
