"""What the state of a query holds, by operator and SweepArea, and when that is forgotten.

Law: rows, bytes and times are those that the latest manifest describes; when something is forgotten
is what the analysis proves about the operator that holds it.  Nothing of the state is opened.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ebbtide.analysis import Analysis, Store
from ebbtide.analysis.advice import operator_name
from ebbtide.analysis.analysis import Node
from ebbtide.analysis.archive_keep import archive_keep
from ebbtide.analysis.explain import SPANNING_KEEP, keep_text
from ebbtide.analysis.formula.conditions import After, Keep
from ebbtide.analysis.formula.progress import Bound, Progress
from ebbtide.analysis.formula.terms import Var
from ebbtide.analysis.keep_rules import ByTime
from ebbtide.analysis.temporal.edge import TO
from ebbtide.analysis.temporal.sources import bound_of
from ebbtide.compile.lowering import Lowered, lower
from ebbtide.compile.physical import Operator, Output, archive_name
from ebbtide.core.declaration import Declaration, Late, TableDeclaration
from ebbtide.core.schema import Schema
from ebbtide.core.structure import Structure
from ebbtide.core.time import INF, NEG_INF, Instant, is_finite
from ebbtide.engine.location import StoredQuery
from ebbtide.kernels.operators.expire import Expire
from ebbtide.kernels.operators.input_archive import InputArchive
from ebbtide.kernels.operators.messages import Messages
from ebbtide.kernels.operators.spanning import Spanning
from ebbtide.kernels.operators.waiting import WaitingRows
from ebbtide.state.batch import batch_schema
from ebbtide.state.layout import Layout
from ebbtide.state.segment import Segment
from ebbtide.state.types import arrow_type
from ebbtide.store.journal import Journal
from ebbtide.store.readers import OUTPUT

INPUTS = {
    "input": 0,
    "rows": 0,
    "facts": 0,
    "sessions": 0,
    "steps": 0,
    "later": 0,
    "left": 0,
    "right": 1,
}
_OF_TRIGGERED = {
    "expiring": "kept until it ends and input comes",
    "reached": "the last step with input",
}
_OF_GROUPS = {
    "accumulators": "one for each group that holds",
    "heirs": "those that come next when an extreme goes",
}


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
    def held(self) -> str:
        """How the rows lie, where that is not by their keys alone."""
        found = {segment.structure for segment in self.segments} - {Structure.BY_KEY}
        return " and ".join(sorted(structure.value for structure in found))

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
    analysis = query.analysis
    lowered = lower({query.name: analysis})
    by_name = {operator.name: operator for operator in lowered.physical.operators}
    outputs = {f"{OUTPUT}{output.name}": output for output in lowered.physical.outputs}
    others = {f"{OUTPUT}{name}" for name in latest.record.output} - outputs.keys()
    for name, shards in latest.areas.items():
        operator = by_name.get(name)
        output = None if name in others else _output(name, outputs)
        if operator is not None:
            layouts = areas_of(operator)
        elif output is not None:
            layouts = output_areas(output)
        else:
            continue  # another view of the program holds it
        node = lowered.nodes.get(name)
        what = _source(name, operator, lowered) if node is None else operator_name(node.relation)
        for index, layout in enumerate(layouts):
            segments = tuple(Segment.restore(s) for shard in shards for s in shard[index])
            if segments:
                store = _final(analysis) if layout.name == "final" else _store(node, layout.name)
                keeps = rule_text(operator, node, layout.name, lowered.declarations)
                keeps = keep_text(store) if layout.name == "final" and store else keeps
                gone = _gone(store, segments)
                timed = not layout.newest
                known = name.removeprefix(f"{query.name}.")
                yield Holding(known, what, layout.name, segments, keeps, gone, timed)


def _output(name: str, outputs: Mapping[str, Output]) -> Output | None:
    """The output that holds something under a name, which may have a stage at its end."""
    whole, _, stage = name.rpartition(".")
    return outputs.get(name) or (outputs.get(whole) if stage.isdigit() else None)


def _source(name: str, operator: Operator | None, lowered: Lowered) -> str:
    if operator is not None and isinstance(operator.kernel, InputArchive):
        return f'archive of "{name.removeprefix(archive_name(""))}"'
    if operator is not None and isinstance(operator.kernel, Expire | Messages):
        return "rows that are to expire"
    if operator is not None and isinstance(operator.kernel, Spanning):
        return "what the query emits"
    if operator is not None and isinstance(operator.kernel, WaitingRows):
        return f'rows of "{operator.kernel.declaration.name}" that wait to be replayed'
    source = getattr(operator.kernel, "source", None) if operator is not None else None
    if source is not None:
        return f'admission of "{lowered.declarations[source].name}"'
    return "what the query emits" if name.startswith(OUTPUT) else name


def areas_of(operator: Operator) -> Sequence[Layout]:
    """The areas of an operator."""
    return operator.kernel.areas(tuple(map(_batches, operator.inputs)))


def output_areas(output: Output) -> Sequence[Layout]:
    """The areas of what waits at the end of a view."""
    return output.kernel.areas((_batches(output.given),))


def _batches(schema: Schema) -> Any:
    return batch_schema([arrow_type(column.type) for column in schema])


def rule_text(
    operator: Operator | None,
    node: Node | None,
    area: str,
    declarations: Sequence[Declaration],
) -> str:
    """The rule by which an area forgets, as EXPLAIN has it."""
    if operator is None:
        return "kept until it begins"
    if node is None:
        kernel: Any = operator.kernel
        if isinstance(kernel, InputArchive):
            name = operator.name.removeprefix(archive_name(""))
            keep = archive_keep(next(d for d in declarations if d.name == name))
            return "keep all" if keep is None else f"keep while {keep}"
        if isinstance(kernel, WaitingRows):
            return "keep until they are replayed"
        if isinstance(kernel, Expire | Messages):
            return "kept until it ends"
        if isinstance(kernel, Spanning):
            return SPANNING_KEEP
        return _of_operations(declarations[kernel.source])
    store = _store(node, area)
    if store is not None:
        return keep_text(store)
    if area in _OF_TRIGGERED:
        return _OF_TRIGGERED[area]
    kind = area.rstrip("0123456789")
    if kind in _OF_GROUPS and not operator.facts:
        return _OF_GROUPS[kind]
    if area in INPUTS:
        return "keep nothing"
    return "" if node.emitted is None else str(node.emitted)


def _store(node: Node | None, area: str) -> Store | None:
    if node is None:
        return None
    place = INPUTS.get(area)
    return next((store for store in node.stores if store.input == place), None)


def _of_operations(declaration: Declaration) -> str:
    """Operations of a key are kept until the horizon has passed them."""
    retain = declaration.retain_us if declaration.late is Late.REVISE else 0
    waits = (
        After(Var("", p.attribute), Progress(bound_of(declaration, p.attribute), -retain))
        for p in declaration.promises
        if not p.arrival
    )
    text = f"keep while {Keep((tuple(waits),))}"
    changing = isinstance(declaration, TableDeclaration)
    return f"{text}, and the version that is valid then" if changing else text


def _final(analysis: Analysis) -> Store | None:
    """What waits to be final."""
    return next(iter(analysis.held), None)


def _gone(store: Store | None, segments: Sequence[Segment]) -> str:
    """The progress at which nothing is left of what is there, if that is by its ends alone."""
    from ebbtide.core.time import format_instant

    rule = None if store is None else store.rule
    last = max(segment.to_max for segment in segments)
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
