"""Strategies for relations, as histories of changes, and for bags of facts.

Law: every prefix of a generated history is a relation: no multiplicity is ever negative.  Negative
changes take back what is there, whole (a deletion), from an instant on (an early end), or for
another row over the same interval (a replacement).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from hypothesis import strategies as st

from ebbtide.core.change import Change, fact
from ebbtide.core.interval import ALWAYS, Interval
from ebbtide.core.schema import Schema
from ebbtide.core.time import INF, NEG_INF
from ebbtide.core.values import Row
from strategies.values import LAST, rows, several

MOST = 12
LONGEST = 16


class _Act(Enum):
    INSERT = "insert"
    DELETE = "delete"
    END = "end"
    REPLACE = "replace"


@dataclass
class _History:
    """Changes so far, and the versions that still stand; at most one per key at an instant."""

    key: tuple[int, ...] = ()
    time: int | None = None
    changes: list[Change] = field(default_factory=list)
    standing: list[Change] = field(default_factory=list)

    def insert(self, row: Row, interval: Interval, times: int) -> None:
        if self.time is not None:
            row = (*row[: self.time], interval.valid_from, *row[self.time + 1 :])
        change = Change(row, interval.valid_from, interval.valid_to, 1 if self.key else times)
        if not self._clashes(change):
            self.changes.append(change)
            self.standing.append(change)

    def take_back(self, pick: int) -> Change | None:
        if not self.standing:
            return None
        taken = self.standing.pop(pick % len(self.standing))
        return taken

    def delete(self, pick: int) -> None:
        if (old := self.take_back(pick)) is not None:
            self.changes.append(-old)

    def end(self, pick: int, at: int) -> None:
        if (old := self.take_back(pick)) is None:
            return
        if not old.valid_from < at < old.valid_to:
            self.standing.append(old)
            return
        self.changes.append(Change(old.row, at, old.valid_to, -old.diff))
        self.standing.append(Change(old.row, old.valid_from, at, old.diff))

    def replace(self, pick: int, row: Row) -> None:
        if (old := self.take_back(pick)) is None:
            return
        kept = {*self.key, *([] if self.time is None else [self.time])}
        new = tuple(old.row[i] if i in kept else value for i, value in enumerate(row))
        change = Change(new, old.valid_from, old.valid_to, old.diff)
        self.changes += [-old, change]
        self.standing.append(change)

    def _clashes(self, change: Change) -> bool:
        def key(row: Row) -> Row:
            return tuple(row[i] for i in self.key)

        return bool(self.key) and any(
            key(other.row) == key(change.row) and other.interval.overlaps(change.interval)
            for other in self.standing
        )


def intervals() -> st.SearchStrategy[Interval]:
    """Intervals on a short line, some open at an end, one of them all of time."""
    return st.integers(0, (LONGEST + 4) * (LAST + 1) - 1).map(_interval)


def _interval(number: int) -> Interval:
    length, start = divmod(number, LAST + 1)
    if length < LONGEST:
        return Interval(start, start + length + 1)
    if length < LONGEST + 2:
        return Interval(start, INF)
    return Interval(NEG_INF, start) if length == LONGEST + 2 else ALWAYS


def relations(
    schema: Schema,
    max_changes: int = MOST,
    key: tuple[str, ...] = (),
    time: str | None = None,
    negatives: bool = True,
    of: st.SearchStrategy[Row] | None = None,
) -> st.SearchStrategy[tuple[Change, ...]]:
    """Histories of changes that add up to a relation.

    With a ``key`` no two versions of a key overlap; a ``time`` column has each version's start.
    ``of`` gives the rows, where other ones are wanted than those of few values.
    """
    taking = (_Act.DELETE, _Act.END, _Act.REPLACE) if negatives else ()
    drawn = st.tuples(rows(schema) if of is None else of, _intervals_for(time))
    return _histories(schema, drawn, max_changes, key, time, taking)


def facts(
    schema: Schema,
    max_facts: int = MOST,
    key: tuple[str, ...] = (),
    negatives: bool = False,
) -> st.SearchStrategy[tuple[Change, ...]]:
    """Bags of facts; with ``negatives`` some are deleted or replaced again."""
    if not negatives and not key:
        return several(rows(schema).map(fact), max_facts).map(tuple)
    taking = (_Act.DELETE, _Act.REPLACE) if negatives else ()
    drawn = st.tuples(rows(schema), st.just(ALWAYS))
    return _histories(schema, drawn, max_facts, key, None, taking)


def _intervals_for(time: str | None) -> st.SearchStrategy[Interval]:
    if time is None:
        return intervals()
    return st.integers(0, (LONGEST + 2) * (LAST + 1) - 1).map(_interval)


def _histories(
    schema: Schema,
    versions: st.SearchStrategy[tuple[Row, Interval]],
    max_changes: int,
    key: tuple[str, ...],
    time: str | None,
    taking: tuple[_Act, ...],
) -> st.SearchStrategy[tuple[Change, ...]]:
    # Inserts are listed more often, so that there is something to take back.
    acts = [_Act.INSERT] * 4 + list(taking)
    act = st.tuples(st.integers(0, len(acts) * MOST * (LAST + 10) - 1), versions)

    def history(drawn: list[tuple[int, tuple[Row, Interval]]]) -> tuple[Change, ...]:
        past = _History(
            tuple(schema.position(name) for name in key),
            None if time is None else schema.position(time),
        )
        for number, (row, interval) in drawn:
            rest, kind = divmod(number, len(acts))
            at, pick = divmod(rest, MOST)
            match acts[kind]:
                case _Act.INSERT:
                    # Every third is there twice: multiplicities matter.
                    past.insert(row, interval, 2 if pick % 3 == 2 else 1)
                case _Act.DELETE:
                    past.delete(pick)
                case _Act.END:
                    past.end(pick, at)
                case _Act.REPLACE:
                    past.replace(pick, row)
        return tuple(past.changes)

    return several(act, max_changes).map(history)
