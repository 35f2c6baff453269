"""Strategies for plans: random well-typed trees of every operator, over given sources.

Law: every plan is of one kind throughout, snapshots or facts, windows and ISTREAM, DSTREAM and
RSTREAM leading from one to the other; evaluating it over data from ``inputs`` up to a finite
``now`` never fails.
"""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from ebbtide.algebra.kind import Kind
from ebbtide.algebra.relation import (
    ChangingTable,
    Relation,
    StaticTable,
    Stream,
    Values,
)
from ebbtide.algebra.window import Window
from ebbtide.core.change import Change
from ebbtide.core.schema import schema
from ebbtide.core.tree import find
from ebbtide.core.types import TIMESTAMP
from strategies.binary import BINARY, MULTIPLYING
from strategies.growth import Builder, Growth
from strategies.sources import SOURCES, Source, inputs
from strategies.temporal import (
    MULTIPLYING_FACTS,
    TO_FACTS,
    TO_SNAPSHOTS,
    window_specs,
)
from strategies.unary import MULTIPLYING_ROWS, UNARY
from strategies.values import rows

BUILDERS: dict[type[Relation], Builder] = {
    **UNARY,
    **BINARY,
    **MULTIPLYING,
    **MULTIPLYING_ROWS,
    **TO_SNAPSHOTS,
    **TO_FACTS,
    **MULTIPLYING_FACTS,
}

_SOURCES = (Stream, StaticTable, ChangingTable)
_CONSTANTS = schema(x="BIGINT", at="TIMESTAMP")


def plans(
    sources: Sequence[Source] = SOURCES,
    depth: int = 3,
    kind: Kind | None = None,
    root: type[Relation] | None = None,
    operators: Sequence[type[Relation]] | None = None,
) -> st.SearchStrategy[Relation]:
    """Plans of at most ``depth`` operators above each other.

    ``kind`` asks for snapshots or facts, ``root`` for an operator at the top; ``operators`` leaves
    out all others.
    """
    allowed = tuple(BUILDERS if operators is None else operators)
    kinds = [kind] if kind else [k for k in (Kind.SNAPSHOT, Kind.FACT) if _fits(root, k)]

    def plant(growth: Growth) -> Relation:
        options = [b for o, b in _options(growth) if o in allowed] if growth.depth > 0 else []
        # Small plans are tried first and are what failures shrink to.
        if not options or growth.draw(st.integers(0, 5)) == 0:
            return _leaf(growth)
        return growth.choose(options)(growth)

    @st.composite
    def whole(draw: st.DrawFn) -> Relation:
        chosen = draw(st.sampled_from(kinds))
        growth = Growth(draw, tuple(sources), chosen, depth, 2, plant)
        return plant(growth) if root is None else BUILDERS[root](growth)

    return whole()


def queries(
    sources: Sequence[Source] = SOURCES,
    depth: int = 3,
    kind: Kind | None = None,
    root: type[Relation] | None = None,
    operators: Sequence[type[Relation]] | None = None,
    max_changes: int = 8,
) -> st.SearchStrategy[tuple[Relation, dict[str, tuple[Change, ...]]]]:
    """Plans, each with input for the sources that it reads."""

    @st.composite
    def whole(draw: st.DrawFn) -> tuple[Relation, dict[str, tuple[Change, ...]]]:
        plan = draw(plans(sources, depth, kind, root, operators))
        read = {leaf for node in _SOURCES for leaf in find(plan, node)}
        return plan, draw(inputs([s for s in sources if s in read], max_changes))

    return whole()


def _options(growth: Growth) -> list[tuple[type[Relation], Builder]]:
    """The operators that may stand here."""
    found = {**UNARY, **BINARY}
    found.update(TO_SNAPSHOTS if growth.kind is Kind.SNAPSHOT else TO_FACTS)
    if growth.multiply > 0:
        found.update(MULTIPLYING)
        found.update(MULTIPLYING_ROWS)
        if growth.kind is Kind.FACT:
            found.update(MULTIPLYING_FACTS)
    return list(found.items())


def _fits(root: type[Relation] | None, kind: Kind) -> bool:
    if root in TO_SNAPSHOTS:
        return kind is Kind.SNAPSHOT
    if root in TO_FACTS or root in MULTIPLYING_FACTS:
        return kind is Kind.FACT
    return True


def _leaf(growth: Growth) -> Relation:
    moving = ChangingTable | Stream if growth.kind is Kind.SNAPSHOT else Stream
    fitting = [source for source in growth.sources if isinstance(source, moving)]
    static = [source for source in growth.sources if isinstance(source, StaticTable)]
    chosen = growth.choose([*fitting, *fitting, *static, None])
    if chosen is None:
        constants = st.lists(rows(_CONSTANTS), min_size=1, max_size=2)
        return Values(_CONSTANTS, tuple(growth.draw(constants)))
    if isinstance(chosen, Stream) and growth.kind is Kind.SNAPSHOT:
        return _windowed(growth, chosen)
    return chosen


def _windowed(growth: Growth, stream: Stream) -> Relation:
    times = [column.name for column in stream.schema if column.type == TIMESTAMP]
    spec = growth.draw(window_specs(stream.schema.names))
    return Window(stream, spec, growth.choose(times), stream.declaration.key)
