"""What arrives at an input: operations, the words for them, and the steps they come in.

Invariant: an arrival is a value that never changes; only what is made of it does.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ebbtide.core.codec.encoding import Encoding
from ebbtide.core.declaration import Declaration, StreamDeclaration, TableDeclaration
from ebbtide.core.time import Instant
from ebbtide.core.values import Row


class Op(Enum):
    """The keyed operations."""

    INSERT = "insert"
    DELETE = "delete"
    REPLACE = "replace"
    UPSERT = "upsert"
    END = "end"

    @property
    def carries_row(self) -> bool:
        """Whether the whole row counts, and not its key and times alone."""
        return self in (Op.INSERT, Op.REPLACE, Op.UPSERT)


class Reason(Enum):
    """Why a row is unused."""

    LATE = "late"
    APPROXIMATED = "approximated"
    BEYOND = "beyond"
    NULL_TIME = "null-time"
    NULL_KEY = "null-key"
    MALFORMED = "malformed"
    UNREADABLE = "unreadable"
    UNKNOWN_OP = "unknown-op"
    DUPLICATE_KEY = "duplicate-key"
    NO_POSITIVE = "no-positive"


FILE = "FILE"
"""What stands in the place of an operation where a whole file could not be read.

No input says it: the words of inputs are taken in small letters.
"""


@dataclass(frozen=True, slots=True)
class Arrival:
    """One row of a source, with the columns of the declaration's ``schema``.

    ``op`` is None for a word that means nothing.  ``offset`` is the row's place in its source: no
    two arrivals of an input share one, and it does not depend on the order of arrival.
    """

    op: Op | None
    row: Row
    offset: int


@dataclass(frozen=True, slots=True)
class Step:
    """What one step takes in.

    ``advance`` promises that nothing before it comes any more, once the step is done; ``clock``
    is the step's one reading of the clock.
    """

    arrivals: tuple[Arrival, ...] = ()
    advance: Instant | None = None
    clock: Instant | None = None


@dataclass(frozen=True, slots=True)
class Unused:
    """An arrival that counts for nothing, and why."""

    arrival: Arrival
    reason: Reason


_OURS = {op.value: op for op in Op}

# What others say of facts: Spark's change types, Flink's row kinds, the letters of Debezium
# and of other feeds, signs.
_THEIRS = {
    "+": Op.INSERT,
    "-": Op.DELETE,
    "insert": Op.INSERT,
    "delete": Op.DELETE,
    "update_preimage": Op.DELETE,
    "update_postimage": Op.INSERT,
    "+i": Op.INSERT,
    "-u": Op.DELETE,
    "+u": Op.INSERT,
    "-d": Op.DELETE,
    "c": Op.INSERT,
    "r": Op.INSERT,
    "u": Op.REPLACE,
    "d": Op.DELETE,
    "i": Op.INSERT,
    "update": Op.REPLACE,
}

# The same words said of what a table holds: their delete is our end, for the row was there until
# then.  A pre-image ends the version that its post-image, next in the source, begins anew.
_THEIRS_OF_A_TABLE = {word: {Op.DELETE: Op.END}.get(op, Op.UPSERT) for word, op in _THEIRS.items()}

_SPARK_COLUMN = "_change_type"

KNOWN_WORDS = tuple(sorted(_OURS.keys() | _THEIRS.keys()))
"""Every word that means an operation on some input."""


def read_op(declaration: Declaration, word: str | int | None) -> Op | None:
    """The operation that a word in the OP column means, or None if it means none.

    Ours are insert, delete, replace, upsert and end.  On a table, "delete" is ours (the version
    never was) unless the column is Spark's ``_change_type``, where it ends the version, as it does
    in a bag.  Of changes the word is a number, whose sign says it.
    """
    if isinstance(declaration, TableDeclaration) and declaration.summed:
        count = word if isinstance(word, int) else 0
        return None if count == 0 else Op.UPSERT if count > 0 else Op.END
    text = str(word or "").strip().casefold()
    if not _changes_versions(declaration):
        return _OURS.get(text, _THEIRS.get(text))
    if isinstance(declaration, TableDeclaration) and declaration.bag:
        return _THEIRS_OF_A_TABLE.get(text, _OURS.get(text))
    if (declaration.op or "").casefold() == _SPARK_COLUMN or text == Op.INSERT.value:
        return _THEIRS_OF_A_TABLE.get(text)
    return _OURS.get(text, _THEIRS_OF_A_TABLE.get(text))


def default_op(declaration: Declaration) -> Op:
    """What a row means where the source has no OP column."""
    return Op.UPSERT if _changes_versions(declaration) else Op.INSERT


def allowed_ops(declaration: Declaration) -> frozenset[Op]:
    """The operations that an input takes."""
    if isinstance(declaration, TableDeclaration) and declaration.bag:
        final = declaration.encoding is Encoding.TEMPORAL
        return frozenset({Op.UPSERT}) if final else frozenset({Op.UPSERT, Op.END})
    if isinstance(declaration, TableDeclaration) and declaration.only_upserts:
        return frozenset({Op.UPSERT})
    if _changes_versions(declaration):
        return frozenset({Op.UPSERT, Op.END, Op.DELETE, Op.REPLACE})
    if isinstance(declaration, TableDeclaration) or declaration.append_only:
        return frozenset({Op.INSERT})
    return frozenset({Op.INSERT, Op.DELETE, Op.REPLACE})


def _changes_versions(declaration: Declaration) -> bool:
    return not isinstance(declaration, StreamDeclaration) and not declaration.static
