"""Strategies for whole runs: what arrives in each step, and how far the inputs have come.

Law: every change is accepted: it lies beyond the horizon of each attribute that progresses, as that
stood before the change's step.  A run without late rows keeps its promises: every change lies
beyond the progress.  A negative comes after its positive.

Sources promise progress here, and all of them have what makes analysis hard:

bids      duplicates, late rows within a retention
clicks    a key, two times of which one may be missing; facts are deleted and replaced
reports   two times that both progress, each on its own line
prices    a changing table, with ends, deletes and replacements
shops     a static table
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from hypothesis import strategies as st

from ebbtide.algebra.relation import ChangingTable, StaticTable, Stream
from ebbtide.core.change import Change
from ebbtide.core.declaration import Promise, StreamDeclaration, TableDeclaration
from ebbtide.core.schema import Column, Schema
from ebbtide.core.time import NEG_INF, Instant, shift
from ebbtide.core.types import BIGINT, TIMESTAMP
from strategies.sources import BIDS, CLICKS, PRICES, SHOPS, Source, inputs

BIDS_LATE = Stream(replace(BIDS.declaration, promises=(Promise("at", 1),), retain_us=2))
CLICKS_KEYED = Stream(replace(CLICKS.declaration, promises=(Promise("at", 1),), retain_us=1))
REPORTS = Stream(
    StreamDeclaration(
        "reports",
        Schema(
            (
                Column("auction", BIGINT),
                Column("at", TIMESTAMP, False),
                Column("received", TIMESTAMP, False),
            )
        ),
        promises=(Promise("at", 2), Promise("received", 1)),
    )
)
PRICES_PROMISED = ChangingTable(
    TableDeclaration(
        "prices",
        PRICES.declaration.schema,
        key=("auction",),
        time="since",
        promises=(Promise("since", 1),),
        retain_us=1,
    )
)

SHORT = 12
"""Times of facts lie in ``[0, SHORT)``."""

PROMISED: tuple[Source, ...] = (BIDS_LATE, CLICKS_KEYED, REPORTS, PRICES_PROMISED, SHOPS)


@dataclass(frozen=True, slots=True)
class Step:
    """What arrives in a step, and the progress and ``now`` at its end."""

    arrived: dict[str, tuple[Change, ...]]
    progress: dict[tuple[str, str], Instant]
    now: Instant


@dataclass
class _Line:
    """One attribute that progresses: how far, and by what."""

    place: int | None
    delay_us: int
    retain_us: int
    progress: Instant = NEG_INF

    def time(self, change: Change) -> Instant:
        """The time of a change on this line; a table's is where the change begins."""
        return change.valid_from if self.place is None else int(change.row[self.place])

    def promise(self, rest: Sequence[Change], late: bool) -> None:
        """Go as far as all that is left allows."""
        first = min(map(self.time, rest), default=NEG_INF)
        if first > NEG_INF:
            self.progress = max(self.progress, first - 1 + (self.retain_us if late else 0))


def runs(
    sources: Sequence[Source] = PROMISED, max_changes: int = 8, late: bool = True, steps: int = 7
) -> st.SearchStrategy[list[Step]]:
    """Runs over some sources; without ``late`` all rows keep the promises."""

    @st.composite
    def whole(draw: st.DrawFn) -> list[Step]:
        data = draw(inputs(sources, max_changes))
        queue = [
            (source, _within(source, change))
            for source in sources
            for change in data[source.declaration.name]
            if not isinstance(source, StaticTable)
        ]
        lags = draw(st.lists(st.integers(0, 4), min_size=len(queue), max_size=len(queue)))
        order = sorted(range(len(queue)), key=lambda i: (_time(*queue[i]) + lags[i], i))
        cuts = draw(st.lists(st.integers(0, len(queue)), min_size=1, max_size=steps).map(sorted))
        tight = draw(st.integers(0, 3)) > 0
        static = {s.declaration.name: data[s.declaration.name] for s in sources}
        first = {n: c for n, c in static.items() if _is_static(n, sources)}
        return _run(sources, first, [queue[i] for i in order], [*cuts, len(queue)], late, tight)

    return whole()


