"""The verdict on a query: when its rows are final, and how much state it needs.

Law: EMIT FINAL and EMIT CHANGES WITH FINALITY need an answer that is final at some time; EMIT
CHANGES does not.  State that
grows for ever needs the user's consent.  What is refused is refused with the operator, the input,
the missing bound and words that put it right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ebbtide.algebra.emission import Emit
from ebbtide.algebra.relation import Alias, Filter, Map, Relation, View
from ebbtide.analysis import advice
from ebbtide.analysis.analysis import Node, Path, examine
from ebbtide.analysis.begun import Beginning, beginning
from ebbtide.analysis.expiry import check_expiry
from ebbtide.analysis.finality import Finality, When
from ebbtide.analysis.idle_inputs import Waiting, waiting
from ebbtide.analysis.keep import held_back
from ebbtide.analysis.keys import Keys
from ebbtide.analysis.monotonicity import Monotonicity
from ebbtide.analysis.size import Size, begins_however_late
from ebbtide.analysis.stores import Store, held_store
from ebbtide.core.expiry import BY_INTERVAL, Expiry
from ebbtide.core.html import facts_html
from ebbtide.errors import Span, TemporalError


@dataclass(frozen=True, slots=True)
class State:
    """How much is stored in the worst place, and where that is; the last stage has no path."""

    size: Size
    reason: str = ""
    path: Path | None = None
    input: int | None = None

    def __str__(self) -> str:
        return f"{self.size}: {self.reason}" if self.reason else str(self.size)


@dataclass(frozen=True, slots=True)
class Verdict:
    """When rows are final, how much state is needed, and which rows a quiet source holds up."""

    finality: Finality
    state: State
    waiting: tuple[Waiting, ...] = ()

    def __str__(self) -> str:
        return "; ".join([str(self.finality), f"state {self.state}", *map(str, self.waiting)])

    def _repr_html_(self) -> str:
        waiting = [("waits", each) for each in self.waiting]
        return facts_html("Verdict", [("final", self.finality), ("state", self.state), *waiting])


@dataclass(frozen=True, slots=True)
class Analysis:
    """What is proved about a query; ``plan`` is what it was proved of, and has to run.

    ``held`` is what waits to be final, of the output of ``passing_node(root)``.
    """

    plan: Relation
    emit: Emit
    root: Node
    held: tuple[Store, ...]
    verdict: Verdict
    watched: tuple[Node, ...] = ()
    """What runs beside the plan for what its guards leave out alone."""
    expiry: Expiry = BY_INTERVAL
    """How its operators learn that rows have expired."""
    lineage: Analysis | None = None
    """What is proved of the plan that stores the lineage of its rows, if that is asked for."""

    @property
    def beginning(self) -> Beginning:
        """Whether changes of the answer may begin after ``now``, so that they are held until then.

        Under EMIT FINAL they are among the rows that are not final.
        """
        if self.held and self.emit is Emit.FINAL:
            return Beginning.BEGUN
        return beginning(self.plan)

    @property
    def key(self) -> tuple[str, ...] | None:
        """The smallest candidate key of the answer; None if rows may repeat."""
        names = self.keys.names(self.plan.schema)
        return names[0] if names else None

    @property
    def keys(self) -> Keys:
        """All that is known of the answer's keys."""
        return self.root.keys

    @property
    def monotonicity(self) -> Monotonicity:
        """How rows leave the answer."""
        return self.root.monotonicity

    def nodes(self) -> Iterator[Node]:
        """All nodes, the root first."""
        return self.root.walk()


def analyse(
    plan: Relation,
    emit: Emit = Emit.CHANGES,
    watched: tuple[Relation, ...] = (),
    expiry: Expiry = BY_INTERVAL,
) -> Analysis:
    """What is proved about a plan, and about those that run beside it."""
    root = examine(plan)
    held: tuple[Store, ...] = ()
    if emit.needs_finality and root.finality.when is When.BY_PROGRESS:
        node = passing_node(root)
        store = held_store(node, held_back(node.edge, node.finality.waits))
        held = () if store is None else (store,)
    verdict = Verdict(root.finality, _state(root, held), waiting(root))
    return Analysis(plan, emit, root, held, verdict, tuple(map(examine, watched)), expiry)


