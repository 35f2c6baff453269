"""How the rows of an answer leave a view: by which kernel, and by which times.

Law: the kernel of an output holds back what the view does not say yet; what is proved of when rows
begin and when they are final chooses it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ebbtide.algebra.emission import Emit
from ebbtide.algebra.relation import Relation
from ebbtide.analysis.begun import Beginning, beginning
from ebbtide.analysis.finality import When
from ebbtide.analysis.temporal.edge import TO
from ebbtide.analysis.verdict import Analysis, passing_node
from ebbtide.compile.physical import StoreRule
from ebbtide.core.schema import Column, Schema
from ebbtide.core.types import TIMESTAMP
from ebbtide.kernels.kernel import Kernel
from ebbtide.kernels.operators.final import AtOnce, Final
from ebbtide.kernels.operators.held import Held
from ebbtide.state.segment import ENDS


@dataclass(frozen=True, slots=True)
class Passing:
    """How rows leave a view: by which kernel and rule, and where the times of that rule are.

    They pass ``depth`` nodes below the root, by columns there that are ``hidden`` above.
    """

    kernel: Kernel
    waits: StoreRule | None = None
    depth: int = 0
    hidden: tuple[int, ...] = ()
    spans: bool = False
    """Whether they pass a Spanning before."""

    @property
    def gathers(self) -> bool:
        """Whether equal rows have to meet before: those whose segments wait."""
        return isinstance(self.kernel, Final) and self.kernel.segments

    def given(self, schema: Schema) -> Schema:
        """The columns of an answer, and those that are hidden."""
        times = (Column(f"passes{i}", TIMESTAMP, True, "passing") for i in range(len(self.hidden)))
        return Schema((*schema.columns, *times))


def passing_of(analysis: Analysis) -> Passing:
    """How the rows of a view pass: by what is proved of when they are final."""
    emit, root = analysis.emit, analysis.root
    held, spans = holding((root.relation,))
    if emit is Emit.CHANGES:
        return Passing(held, spans=spans)
    told = emit is Emit.CHANGES_WITH_FINALITY
    if root.finality.when is not When.BY_PROGRESS:
        return Passing(AtOnce(held, told), spans=spans)
    depth, node = root.finality.depth, passing_node(root)
    columns = {variable: place for place, variable in node.finality.columns}
    named = [columns[part.variable] for part in node.finality.waits if part.variable != TO]
    hidden = tuple(named) if depth else ()
    width = len(root.relation.schema)
    case = tuple(
        (_place(columns.get(part.variable), hidden, width), part.value)
        for part in node.finality.waits
    )
    segments = node.edge.is_snapshot
    # Of a changing relation nothing is known after now, however far its times have come.
    rule = StoreRule((case,), turning=1 if segments else None)
    early = held if told else None
    return Passing(Final(segments, len(hidden), early), rule, depth, hidden, told and spans)


def holding(plans: Iterable[Relation]) -> tuple[Held, bool]:
    """What holds back what begins after ``now`` of some plans, and whether a Spanning does."""
    found = set(map(beginning, plans))
    spans = Beginning.CHANGING in found or len(found) > 1
    return Held(spans or Beginning.BEGUN in found), spans


def _place(column: int | None, hidden: tuple[int, ...], width: int) -> int:
    """Where the time of a pass rule is in a row that waits."""
    if column is None:
        return ENDS
    return width + hidden.index(column) if hidden else column
