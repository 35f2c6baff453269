"""How far back an answer looks: the facts of each stream on which it can depend at an instant.

Law: deleting facts that are not needed changes no row of the answer at the instant.  It is known of
streams that are read through windows of time alone; of others all facts are needed.
"""

from __future__ import annotations

from typing import TypeAlias

from ebbtide.algebra.recursion import Recursion
from ebbtide.algebra.relation import Alias, Filter, Relation, Stream, View
from ebbtide.algebra.window import Dstream, Fixed, Istream, Now, Range, Rstream, Window
from ebbtide.core.time import Duration, Instant, shift
from ebbtide.core.tree import find, fold

Needed: TypeAlias = tuple[str, Instant] | None
"""Facts with a later time in an attribute are needed, and no others; None if all are."""


def needed_since(plan: Relation, at: Instant) -> dict[str, Needed]:
    """What is needed of each stream for the answer of a plan at an instant."""
    elsewhere = Istream | Dstream | Rstream | Recursion
    if any(isinstance(node, elsewhere) for node in find(plan, Relation)):
        # These ask for other instants than the one that is asked about.
        return {stream.declaration.name: None for stream in find(plan, Stream)}
    return fold(plan, lambda node, below: _needed(node, below, at))


def _needed(node: Relation, below: tuple[dict[str, Needed], ...], at: Instant) -> dict[str, Needed]:
    if isinstance(node, Stream):
        return {node.declaration.name: None}
    if isinstance(node, Window):
        stream, length = _read_by(node.input), _length(node)
        if stream is not None and length is not None:
            return {stream.declaration.name: (node.on, shift(at, -length))}
    found: dict[str, Needed] = {}
    for known in below:
        for name, needed in known.items():
            found[name] = _either(found[name], needed) if name in found else needed
    return found


def _either(one: Needed, other: Needed) -> Needed:
    if one is None or other is None or one[0].casefold() != other[0].casefold():
        return None
    return one[0], min(one[1], other[1])


def _read_by(node: Relation) -> Stream | None:
    """The stream whose facts a relation has, as they are."""
    while isinstance(node, View | Alias | Filter):
        node = node.input
    return node if isinstance(node, Stream) else None


def _length(node: Window) -> Duration | None:
    """How far before an instant the facts lie that a window can show at it."""
    spec = node.spec
    if isinstance(spec, Range):
        return spec.size_us + (spec.slide_us or 0)
    if isinstance(spec, Fixed):
        return spec.size_us
    return 1 if isinstance(spec, Now) else None
