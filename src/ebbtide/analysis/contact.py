"""Which stored changes a change to come can touch: the keep conditions that follow from time.

Law: a change ``y`` that comes later reads a stored change ``x`` only if it *touches* it.  In a join
that is a partner; in an operator on groups, rows or partitions it is a member of the same one; and
where a row is re-derived from its partners (semi, anti and outer joins), it is also a partner of a
partner.  ``x`` is kept iff some ``y`` beyond the horizon can touch it: clause (i) of the keep
condition and, for partners of partners, clause (iii).

What is stored may have been cut, or merged with others of the same row, since it was made.  At the
instant at which it is touched it is part of some change ``x`` that has its row, of which all facts
are true; of its own interval only this is used: the instant lies before its end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

from ebbtide.analysis.formula.conditions import Keep, keeping, unbounded_by
from ebbtide.analysis.formula.dnf import Dnf
from ebbtide.analysis.formula.formula import Formula, both, compare
from ebbtide.analysis.formula.progress import Bound
from ebbtide.analysis.formula.streambound import Bounded, Clause
from ebbtide.analysis.formula.terms import Var
from ebbtide.analysis.temporal.edge import TO, Copy, Edge, conjoined
from ebbtide.core.time import Duration

AT = Var("~", "touched")


@dataclass(frozen=True, slots=True)
class Touch:
    """When a stored change can still be touched, and which clauses nothing of it bounds."""

    keep: Keep = field(default_factory=lambda: Keep(()))
    missing: tuple[Clause, ...] = ()

    def either(self, other: Touch) -> Touch:
        """Touched in one way or another."""
        missing = tuple(dict.fromkeys((*self.missing, *other.missing)))
        return Touch(self.keep.either(other.keep), missing)


NOT_TOUCHED = Touch()


def touched(
    x: Copy,
    y: Copy,
    together: Formula,
    retain: Mapping[Bound, Duration],
    through: Sequence[Copy] = (),
) -> Touch:
    """When ``x`` can still be touched by ``y``, by way of rows that are there too."""
    present = (x, y, *through)
    facts = conjoined(present).where(both(*(copy.covers(AT) for copy in present)))
    if x.edge.is_snapshot:
        facts = facts.where(compare(AT, "<", TO))
    touch = _judged(x, y, facts.where(together).rename(_shown(x)), retain)
    if not x.edge.is_snapshot:
        return touch
    # What only says that the intervals overlap is said by `to` already.
    overlap = keeping(stored_variables(x.edge), facts.rename(_shown(x)), y.bounds, retain)
    return Touch(_without(touch.keep, overlap), touch.missing)


def met(x: Copy, y: Copy, together: Formula, retain: Mapping[Bound, Duration]) -> Touch:
    """As ``touched``, also where ``y`` begins just when ``x`` ends."""
    facts = conjoined((x, y)).where(together)
    if x.edge.is_snapshot:
        facts = facts.where(compare(y.valid_from, "<=", TO))
    return _judged(x, y, facts.rename(_shown(x)), retain)


def stored_variables(edge: Edge) -> tuple[Var, ...]:
    """The times by which a stored change is judged."""
    return (*edge.columns.values(), *((TO,) if edge.is_snapshot else ()))


def _without(keep: Keep, known: Keep) -> Keep:
    idle = {part for case in known.cases for part in case if part.variable != TO}
    cases = (
        tuple(part for part in case if part not in idle)
        if any(part.variable == TO for part in case)
        else case
        for case in keep.cases
    )
    return reduce(Keep.either, (Keep((case,)) for case in cases), Keep(()))


def _shown(x: Copy) -> dict[Var, Var]:
    return {x.names[variable]: variable for variable in x.edge.columns.values()}


def _judged(x: Copy, y: Copy, facts: Dnf, retain: Mapping[Bound, Duration]) -> Touch:
    stored = stored_variables(x.edge)
    inside = {name: variable for variable, name in y.names.items()}
    missing = (
        tuple(Bounded(inside.get(atom.variable, atom.variable), atom.bound) for atom in clause)
        for clause in unbounded_by(stored, facts, y.bounds)
    )
    return Touch(keeping(stored, facts, y.bounds, retain), tuple(missing))
