"""Whether what is proved can be run: asked before anything starts.

Law: the compiler alone decides.  It brings the kernels along, which take a second to load, so plans
that nothing of it has ever refused are not put to it here.
"""

from __future__ import annotations

from ebbtide.algebra.ranking import Over
from ebbtide.algebra.relation import Aggregate, Alias, Filter, Stream, View
from ebbtide.algebra.window import Window
from ebbtide.analysis import Analysis
from ebbtide.analysis.analysis import Node

__all__ = ["check_built"]


def check_built(name: str, analysis: Analysis) -> None:
    """Refuses a query that the compiler cannot make a physical plan of."""
    if all(map(_is_plain, analysis.nodes())):
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
