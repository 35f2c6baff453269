"""Lineage: the inputs that a row of an answer comes from, through every operator.

A plan is walked from the row at its top down to the sources, over the snapshots of the inputs.
``why`` is the door; ``goals`` has what each operator asks of its inputs, ``emerging`` the rows that
would be there if inputs were not, ``snapshots`` the rows that are there.

It asks the reference evaluator what is there, so it says why the right answer is right; it knows
nothing of how the engine keeps its state.
"""

from ebbtide.lineage.goals import Cause, Role
from ebbtide.lineage.reach import Needed, needed_since
from ebbtide.lineage.why import Lineage, why

__all__ = ["Cause", "Lineage", "Needed", "Role", "needed_since", "why"]