def _run(
    sources: Sequence[Source],
    first: dict[str, tuple[Change, ...]],
    queue: list[tuple[Source, Change]],
    cuts: list[int],
    late: bool,
    tight: bool,
) -> list[Step]:
    """The steps; a ``tight`` run promises, after each, all that what is left will keep."""
    lines = {source.declaration.name: _lines(source) for source in sources}
    standing: dict[str, list[Change]] = {source.declaration.name: [] for source in sources}
    now, done, steps = NEG_INF, 0, []
    for end in cuts:
        arrived: dict[str, list[Change]] = {name: list(rows) for name, rows in first.items()}
        first = {}
        for source, change in queue[done:end]:
            name = source.declaration.name
            if not _is_accepted(lines[name].values(), change, late):
                continue
            if change.diff < 0 and not _covers(standing[name], change):
                continue
            standing[name].append(change)
            arrived.setdefault(name, []).append(change)
            now = max(now, *(line.time(change) for line in lines[name].values()))
        done = end
        for name, rows in arrived.items():
            for line in lines[name].values():
                newest = max((line.time(c) for c in rows), default=NEG_INF)
                if newest > NEG_INF:
                    line.progress = max(line.progress, newest - line.delay_us - 1)
        if tight:
            for name, known in lines.items():
                rest = [c for source, c in queue[done:] if source.declaration.name == name]
                for line in known.values():
                    line.promise(rest, late)
            now = max([now, *(ln.progress for known in lines.values() for ln in known.values())])
        progress = {
            (name, attribute): line.progress
            for name, known in lines.items()
            for attribute, line in known.items()
        }
        steps.append(Step({n: tuple(rows) for n, rows in arrived.items()}, progress, now))
    return steps


def _within(source: Source, change: Change) -> Change:
    """The change on a short line, so that frontiers pass many of the times."""
    if isinstance(source, ChangingTable):
        return change
    times = time_places(source)
    row = tuple(
        value % SHORT if place in times and value is not None else value
        for place, value in enumerate(change.row)
    )
    return replace(change, row=row)


def time_places(source: Source) -> set[int]:
    """The positions of a source's times."""
    return {i for i, column in enumerate(source.schema) if column.type == TIMESTAMP}


def _lines(source: Source) -> dict[str, _Line]:
    declaration = source.declaration
    if isinstance(source, StaticTable):
        return {}
    table = isinstance(source, ChangingTable)
    return {
        promise.attribute: _Line(
            None if table else source.schema.position(promise.attribute),
            promise.delay_us,
            declaration.retain_us,
        )
        for promise in declaration.promises
    }


def _is_accepted(lines: Iterable[_Line], change: Change, late: bool) -> bool:
    return all(
        line.time(change) > shift(line.progress, -line.retain_us if late else 0) for line in lines
    )


def _covers(standing: list[Change], negative: Change) -> bool:
    """Whether there is, at every instant of a negative, something to take back."""
    points = sorted(
        {
            t
            for c in (*standing, negative)
            for t in (c.valid_from, c.valid_to)
            if negative.valid_from <= t < negative.valid_to
        }
    )
    return all(
        sum(c.diff for c in standing if c.row == negative.row and c.valid_from <= t < c.valid_to)
        > 0
        for t in points
    )


def _is_static(name: str, sources: Sequence[Source]) -> bool:
    return any(s.declaration.name == name and isinstance(s, StaticTable) for s in sources)


def _time(source: Source, change: Change) -> Instant:
    if isinstance(source, ChangingTable):
        return change.valid_from
    return int(change.row[source.schema.position(source.declaration.promises[0].attribute)])
