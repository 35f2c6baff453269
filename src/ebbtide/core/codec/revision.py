"""Revision tuples: corrections of tuples that were issued before (paper 3, sections 1, 2).

Law: a tuple is a row with its validity, named by its key and its interval.  An insertion is ``+1``
of a tuple that should have been issued, a deletion ``-1`` of one that should not have been, a
replacement both, of two rows over one interval.  All revisions of one correction hold together.

An update is no revision: it ends one validity and begins another, and corrects nothing.  It can be
said here only by deleting the tuple and inserting its two halves.

    issued        75 ├───────────────────────┤
    update        75 ├───────────┤72         ┤      deletion, insertion, insertion
    revision      72 ├───────────────────────┤      replacement
                    2:00        2:30        3:00
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from ebbtide.core.change import Change, consolidate
from ebbtide.core.codec.relation import Key, key_of, repeated, unique
from ebbtide.core.interval import Interval
from ebbtide.core.values import Row, row_key
from ebbtide.errors import QueryError, SourceError


class RevisionKind(Enum):
    """What a revision does to a tuple."""

    DELETION = "deletion"
    REPLACEMENT = "replacement"
    INSERTION = "insertion"


@dataclass(frozen=True, slots=True)
class Revision:
    """A correction: ``old`` is the row that was wrong, ``new`` the one that is right."""

    kind: RevisionKind
    interval: Interval
    old: Row | None = None
    new: Row | None = None

    def __post_init__(self) -> None:
        has_old, has_new = (
            self.kind is not RevisionKind.INSERTION,
            self.kind is not RevisionKind.DELETION,
        )
        if (self.old is not None, self.new is not None) != (has_old, has_new):
            raise ValueError(f"{self.kind.value} with old {self.old} and new {self.new}")


_Tuples: TypeAlias = dict[tuple[Row, Interval], Row]


def encode(
    changes: Iterable[Change], key: Key, issued: Iterable[Change] = ()
) -> tuple[Revision, ...]:
    """The revisions that correct what was issued into a relation; insertions if nothing was."""
    wrong, right = _tuples(issued, key, QueryError), _tuples(changes, key, QueryError)
    revisions: list[Revision] = []
    for name, old in wrong.items():
        new = right.get(name)
        if new is None:
            revisions.append(Revision(RevisionKind.DELETION, name[1], old=old))
        elif new != old:
            revisions.append(Revision(RevisionKind.REPLACEMENT, name[1], old=old, new=new))
    for name, new in right.items():
        if name not in wrong:
            revisions.append(Revision(RevisionKind.INSERTION, name[1], new=new))
    return tuple(sorted(revisions, key=_order))


def decode(
    revisions: Iterable[Revision], key: Key, issued: Iterable[Change] = ()
) -> tuple[Change, ...]:
    """The relation that revisions correct what was issued into."""
    tuples = _tuples(issued, key, SourceError)
    result = {(row, name[1]) for name, row in tuples.items()}
    revised = tuple(revisions)
    for revision in revised:
        if revision.old is not None:
            if (revision.old, revision.interval) not in result:
                raise SourceError(
                    "negative-without-positive",
                    f"{revision.kind.value} of {revision.old} during {revision.interval}, "
                    "which was not issued",
                )
            result.remove((revision.old, revision.interval))
    added = [(revision.new, revision.interval) for revision in revised if revision.new is not None]
    corrected = [
        Change(row, interval.valid_from, interval.valid_to) for row, interval in (*result, *added)
    ]
    unique(corrected, key, SourceError)
    return consolidate(corrected)


def _tuples(changes: Iterable[Change], key: Key, family: type[QueryError | SourceError]) -> _Tuples:
    tuples = repeated(changes)
    unique(tuples, key, family)
    return {(key_of(one.row, key), one.interval): one.row for one in tuples}


def _order(revision: Revision) -> tuple[object, ...]:
    interval = revision.interval
    row = revision.old if revision.old is not None else revision.new
    kinds = tuple(RevisionKind)
    return (interval.valid_from, interval.valid_to, kinds.index(revision.kind), row_key(row or ()))
