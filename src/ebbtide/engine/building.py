"""Whether what is proved can be run: asked before anything starts.

Law: the compiler alone decides.  It brings the kernels along, which take a second to load, so plans
that nothing of it has ever refused are not put to it here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ebbtide.algebra.emission import Emit
from ebbtide.algebra.ranking import Over
from ebbtide.algebra.relation import Aggregate, Alias, Filter, Relation, Stream, View
from ebbtide.algebra.window import Window
from ebbtide.analysis import Analysis, Explanation, analyse
from ebbtide.analysis.analysis import Node
from ebbtide.analysis.explain import explained
from ebbtide.analysis.outlook import Rates
from ebbtide.analysis.replay import reaches_back
from ebbtide.core.expiry import BY_INTERVAL, Expiry
from ebbtide.core.tree import find
from ebbtide.errors import UnsupportedError

__all__ = ["check_built", "explain_built", "explained_built"]


def explain_built(
    plan: Relation,
    emit: Emit = Emit.CHANGES,
    rates: Rates | None = None,
    expiry: Expiry = BY_INTERVAL,
    lineage: Analysis | None = None,
) -> Explanation:
    """What is proved about a plan, and how its old rows are replayed."""
    analysis = replace(analyse(plan, emit, expiry=expiry), lineage=lineage)
    return explained_built(analysis, rates)


def explained_built(
    analysis: Analysis, rates: Rates | None = None, skipped: Sequence[Filter] = ()
) -> Explanation:
    """What an analysis says, and how old rows are replayed: that the compiler knows."""
    sources = {found.declaration for found in find(analysis.plan, Stream)}
    if not any(map(reaches_back, sources)):
        return explained(analysis, rates, skipped)
    from ebbtide.compile.lowering import lower
    from ebbtide.compile.slices import replay_text

    try:
        lowered = lower({"query": analysis})
    except UnsupportedError:
        return explained(analysis, rates, skipped)
    replays = replay_text(lowered.physical, lowered.declarations, output=0)
    return explained(analysis, rates, skipped, replays)


def check_built(name: str, analysis: Analysis) -> None:
    """Refuses a query that the compiler cannot make a physical plan of."""
    if analysis.lineage is None and all(map(_is_plain, analysis.nodes())):
        return
    from ebbtide.compile.lowering import lower

    lower({name: analysis})


def _is_plain(node: Node) -> bool:
    relation = node.relation
    if isinstance(relation, Over):
        return False
    if isinstance(relation, Aggregate):
        return all(len(named.call.arguments) < 2 for named in relation.calls)
    if isinstance(relation, Window):
        below = relation.input
        while isinstance(below, Alias | Filter | View):
            below = below.input
        return isinstance(below, Stream)
    return True
