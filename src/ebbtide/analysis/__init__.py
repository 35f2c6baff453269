"""What the compiler proves about a plan: keys, monotonicity, temporal facts and the verdict.

    analyse(plan, emit) -> Analysis              verdict, key, class, and facts of every node
    check(plan, emit, allow_unbounded)           the same; refuses what may not run
    explain(plan, emit, rates) -> Explanation    text, theory and JSON

What is proved is about the plan as it is given; ``optimizer.optimise`` makes the one that runs.
Everything here is plain Python; it runs no query and reads no data.
"""

from ebbtide.algebra.emission import Emit
from ebbtide.analysis.analysis import Node
from ebbtide.analysis.explain import Explanation, explain
from ebbtide.analysis.finality import Finality, When
from ebbtide.analysis.size import Size
from ebbtide.analysis.stores import Store
from ebbtide.analysis.verdict import Analysis, State, Verdict, analyse, check

__all__ = [
    "Analysis",
    "Emit",
    "Explanation",
    "Finality",
    "Node",
    "Size",
    "State",
    "Store",
    "Verdict",
    "When",
    "analyse",
    "check",
    "explain",
]
