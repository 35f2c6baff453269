"""The inputs that a row of an answer comes from.

Law: with the frontiers held fixed, deleting all inputs that are named removes the row, unless the
answer has it over nothing (an aggregate without GROUP BY); and deleting any that are not named does
not change how often it is there.

The second half is what the goals give: the walk begins with the row, each operator says which goals
below keep it as it is, and the sources name what meets them.  For the first half the walk is
repeated without the inputs that are named: if the row is there again, others have brought it forth,
and they are named, too (``Role.INSTEAD``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ebbtide.algebra.relation import Relation
from ebbtide.core.change import Change
from ebbtide.core.time import INF, Instant
from ebbtide.core.values import Row, row_key
from ebbtide.lineage.goals import Absence, Asking, Cause, Goal, Role
from ebbtide.lineage.snapshots import Snapshots


@dataclass(frozen=True, slots=True)
class Lineage:
    """What a row comes from: inputs, each with its role, and conditions that nothing met."""

    causes: tuple[Cause, ...] = ()
    absences: tuple[Absence, ...] = ()


def why(
    plan: Relation,
    inputs: Mapping[str, Sequence[Change]],
    row: Row,
    at: Instant,
    now: Instant = INF,
) -> Lineage:
    """What a row of a plan's answer at an instant comes from; nothing if it is not there.

    ``inputs`` has the accepted changes of every source, by its name.
    """
    left = {name: tuple(changes) for name, changes in inputs.items()}
    causes: dict[tuple[str, Change], Cause] = {}
    absences: dict[Absence, None] = {}
    while True:
        world = Snapshots.of(plan, left, now)
        if not world.rows(plan, at)[row]:
            break
        found, denied = _walk(world, Goal(plan, row, world.instant(plan, at), Role.SOURCE))
        if not found:
            absences |= dict.fromkeys(denied) if not causes else {}
            break
        if not causes:
            absences |= dict.fromkeys(denied)
        else:
            found = {key: Cause(*key, Role.INSTEAD) for key in found}
        causes |= found
        left = {
            name: tuple(change for change in changes if (name, change) not in causes)
            for name, changes in left.items()
        }
    return Lineage(tuple(sorted(causes.values(), key=_place)), tuple(absences))


def _walk(world: Snapshots, goal: Goal) -> tuple[dict[tuple[str, Change], Cause], list[Absence]]:
    """All that is asked for from a goal on: inputs, and what was denied."""
    order = list(Role)
    causes: dict[tuple[str, Change], Cause] = {}
    absences: dict[Absence, None] = {}
    seen: set[tuple[int, Row, Instant, Role]] = set()
    pending = [goal]
    while pending:
        asked = pending.pop()
        key = (id(asked.node), asked.row, asked.at, asked.role)
        if key in seen:
            continue
        seen.add(key)
        for answer in Asking(world, asked).answers():
            match answer:
                case Goal():
                    pending.append(answer)
                case Absence():
                    absences[answer] = None
                case Cause():
                    named = (answer.source, answer.change)
                    known = causes.get(named)
                    if known is None or order.index(answer.role) < order.index(known.role):
                        causes[named] = answer
    return causes, list(absences)


def _place(cause: Cause) -> tuple[object, ...]:
    change = cause.change
    role = list(Role).index(cause.role)
    return role, cause.source, change.valid_from, change.valid_to, row_key(change.row)
