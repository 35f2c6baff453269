"""Which structure holds the rows of a store: the class of its edge picks it.

Law: on edges of the weakest class rows leave in the order in which they begin, on weak ones at ends
that are known when they come; on others a row may be taken back, or never leaves.  Where expiry
comes as negative rows, or late, ends are not known either.  What an operator passes on without
holding it needs no structure.
"""

from __future__ import annotations

from ebbtide.analysis.analysis import Node
from ebbtide.analysis.monotonicity import Class
from ebbtide.core.expiry import Expiry, Strategy
from ebbtide.core.structure import Structure

_OF_CLASS = {Class.WEAKEST: Structure.FIFO, Class.WEAK: Structure.BY_END}


def structures_of(node: Node, expiry: Expiry) -> tuple[Structure, ...]:
    """The structures that hold what an operator stores of its inputs."""
    return tuple(structure_of(source, expiry) for source in node.inputs)


def structure_of(source: Node, expiry: Expiry) -> Structure:
    """The structure that holds what is stored of an edge."""
    if not source.edge.is_snapshot or expiry.strategy is not Strategy.INTERVAL:
        return Structure.BY_KEY
    return _OF_CLASS.get(source.monotonicity.value, Structure.BY_KEY)
