"""What the state of a query holds, by operator and SweepArea, and when that is forgotten.

Law: rows, bytes and times are those that the latest manifest describes; when something is forgotten
is what the analysis proves about the operator that holds it.  Nothing of the state is opened.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ebbtide.analysis import Store, analyse
from ebbtide.analysis.advice import operator_name
from ebbtide.analysis.formula.progress import Bound, Progress
from ebbtide.analysis.keep_rules import ByTime, Rule
from ebbtide.analysis.temporal.edge import TO
from ebbtide.compile.lowering import Lowered, lower
from ebbtide.compile.physical import Operator
from ebbtide.core.time import INF, NEG_INF, Instant, is_finite
from ebbtide.engine.location import StoredQuery
from ebbtide.state.batch import batch_schema
from ebbtide.state.layout import Layout
from ebbtide.state.segment import Segment
from ebbtide.state.types import arrow_type
from ebbtide.store.journal import Journal

# What areas that hold no input are for, by their names.
_OWN = {
    "output": "kept while it may still change",
    "held": "kept until it begins",
    "accumulators": "one for each group that holds",
    "heirs": "those that come next when an extreme goes",
    "operations": "kept while a later operation can meet it",
}
_INPUTS = {"input": 0, "rows": 0, "facts": 0, "sessions": 0, "steps": 0, "left": 0, "right": 1}


@dataclass(frozen=True, slots=True)
class Holding:
    """An area of an operator: what of it is stored, over which times, and until when.

    Accumulators are numbered, not ``timed``.
    """

    operator: str
    what: str
    area: str
    segments: tuple[Segment, ...]
    keeps: str
    gone: str
    timed: bool = True

    @property
    def rows(self) -> int:
        """The stored changes."""
        return sum(segment.rows for segment in self.segments)

    @property
    def bytes(self) -> int:
        """What they take."""
        return sum(segment.bytes for segment in self.segments)

    @property
    def oldest(self) -> Instant:
        """The first instant at which something stored begins."""
        return min((segment.from_min for segment in self.segments), default=INF)

    @property
    def newest(self) -> Instant:
        """The last instant at which something stored ends."""
        return max((segment.to_max for segment in self.segments), default=NEG_INF)


def holdings(query: StoredQuery) -> Iterator[Holding]:
    """All areas in which something is stored."""
    latest = Journal(query.root).latest()
    if latest is None:
        return
    analysis = analyse(query.bound.plan, query.bound.emit)
    lowered = lower({query.name: analysis.plan})
    stores = {id(node.relation): node.stores for node in analysis.nodes()}
    by_name = {operator.name: operator for operator in lowered.physical.operators}
    for name, shards in latest.areas.items():
        operator = by_name.get(name)
        node = lowered.nodes.get(name)
        known = stores.get(id(node), ()) if node is not None else ()
        what = operator_name(node) if node is not None else _source(name, operator, lowered)
        for index, layout in enumerate(_areas(operator)):
            segments = tuple(Segment.restore(s) for shard in shards for s in shard[index])
            if segments:
                keeps, gone = _until(layout.name, known, segments)
                timed = not layout.newest
                yield Holding(name, what, layout.name, segments, keeps, gone, timed)


def _source(name: str, operator: Operator | None, lowered: Lowered) -> str:
    source = getattr(operator.kernel, "source", None) if operator is not None else None
    if source is not None:
        return f'admission of "{lowered.declarations[source].name}"'
    return "what the query emits" if name.startswith("output.") else name


def _areas(operator: Operator | None) -> Sequence[Layout]:
    if operator is None:
        return (Layout("held", None, ()),)
    inputs = tuple(
        batch_schema([arrow_type(column.type) for column in schema]) for schema in operator.inputs
    )
    return operator.kernel.areas(inputs)


def _until(area: str, stores: Sequence[Store], segments: Sequence[Segment]) -> tuple[str, str]:
    """The rule by which an area forgets, and when that will have forgotten all of it."""
    place = _INPUTS.get(area)
    rules = [store.rule for store in stores if store.input == place]
    if not rules:
        return _OWN.get(area.rstrip("0123456789"), ""), ""
    return str(rules[0]), _gone(rules[0], max(segment.to_max for segment in segments))


def _gone(rule: Rule, last: Instant) -> str:
    """The progress at which nothing is left that ends by ``last``."""
    from ebbtide.core.time import format_instant

    if not isinstance(rule, ByTime) or rule.first or not is_finite(last):
        return ""
    needed: dict[Bound, Instant] = {}
    for case in rule.keep.cases:
        waits = [p for p in case if p.variable == TO and isinstance(p.value, Progress)]
        if not waits:
            return ""
        value: Any = waits[0].value
        needed[value.of] = max(needed.get(value.of, NEG_INF), last - value.by)
    return " and ".join(f"progress({of}) = {format_instant(at)}" for of, at in needed.items())
