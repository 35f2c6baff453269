"""Damage to any file of a location: the right answer or an error with a code, and nothing else.

A program runs in this process, and its location is kept as a model.  A trial copies it, damages one
file (bits, bytes, a cut, a copy, the file itself), and then either reads all that can be read, or
goes on with further steps and reads what they have said.  What comes out is compared with the same
done to an undamaged copy.

    python -m tests.faults.byte_fuzz --count 20000 --seed 7

prints a JSON object: trials by what became of them, what went wrong, and the memory that it took.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import resource
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pyarrow.parquet as pq
from tests.interruption import until_ended

from ebbtide import Engine
from ebbtide.core.time import instant
from ebbtide.engine.location import Location
from ebbtide.engine.state_report import holdings
from ebbtide.errors import EbbtideError
from ebbtide.sinks.memory import Memory
from ebbtide.state.store import forget_all
from ebbtide.store import answer_files, compaction
from ebbtide.store.readers import View, unused

SCRIPT = """
CREATE STREAM orders (id BIGINT, item STRING, price DECIMAL(10, 2), at TIMESTAMP,
  PRIMARY KEY (id), PROGRESS FOR at AS at - INTERVAL 5 SECONDS) RETAIN 1 MINUTE;
CREATE STREAM clicks (item STRING, at TIMESTAMP, PROGRESS FOR at AS at);
"""
VIEWS = {
    "sums": "SELECT item, SUM(price) AS total, COUNT(*) AS n FROM orders [RANGE 1 MINUTE] "
    "GROUP BY item",
    "seen": "SELECT item, at FROM clicks [RANGE 30 SECONDS]",
}
EARLIER = "2026-03-01 00:00:15"
STEPS = 4
MEMORY = 4 << 30
"""What a trial may ask for, so that a mistake is told rather than felt by the machine."""

Answers = dict[str, Any]


def feed(engine: Engine, step: int) -> None:
    """Rows of a step: some in time, some too late, one that is malformed."""
    second = 10 * step
    stamp = f"2026-03-01 00:{second // 60:02d}:{second % 60:02d}"
    engine.feed("orders", [(10 * step + i, "abc"[i % 3], f"{i}.25", stamp) for i in range(4)])
    rows = [(10 * step + i, "abc"[(step + i) % 3], i, stamp) for i in range(4, 8)]
    engine.feed("orders", [*rows, ("no number", "a", 1, stamp)])
    engine.feed("clicks", [("abc"[step % 3], stamp), ("b", "2026-03-01 00:00:00")])


@cache
def declared() -> Engine:
    """An engine that never runs: what is declared and proved is the same in all trials."""
    engine = Engine("nowhere", transport="local", shards=1)
    engine.execute(SCRIPT)
    for name, sql in VIEWS.items():
        engine.query(sql, name=name)
    return engine


@dataclass
class Session:
    """An engine on a location, and what its sinks get."""

    location: str
    engine: Engine = field(init=False)
    memory: Memory = field(default_factory=Memory)

    def __post_init__(self) -> None:
        self.engine = Engine(self.location, transport="local", shards=1)
        self.engine.definitions = declared().definitions
        self.queries = [copy.copy(self.engine.definitions.query(name)) for name in VIEWS]
        for query in self.queries:
            query.engine = self.engine

    def start(self) -> None:
        """Starts the program, or goes on with it."""
        self.engine.start(*self.queries, name="shop", sink={"sums": self.memory}, live=True)

    def delivered(self) -> dict[int, str]:
        """What the sink has got, by step."""
        return {step: str(rows) for step, rows in self.memory.steps.items()}

    def step(self, number: int) -> None:
        """Feeds rows and takes them."""
        feed(self.engine, number)
        self.engine.step()


def made(location: str) -> dict[int, str]:
    """A location with some steps, and rows that no step has taken yet; what a sink got."""
    session = Session(location)
    session.start()
    for number in range(STEPS):
        session.step(number)
    feed(session.engine, STEPS)
    for query in session.queries:
        query.files()
    session.engine.stop()
    return session.delivered()


def readings(location: str) -> dict[str, Callable[[], Any]]:
    """What can be read of a location without a run."""
    queries = cache(lambda: Location(location).queries())

    def of(read: Callable[[Any], Any]) -> Callable[[], Any]:
        return lambda: {query.name: read(query) for query in queries()}

    return {
        "snapshot": of(lambda q: q.view.snapshot()),
        "snapshot of a step": of(lambda q: q.view.snapshot(instant(EARLIER), step=1)),
        "files": of(lambda q: _in_files(q.view)),
        "changes": of(lambda q: [str(change) for change in q.view.changes()]),
        "late": of(lambda q: [_unused(q.root, s) for s in ("orders", "clicks")]),
        "state": of(lambda q: [(h.operator, h.area, h.rows, h.keeps) for h in holdings(q)]),
    }


def going_on(location: str) -> dict[str, Callable[[], Any]]:
    """What is said when the program goes on, in the order in which it is asked."""
    session = Session(location)

    def late() -> Any:
        return [sorted(map(str, session.engine.late(s).to_pylist())) for s in ("orders", "clicks")]

    def said() -> Any:
        return [
            (query.snapshot().to_pylist(), sorted(map(str, query.changes().to_pylist())))
            for query in session.queries
        ]

    return {
        "start": session.start,
        "first step": lambda: session.engine.step() and None,
        "second step": lambda: session.step(STEPS + 1),
        "late after": late,
        "said after": said,
        "delivered": session.delivered,
        "stop": session.engine.stop,
    }


def _in_files(view: View) -> list[str]:
    return sorted(map(str, pq.read_table(answer_files.files(view)).to_pylist()))


def _unused(root: str, source: str) -> list[str]:
    return [str(found) for found in unused(root, source)]


# --- damage ---------------------------------------------------------------------------------


def flip(content: bytearray, random: Random) -> bytes:
    """One bit the other way."""
    content[random.randrange(len(content))] ^= 1 << random.randrange(8)
    return bytes(content)


def other_byte(content: bytearray, random: Random) -> bytes:
    """Another digit, letter or byte in the place of one."""
    content[random.randrange(len(content))] = random.choice(b'0123456789az",:{}[]\n \x00\xff')
    return bytes(content)


def cut(content: bytearray, random: Random) -> bytes:
    """The end is gone."""
    return bytes(content[: random.randrange(len(content))])


def cut_at_a_line(content: bytearray, random: Random) -> bytes:
    """The last lines are gone."""
    lines = bytes(content).splitlines(keepends=True)
    return b"".join(lines[: random.randrange(len(lines))])


def emptied(content: bytearray, random: Random) -> bytes:
    """Nothing is left."""
    return b""


def taken_out(content: bytearray, random: Random) -> bytes:
    """A part in the middle is gone."""
    start, end = sorted(random.randrange(len(content) + 1) for _ in range(2))
    return bytes(content[:start] + content[end:])


def doubled(content: bytearray, random: Random) -> bytes:
    """A part is there twice."""
    start, end = sorted(random.randrange(len(content) + 1) for _ in range(2))
    return bytes(content[:end] + content[start:])


def line_doubled(content: bytearray, random: Random) -> bytes:
    """A line is there twice."""
    lines = bytes(content).splitlines(keepends=True)
    place = random.randrange(len(lines))
    return b"".join([*lines[: place + 1], *lines[place:]])


def zeroed(content: bytearray, random: Random) -> bytes:
    """A block of zeros, as a file system leaves it after a power cut."""
    start = random.randrange(len(content))
    end = min(len(content), start + random.choice((1, 16, 512, 4096)))
    return bytes(content[:start]) + bytes(end - start) + bytes(content[end:])


CHANGES = (
    flip,
    other_byte,
    cut,
    cut_at_a_line,
    emptied,
    taken_out,
    doubled,
    line_doubled,
    zeroed,
)


def damage(location: Path, random: Random) -> str:
    """Damages one file, of any kind alike, and says how."""
    files = sorted(path for path in location.rglob("*") if path.is_file())
    kinds: dict[str, list[Path]] = {}
    for path in files:
        kinds.setdefault(kind_of(path.relative_to(location)), []).append(path)
    path = random.choice(kinds[random.choice(sorted(kinds))])
    name = path.relative_to(location)
    content = path.read_bytes()
    what = random.choice((*(change.__name__ for change in CHANGES), "deleted", "replaced"))
    if random.random() < 0.02:
        path.unlink()
        path.mkdir()
        return f"{name}: a directory"
    if what == "deleted":
        path.unlink()
        return f"{name}: deleted"
    if what == "replaced":
        other = random.choice(files)
        changed = other.read_bytes()
        what = f"replaced by {other.relative_to(location)}"
    else:
        change = next(change for change in CHANGES if change.__name__ == what)
        changed = change(bytearray(content), random) if content else b"x"
    # A file of its own: what this process has mapped of the old one does not change.
    path.unlink()
    path.write_bytes(changed)
    return f"{name}: {what}{' (no difference)' if changed == content else ''}"


def kind_of(name: Path) -> str:
    """Files of one kind lie beside each other, but for those of the state."""
    if name.name.startswith("manifest-"):
        return "manifest"
    single = name.parent.name == "shop"
    return str(name if single else name.parent)


# --- trials ---------------------------------------------------------------------------------


@dataclass
class Figures:
    """What became of the trials."""

    seed: int
    outcomes: Counter[str] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def told(self) -> dict[str, Any]:
        """The figures, for JSON."""
        return {
            "seed": self.seed,
            "trials": self.outcomes.total(),
            "outcomes": dict(self.outcomes),
            "codes": dict(self.codes.most_common()),
            "wrong": self.wrong,
            "megabytes": peak_kilobytes() // 1024,
        }


def peak_kilobytes() -> int:
    """The most memory that this process has had: what getrusage says counts its parent's, too."""
    with suppress(OSError), open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def asked(questions: dict[str, Callable[[], Any]], in_turn: bool) -> Answers:
    """The answers; one that is refused is its error, after which those in turn are not asked."""
    answers: Answers = {}
    refused = False
    for name, question in questions.items():
        if refused and in_turn and name not in ("delivered", "stop"):
            continue
        try:
            answers[name] = question()
        except EbbtideError as error:
            answers[name], refused = error, True
    return answers