def check(
    plan: Relation,
    emit: Emit = Emit.CHANGES,
    allow_unbounded: bool = False,
    place: Callable[[Relation], Span | None] = lambda _: None,
    watched: tuple[Relation, ...] = (),
    expiry: Expiry = BY_INTERVAL,
) -> Analysis:
    """The analysis of a plan that may run; others are refused.

    ``place`` says where an operator of the plan stands in the text.
    """
    analysis = analyse(plan, emit, watched, expiry)
    verdict = analysis.verdict
    if emit.needs_finality and verdict.finality.when is When.NEVER:
        raise TemporalError(
            "never-final",
            f"rows of {advice.name_of(analysis.plan)} are never final",
            detail=verdict.finality.reason,
            hint=advice.to_be_final(analysis.root, emit),
            span=place(advice.breaking(analysis.root).relation),
        )
    late = begins_late(analysis.root)
    if late is not None and not allow_unbounded:
        raise TemporalError(
            "unbounded-state",
            f"any number of rows of {advice.name_of(analysis.plan)} may wait until they begin",
            detail="nothing bounds when they begin by a time that progresses",
            hint="bound it, as in AND opens <= at + INTERVAL 1 DAY; if it is computed, "
            "do that in a query in FROM, and bound its column",
            span=place(late.relation),
        )
    if verdict.state.size is Size.UNBOUNDED and not allow_unbounded:
        if verdict.state.path is None:
            raise TemporalError(
                "unbounded-state",
                f"rows of {advice.name_of(analysis.plan)} would be held for ever",
                detail="they never end, so they are never final",
                hint=f"leave out {advice.asked(emit)}",
            )
        raise _kept_for_ever(*worst(analysis.root), place)
    for root in () if allow_unbounded else analysis.watched:
        if _state(root, ()).size is Size.UNBOUNDED:
            raise _kept_for_ever(*worst(root), place)
    for root in (analysis.root, *analysis.watched):
        check_expiry(root, expiry, emit, allow_unbounded)
    return analysis


def _kept_for_ever(
    node: Node, store: Store, place: Callable[[Relation], Span | None]
) -> TemporalError:
    return TemporalError(
        "unbounded-state",
        f"{advice.keeper(node)} would keep every row for ever",
        detail=advice.missing_bound(node, store),
        hint=advice.to_forget(node, store),
        span=place(node.relation),
    )


def passing_node(root: Node) -> Node:
    """The node whose rows are held until they pass."""
    node = root
    for _ in range(root.finality.depth):
        (node,) = node.inputs
    return node


def begins_late(root: Node) -> Node | None:
    """A node whose rows are held until they begin, however late that is.

    They are held for the answer, or by the operator above, which has accumulators or counts in the
    place of rows only once these have begun.
    """
    above = (node for node in root.walk() if not isinstance(node.relation, _PASSING))
    taken = [root, *(below for node in above for below in node.inputs)]
    return next((late for node in taken if (late := _waits_to_begin(node))), None)


_PASSING = (Filter, Map, Alias, View)


def _waits_to_begin(node: Node) -> Node | None:
    """The condition on NOW() that makes rows of a node wait, below what passes them on."""
    while isinstance(node.relation, _PASSING):
        relation = node.relation
        if isinstance(relation, Filter | Map) and relation.depends_on_now:
            late = begins_however_late(relation, node.edge, node.inputs[0].size)
            return node if late else None
        (node,) = node.inputs
    return None


def worst(root: Node) -> tuple[Node, Store]:
    """The place where most is stored: the lowest operator, where there are several."""
    found = [(node, store) for node in root.walk() for store in node.stores]
    return max(found, key=lambda pair: (pair[1].size, bool(pair[0].inputs), len(pair[0].path)))


def _state(root: Node, held: tuple[Store, ...]) -> State:
    stores = any(node.stores for node in root.walk())
    if held and (not stores or held[0].size > worst(root)[1].size):
        return State(held[0].size, "rows wait until they are final")
    if begins_late(root) is not None:
        return State(Size.UNBOUNDED, "rows wait until they begin")
    if not stores:
        return State(Size.NONE)
    node, store = worst(root)
    return State(store.size, advice.what_is_stored(node, store), node.path, store.input)
