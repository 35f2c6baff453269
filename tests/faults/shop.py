"""A program that faults happen to: its views, what is fed to it, and what it has said.

What is fed depends on the number of the step alone.  Whoever goes on after a fault asks the logs
what they have, feeds the rest and takes the step, so its steps are those of an undisturbed run.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from typing import Any

from ebbtide import Engine
from ebbtide.core.time import instant
from ebbtide.engine.location import Location
from ebbtide.engine.query import Query
from ebbtide.engine.verification import verify
from ebbtide.sinks import Files
from ebbtide.sinks.memory import Memory
from ebbtide.state import files
from ebbtide.state.store import forget_all
from ebbtide.store import archive
from ebbtide.store.history import History
from ebbtide.store.journal import Journal
from ebbtide.store.program import root_of_program
from ebbtide.store.readers import unused

SECOND = 1_000_000
START = instant("2026-03-01 00:00:00")
NAME = "shop"
STEPS = 5
SCRIPT = """
CREATE STREAM orders (id BIGINT, item STRING, price DECIMAL(10, 2), at TIMESTAMP,
  PRIMARY KEY (id), PROGRESS FOR at AS at - INTERVAL 5 SECONDS) RETAIN 1 MINUTE
  NOT BEYOND 1 HOUR;
CREATE STREAM clicks (item STRING, at TIMESTAMP, PROGRESS FOR at AS at);
CREATE TABLE stock (item STRING, place STRING, at TIMESTAMP, PRIMARY KEY (item),
  PROGRESS FOR at AS at - INTERVAL 20 SECONDS) TIME at RETAIN 20 SECONDS;
"""
VIEWS = {
    "sums": "SELECT item, SUM(price) AS total, COUNT(*) AS n FROM orders [RANGE 1 MINUTE] "
    "GROUP BY item",
    "seen": "SELECT item, at FROM clicks [RANGE 30 SECONDS]",
    "places": "SELECT o.id, s.place FROM orders [RANGE 20 SECONDS] o "
    "LEFT JOIN stock s ON s.item = o.item",
}
SOURCES = ("orders", "clicks", "stock")

Row = tuple[Any, ...]


def additions(step: int) -> list[tuple[str, list[Row]]]:
    """What is fed before a step: rows in time, too late, malformed, of the future."""
    second = 10 * step
    at = START + second * SECOND
    orders: list[Row] = [(10 * step + i, "abc"[i % 3], Decimal(f"{i}.25"), at) for i in range(4)]
    others: list[Row] = [(10 * step + i, "abc"[(step + i) % 3], i, at) for i in range(4, 8)]
    odd: list[Row] = [("no number", "a", 1, at), (-step, "b", 7, START + 4 * 3600 * SECOND)]
    return [
        ("orders", orders),
        ("stock", [("abc"[step % 3], f"shelf {step}", at)]),
        ("orders", [*others, *odd, (1000 + step, "c", 1, at - 30 * SECOND)]),
        ("clicks", [("abc"[step % 3], at), ("b", START)]),
    ]


@cache
def declared() -> Engine:
    """An engine that never runs: what is declared and proved is the same in all trials."""
    engine = Engine("nowhere", transport="local", shards=2)
    engine.execute(SCRIPT)
    for name, sql in VIEWS.items():
        engine.query(sql, name=name)
    return engine


@dataclass
class Clock:
    """Readings by step: those that were fixed, or else those of a clock that may jump."""

    fixed: Mapping[int, int] = field(default_factory=dict)
    jump: int = 0
    read: dict[int, int] = field(default_factory=dict)
    root: str = ""

    def __call__(self) -> int:
        latest = Journal(self.root).latest()
        step = 0 if latest is None else latest.version + 1
        usual = START + 10 * step * SECOND + self.jump
        reading = self.fixed.get(step, usual)
        # Once the step has a reading, whoever asks again wants to know when it is taken.
        if not os.path.exists(f"{self.root}/clock/{step:012d}"):
            self.read[step] = reading
        return reading


@dataclass
class Shop:
    """A process that runs the program below a place; what its sinks have outlives it."""

    place: str
    outside: Memory = field(default_factory=Memory)
    clock: Clock = field(default_factory=Clock)
    keep: str | None = None
    ends: dict[tuple[int, int], int] = field(default_factory=dict)
    taken: int = -1
    """The last step that came back as done."""
    fed: dict[str, int] = field(default_factory=dict)
    """The ends of the logs when rows were last fed."""

    def __post_init__(self) -> None:
        self.location = f"{self.place}/location"
        self.root = root_of_program(self.location, NAME)
        self.clock.root = self.root
        self.engine = Engine(self.location, transport="local", shards=2, clock=self.clock)
        self.engine.definitions = declared().definitions
        self.queries: list[Query] = []
        for name in VIEWS:
            query = copy.copy(self.engine.definitions.query(name))
            query.engine = self.engine
            self.queries.append(query)

    def start(self) -> None:
        """Starts the program, or goes on with it."""
        sinks = {"sums": self.outside, "places": Files(f"{self.place}/files", "json")}
        self.engine.start(*self.queries, name=NAME, sink=sinks, keep_changes=self.keep)

    def go_on(
        self, known: Mapping[tuple[int, int], int] | None = None, before: int = STEPS
    ) -> None:
        """Takes the steps that are left; ``known`` says where each addition ends in its log."""
        latest = Journal(self.root).latest()
        for step in range(0 if latest is None else latest.version + 1, before):
            for number, (source, rows) in enumerate(additions(step)):
                log = self.engine.log_of(self.engine.definitions.source(source).declaration)
                if known is None or log.end < known[step, number]:
                    self.engine.feed(source, rows)
                self.fed[source] = max(log.end, self.fed.get(source, 0))
                if known is None:
                    self.ends[step, number] = log.end
            self.engine.step()
            self.taken = step

    def end(self) -> None:
        """Ends the process: locks are released, and nothing that it knew of files is left."""
        for run in self.engine._runs.values():
            run.claim.release()
        forget_process()


def forget_process() -> None:
    """What a new process does not know."""
    forget_all()
    files._SYNCED.clear()
    archive._VERIFIED.clear()


def answers(location: str) -> dict[str, Any]:
    """What readers without a run see: answers now and earlier, changes, rows that are not used."""
    said: dict[str, Any] = {}
    for query in Location(location).queries():
        said[query.name] = {
            "now": query.view.snapshot(),
            "changes": [(step, str(change)) for step, change in query.view.changes()],
            "floor": History.read(query.root).view(query.name).floor,
        }
        root = query.root
    said["unused"] = {name: [str(found) for found in unused(root, name)] for name in SOURCES}
    latest = Journal(root).latest()
    assert latest is not None
    said["state"] = latest.areas
    said["frontiers"] = latest.frontiers
    return said


def agree(one: Any, other: Any) -> bool:
    """Whether two runs have said the same of a view, as far as both of them still keep it."""
    if not isinstance(one, dict) or "floor" not in one:
        return bool(one == other)
    floor = max(one["floor"], other["floor"])
    kept = [[told for told in said["changes"] if told[0] > floor] for said in (one, other)]
    return one["now"] == other["now"] and kept[0] == kept[1]


def delivered(shop: Shop) -> dict[str, Any]:
    """What the sinks have, by step."""
    found = {}
    for step in range(STEPS):
        with open(f"{shop.place}/files/step={step}/part-0.json", encoding="utf-8") as file:
            found[step] = sorted(file)
    return {"outside": shop.outside.steps, "files": found}


def whole(location: str) -> list[str]:
    """What is not whole in a location."""
    return [str(error) for part in verify(location) for error in part.wrong]
