"""Whether a relation is a bag of facts or changes with time.

Law: a block, with all blocks inside it, is either *fact* (bare streams, static tables) or
*snapshot* (windowed streams, changing tables).  Windows lead from facts to snapshots; ISTREAM,
DSTREAM and RSTREAM lead back.  A static table fits both.
"""

from __future__ import annotations

from enum import Enum
from typing import assert_never

from ebbtide.algebra.operators import operator
from ebbtide.algebra.recursion import Recurrence
from ebbtide.algebra.relation import (
    ChangingTable,
    Filter,
    Map,
    Relation,
    StaticTable,
    Stream,
    Values,
)
from ebbtide.algebra.traits import KeepsKind
from ebbtide.algebra.window import (
    Cumulate,
    Dstream,
    Hop,
    Istream,
    Rstream,
    Session,
    Tumble,
    Window,
)
from ebbtide.core.tree import find, fold
from ebbtide.errors import TemporalError


class Kind(Enum):
    """What a relation's rows are with respect to time."""

    FACT = "fact"
    SNAPSHOT = "snapshot"
    STATIC = "static"


def kind(relation: Relation) -> Kind:
    """The kind of a relation; a mixture of facts and snapshots is refused."""
    return fold(relation, _step)


def _step(relation: Relation, children: tuple[Kind, ...]) -> Kind:
    node = operator(relation)
    if isinstance(node, Filter | Map) and node.depends_on_now:
        return _with_now(node, children[0])
    if isinstance(node, KeepsKind):
        return _combine(node, children)
    match node:
        case Stream() | Recurrence():
            return Kind.FACT
        case ChangingTable():
            return Kind.SNAPSHOT
        case StaticTable() | Values():
            return Kind.STATIC
        case Window() | Tumble() | Hop() | Session() | Cumulate():
            if children[0] is Kind.SNAPSHOT:
                raise TemporalError(
                    "window-on-snapshot",
                    f"a window stands on facts, and {_sources(node)} changes with time already",
                    hint="put ISTREAM(...) around what the window stands on",
                )
            return Kind.SNAPSHOT if isinstance(node, Window) else Kind.FACT
        case Istream() | Dstream() | Rstream():
            if children[0] is Kind.FACT:
                raise TemporalError(
                    "facts-need-window",
                    f"{type(node).__name__.upper()} needs a relation that changes with time, "
                    f"and {_sources(node)} has no window",
                    hint="add a window such as [RANGE 1 MINUTE] after the stream's name",
                )
            return Kind.FACT
        case _:
            assert_never(node)


def _with_now(node: Filter | Map, child: Kind) -> Kind:
    """What depends on the instant is a snapshot, and facts have no instant."""
    if child is Kind.FACT:
        raise TemporalError(
            "facts-need-window",
            f"NOW() is the instant of a snapshot, and {_sources(node)} has no window",
            hint="add a window such as [UNBOUNDED] after the stream's name",
        )
    return Kind.SNAPSHOT


def _combine(node: Relation, children: tuple[Kind, ...]) -> Kind:
    kinds = set(children) - {Kind.STATIC}
    if len(kinds) > 1:
        bare = [
            _sources(child)
            for child, its in zip(node.children, children, strict=True)
            if its is Kind.FACT
        ]
        raise TemporalError(
            "mixed-block",
            f"{bare[0]} has no window, but what it is combined with changes with time",
            hint=f"add a window after {bare[0]}, such as {bare[0]} [UNBOUNDED]",
        )
    return kinds.pop() if kinds else Kind.STATIC


def _sources(node: Relation) -> str:
    names = [stream.declaration.name for stream in find(node, Stream)]
    names += [table.declaration.name for table in find(node, ChangingTable)]
    return ", ".join(dict.fromkeys(names)) or "it"
