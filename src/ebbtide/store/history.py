"""The index of what has been compacted: which files hold the steps up to one, and from when on.

Law: the index is replaced as a whole, so whoever reads it sees one state of all that it names; what
it names is durable before it, and is removed only after another index has taken its place.  Steps
after ``upto`` have an entry in the journal each, and files of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from ebbtide.core.time import INF, NEG_INF, Duration, Instant
from ebbtide.errors import StateError
from ebbtide.store.files import read_sealed, replace, sealed

FILE = "history.json"
STEP = "step"
"""The column that says of each row of a part of several steps which one it is from."""

_FORMAT = 1


@dataclass(frozen=True, slots=True)
class HistoryPart:
    """A file with the rows of the steps from ``first`` to ``last``.

    All its rows are valid within ``begins`` and ``ends``; ``since`` and ``until`` are ``now`` after
    the first and the last step.  Parts of one ``level`` are merged into one of the next.
    """

    file: str
    first: int
    last: int
    level: int = 0
    rows: int = 0
    bytes: int = 0
    begins: Instant = NEG_INF
    ends: Instant = INF
    since: Instant = NEG_INF
    until: Instant = INF

    def holds(self, at: Instant) -> bool:
        """Whether some of its rows may be valid at an instant."""
        return self.begins <= at < self.ends


@dataclass(frozen=True, slots=True)
class ViewHistory:
    """The compacted changes of a view: a base, and the parts after it.

    The base has the net changes of all steps up to its last one, as far as they hold at ``until``
    or later.  ``keep_us`` is how far back single steps are kept at least, None for ever;
    ``unkept`` is the last step whose output was not kept at all.
    """

    parts: tuple[HistoryPart, ...] = ()
    base: HistoryPart | None = None
    keep_us: Duration | None = None
    unkept: int = -1

    @property
    def floor(self) -> int:
        """The step up to which single steps are gone; -1 if all are there."""
        return -1 if self.base is None else self.base.last


@dataclass(frozen=True, slots=True)
class History:
    """What is compacted: the steps up to ``upto``, whose entry has the checksum ``link``.

    ``steps`` are the parts of the journal after the step ``dropped``; ``fed`` are the positions in
    the logs of hand-fed sources that the step ``dropped`` had read up to, and ``clock`` is when it
    was taken.  The files that were
    ``replaced`` may still be there, for those who began to read before.
    """

    upto: int = -1
    link: str = ""
    views: Mapping[str, ViewHistory] = field(default_factory=dict)
    unused: tuple[HistoryPart, ...] = ()
    steps: tuple[HistoryPart, ...] = ()
    dropped: int = -1
    fed: Mapping[str, int] = field(default_factory=dict)
    replaced: tuple[str, ...] = ()
    clock: Instant | None = None

    def files(self) -> Iterator[str]:
        """The files that it needs, below the program's directory."""
        for view in self.views.values():
            yield from (part.file for part in view.parts)
            if view.base is not None:
                yield view.base.file
        yield from (part.file for part in (*self.unused, *self.steps))

    def view(self, name: str) -> ViewHistory:
        """The history of a view; an empty one if nothing of it is compacted."""
        return self.views.get(name, ViewHistory())

    def write(self, root: str) -> None:
        """Makes it the index of a program's directory."""
        replace(f"{root}/{FILE}", sealed({"format": _FORMAT, **asdict(self)}))

    @staticmethod
    def read(root: str) -> History:
        """The index of a program's directory; an empty one if nothing was compacted yet."""

        def damaged(why: str) -> StateError:
            return StateError(
                "damaged-history",
                f'"{root}/{FILE}" does not say what was compacted',
                detail=why,
                hint="restore the directory, or run the program anew under another name",
            )

        told = read_sealed(f"{root}/{FILE}", damaged)
        if told is None:
            return History()
        if told.pop("format", None) != _FORMAT:
            raise damaged("it is of another format")
        try:
            told["views"] = {name: _view(values) for name, values in told["views"].items()}
            told["unused"], told["steps"] = _parts(told["unused"]), _parts(told["steps"])
            told["replaced"] = tuple(told["replaced"])
            return History(**told)
        except (KeyError, TypeError, AttributeError) as error:
            raise damaged(repr(error)) from error


def with_step(table: Any, part: HistoryPart) -> Any:
    """The rows of a part, each with its step."""
    if STEP in table.column_names:
        return table
    return table.append_column(STEP, pa.array(np.full(table.num_rows, part.last, np.int64)))


def _view(values: dict[str, Any]) -> ViewHistory:
    base = values.pop("base")
    parts = _parts(values.pop("parts"))
    return ViewHistory(parts, None if base is None else HistoryPart(**base), **values)


def _parts(values: Any) -> tuple[HistoryPart, ...]:
    return tuple(HistoryPart(**part) for part in values)