def answers_of(location: str, goes_on: bool) -> Answers:
    """All that a location says as it is, or when the program goes on."""
    forget_all()
    if goes_on:
        return asked(going_on(location), in_turn=True)
    return asked(readings(location), in_turn=False)


def judged(found: Answers, right: Answers) -> tuple[list[str], list[EbbtideError]]:
    """Which answers differ without an error, and the errors."""
    errors = [answer for answer in found.values() if isinstance(answer, EbbtideError)]
    differing = [
        name
        for name, answer in found.items()
        if not isinstance(answer, EbbtideError) and not _agrees(name, answer, right[name], errors)
    ]
    return differing, errors


def _agrees(name: str, answer: Any, right: Any, errors: list[EbbtideError]) -> bool:
    if name == "delivered":
        # A step may come again, and one that was refused does not come.
        wanted = set() if errors else {STEPS, STEPS + 1}
        return wanted <= answer.keys() and answer.items() <= right.items()
    return bool(answer == right)


def copied(model: Path, place: Path) -> None:
    """A copy of a location; only logs are ever written in place, all else may be shared."""
    shutil.copytree(model, place, copy_function=os.link)
    shutil.rmtree(place / "feed")
    shutil.copytree(model / "feed", place / "feed")


def run(count: int, seed: int, directory: str) -> Figures:
    """Makes trials, each from its own seed; the first steps are compacted."""
    compaction.LOOSE = compaction.FAN_IN = 2
    model, place = Path(directory, "model"), Path(directory, "place")
    before = made(str(model))
    copied(model, place)
    right = {**answers_of(str(place), False), **answers_of(str(place), True)}
    right["delivered"] |= before
    assert not any(isinstance(answer, EbbtideError) for answer in right.values()), right
    figures = Figures(seed)
    with until_ended():
        for number in range(count):
            try_once(number, model, place, right, figures)
    return figures


def try_once(number: int, model: Path, place: Path, right: Answers, figures: Figures) -> None:
    """One trial."""
    shutil.rmtree(place)
    copied(model, place)
    random = Random(f"{figures.seed}/{number}")
    how = damage(place, random)
    try:
        found = answers_of(str(place), goes_on=random.random() < 0.5)
    except Exception as error:
        figures.outcomes["uncaught"] += 1
        figures.wrong.append(f"{number} {how}: {error!r}")
        return
    differing, errors = judged(found, right)
    if differing:
        figures.outcomes["silent difference"] += 1
        figures.wrong.append(f"{number} {how}: {', '.join(differing)}")
    elif errors:
        figures.outcomes["error with a code"] += 1
        figures.codes.update({error.code for error in errors})
    else:
        figures.outcomes["right answer"] += 1


def main() -> int:
    """Runs trials and prints what became of them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    with suppress(ValueError):
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    with tempfile.TemporaryDirectory() as directory:
        figures = run(chosen.count, chosen.seed, directory)
    json.dump(figures.told(), sys.stdout, indent=1)
    sys.stdout.write(os.linesep)
    return 1 if figures.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
