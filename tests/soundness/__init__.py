"""Judging what the analysis claims, by runs of the reference.

Each judge takes a plan as it runs and the steps of a run, and gives the first claim that the run
refutes, or None.
"""

from collections.abc import Callable

from hypothesis import settings
from hypothesis import strategies as st

from ebbtide.algebra.emission import Emit
from ebbtide.algebra.relation import ChangingTable, Relation, StaticTable, Stream
from ebbtide.analysis.analysis import Node, examine
from ebbtide.analysis.finality import When
from ebbtide.analysis.formula.progress import Bound, evaluate
from ebbtide.analysis.formula.streambound import propagated
from ebbtide.analysis.keep_rules import behind
from ebbtide.analysis.monotonicity import Class
from ebbtide.analysis.temporal.edge import FROM
from ebbtide.analysis.temporal.sources import retentions
from ebbtide.analysis.verdict import analyse, passing_node
from ebbtide.config import Config
from ebbtide.core.change import Change, consolidate, restrict
from ebbtide.core.interval import Interval
from ebbtide.core.time import INF, NEG_INF
from ebbtide.core.tree import find
from ebbtide.optimizer import optimise
from simulation import Keep, Simulation
from strategies import plans
from strategies.arrivals import PROMISED, Step, runs
from strategies.timed import timed_plans

Judge = Callable[[Relation, list[Step]], str | None]

thorough = settings(
    max_examples={"quick": 10, "ci": 24, "long": 2000}[Config.from_environment().profile]
)
"""How many cases each of the five properties of soundness gets: 10,000 in all in a long run."""


@st.composite
def cases(draw: st.DrawFn, late: bool = True, depth: int = 3) -> tuple[Relation, list[Step]]:
    """A plan as it runs, and a run of what it reads."""
    plan = optimise(draw(st.one_of(timed_plans(PROMISED), plans(PROMISED, depth))))
    read = {leaf for kind in (Stream, StaticTable, ChangingTable) for leaf in find(plan, kind)}
    sources = [source for source in PROMISED if source in read]
    return plan, draw(runs(sources, late=late)) if sources else []


def frontiers(step: Step) -> dict[Bound, int]:
    """How far the inputs have come after a step."""
    return {Bound(*name): value for name, value in step.progress.items()}


def collecting(root: Node, progress: dict[Bound, int]) -> Keep:
    """The rules of a plan, under some frontiers, for the reference to forget by."""
    rules = {(node.path, kept.input): kept.rule for node in root.walk() for kept in node.kept}

    def keep(path, node, stored):
        return tuple(
            rules[path, i].kept(changes, progress) if (path, i) in rules else changes
            for i, changes in enumerate(stored)
        )

    return keep


def forgetting_changes_nothing(plan: Relation, steps: list[Step]) -> str | None:
    """What the keep rules drop never changes any later output."""
    root = examine(plan)
    full, collected = Simulation(plan), Simulation(plan)
    for number, step in enumerate(steps):
        wanted = full.step(step.arrived, step.now)
        got = collected.step(step.arrived, step.now, collecting(root, frontiers(step)))
        if wanted != got:
            return f"step {number}: {got} instead of {wanted}"
    return None


def progress_is_never_ahead(plan: Relation, steps: list[Step]) -> str | None:
    """No output comes at or below the propagated horizon that stood before its step."""
    edge, retain = examine(plan).edge, retentions(plan)
    places = {v: i for i, v in edge.columns.items()}
    if edge.is_snapshot:
        places[FROM] = None
    values = {v: behind(propagated(v, edge.facts, edge.bounds), retain) for v in places}
    simulation, before = Simulation(plan), None
    for number, step in enumerate(steps):
        for change in simulation.step(step.arrived, step.now):
            for variable, place in places.items() if before is not None else ():
                reached = evaluate(values[variable], before)
                time = change.valid_from if place is None else change.row[place]
                if time is not None and reached > NEG_INF and time <= reached:
                    return f"step {number}: {change} though {variable} had come to {reached}"
        before = frontiers(step)
    return None


def what_has_passed_stays(plan: Relation, steps: list[Step]) -> str | None:
    """Rows that were final after a step are the same, no more and no less, at the end."""
    root = passing_node(examine(plan))
    simulation, output, seen = Simulation(root.relation), [], []
    for step in steps:
        output.extend(simulation.step(step.arrived, step.now))
        seen.append((frontiers(step), consolidate(output)))
    end = consolidate(output)
    for number, (progress, shown) in enumerate(seen):
        then, now = _final(root, shown, progress), _final(root, end, progress)
        if root.finality.when is When.AT_ONCE:
            if any(change.diff < 0 for change in consolidate([*end, *map(_minus, shown)])):
                return f"step {number}: a row of {shown} is gone in {end}"
        elif then != now:
            return f"step {number}: {then} were final and became {now}"
    return None


def classes_keep_their_definitions(plan: Relation, steps: list[Step]) -> str | None:
    """Only strict relations have negative changes; rows of a weakest one stay equally long."""
    monotonicity = examine(plan).monotonicity
    if monotonicity.value is Class.STRICT:
        return None
    simulation = Simulation(plan)
    for number, step in enumerate(steps):
        changes = simulation.step(step.arrived, step.now)
        if any(change.diff < 0 for change in changes):
            return f"step {number}: {changes} on a {monotonicity} edge"
        lifetime = monotonicity.lifetime_us
        if lifetime is not None and any(change.valid_to == INF for change in changes):
            return f"step {number}: {changes} stay for ever, not for {lifetime}"
        if lifetime is not None:
            total = sum((c.valid_to - c.valid_from) * c.diff for c in changes)
            if total % lifetime:
                return f"step {number}: {changes} do not stay for {lifetime}"
    return None


def _final(root: Node, changes: tuple[Change, ...], progress: dict[Bound, int]):
    finality = root.finality
    if root.edge.is_snapshot and finality.when is When.BY_PROGRESS:
        (_, value), *_ = finality.progress
        reached = evaluate(value, progress)
        if reached <= NEG_INF:
            return ()
        return consolidate(restrict(changes, Interval(NEG_INF, min(INF, reached + 1))))
    return tuple(change for change in changes if finality.passes(change, progress))


def _minus(change: Change) -> Change:
    return -change


def final_loses_nothing(plan: Relation, steps: list[Step]) -> str | None:
    """What EMIT FINAL has shown and what it still holds is the answer; nothing is taken back."""
    analysis = analyse(plan, Emit.FINAL)
    finality = analysis.verdict.finality
    if finality.when is When.NEVER:
        return None
    root = passing_node(analysis.root)
    simulation, held, shown, output = Simulation(root.relation), (), [], []
    for number, step in enumerate(steps):
        arrived = simulation.step(step.arrived, step.now)
        output.extend(arrived)
        held, progress = consolidate([*held, *arrived]), frontiers(step)
        passed = [change for change in held if finality.passes(change, progress)]
        if any(change.diff < 0 for change in passed):
            return f"step {number}: {passed} take back what was final"
        shown += passed
        held = analysis.held[0].rule.kept(held, progress) if analysis.held else ()
        if consolidate([*shown, *held]) != consolidate(output):
            return f"step {number}: {shown} and {held} are not {consolidate(output)}"
    return None
