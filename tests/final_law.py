"""Programs in this process under EMIT FINAL and CHANGES WITH FINALITY, held to their law.

After every step what has left is that part of the reference's answer whose pass condition holds,
by the frontiers of the naive admission: no row earlier, none later, none twice.  What is told of a
row beside it is the law of EMIT CHANGES.  Only a late row brings a revision.  Rows on which an
expression fails are left out of all that, and are told as the reference tells them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from tempfile import TemporaryDirectory

from tests.histories import Fed, History, Oracle, declarations_of
from tests.in_process import InProcess
from tests.law import assert_answer, assert_errors
from tests.stores import Program, Version, assert_kept

from ebbtide.algebra.emission import Emit
from ebbtide.algebra.quarantine import OnError
from ebbtide.algebra.relation import Relation, Values
from ebbtide.analysis import Analysis, When, analyse
from ebbtide.analysis.formula.progress import Bound
from ebbtide.analysis.formula.progress import evaluate as value_at
from ebbtide.analysis.temporal.edge import FROM
from ebbtide.analysis.verdict import passing_node
from ebbtide.core.admission.refusal import refusal, stamped, times_of
from ebbtide.core.change import Change, consolidate, end_points, snapshot
from ebbtide.core.declaration import Declaration
from ebbtide.core.frontier import InputFrontier, first_frontier
from ebbtide.core.output_name import errors_name
from ebbtide.core.time import INF, Instant
from ebbtide.core.tree import rewrite
from ebbtide.optimizer import prepared
from ebbtide.reference import evaluate


@dataclass
class Told:
    """All that a view has said so far, without its marks."""

    changes: tuple[Change, ...] = ()

    def take(self, emitted: Sequence[Change], emit: Emit, late: bool) -> None:
        """Adds what a step emitted, whose rows end with their marks."""
        for change in emitted:
            *row, revision = change.row
            final = emit is Emit.FINAL or row[-1]
            assert late or not revision, f"{change} is a revision, and nothing was late"
            if final and not revision:
                assert change.diff > 0, f"{change} takes back what was final"
        without = tuple(replace(change, row=change.row[:-1]) for change in emitted)
        self.changes = consolidate((*self.changes, *without))

    def final(self, emit: Emit) -> tuple[Change, ...]:
        """What is said to be final."""
        if emit is Emit.FINAL:
            return self.changes
        return without_last(change for change in self.changes if change.row[-1])


def held_to_finality(
    queries: Sequence[tuple[Relation, Emit]],
    steps: Sequence[Mapping[str, Fed]],
    shards: int,
    clocks: Sequence[Instant] | None = None,
    cuts: Sequence[int] = (),
) -> int:
    """How many final rows the views of a program have told, with every step and store judged.

    Rows of sources that no query reads are passed over.  ``cuts`` are other numbers of shards, into
    which the state is cut before the first steps.
    """
    plans = {f"v{i}": plan for i, (plan, _) in enumerate(queries)}
    views = {f"v{i}": _analysed(plan, emit) for i, (plan, emit) in enumerate(queries)}
    assert not any(a.verdict.finality.when is When.NEVER for a in views.values())
    declarations = {d.name: d for plan, _ in queries for d in declarations_of(plan)}
    oracle = Oracle.of(list(declarations.values()))
    program = Program.of(views)
    told = {view: Told() for view in views}
    left_out: dict[str, tuple[Change, ...]] = dict.fromkeys(views, ())
    with TemporaryDirectory() as root:
        one = InProcess(program.lowered, f"{root}/collecting", shards)
        other = InProcess(program.lowered, f"{root}/hoarding", shards, collects=False)
        for number, every in enumerate(steps):
            fed = {name: came for name, came in every.items() if name in declarations}
            if number < len(cuts):
                one.rescale(cuts[number])
                other.rescale(cuts[number])
            clock = None if clocks is None else clocks[number]
            late = is_late(oracle, fed, clock)
            oracle.take(fed, clock)
            manifest, hoarded = one.step(fed, clock), other.step(fed, clock)
            for view, analysis in views.items():
                emitted = one.emitted(manifest, view)
                assert consolidate(other.emitted(hoarded, view)) == consolidate(emitted)
                told[view].take(emitted, analysis.emit, late)
                now = manifest.record.nows[view]
                meant = evaluate(plans[view], oracle.accepted, now)
                assert evaluate(analysis.plan, oracle.accepted, now, OnError.FAIL) == meant
                if analysis.emit is Emit.CHANGES_WITH_FINALITY:
                    early = without_last(told[view].changes)
                    assert_answer(plans[view], early, meant, now)
                assert_final(analysis, told[view].final(analysis.emit), meant, oracle, now)
                if (left := errors_name(view)) in manifest.record.output:
                    emitted = one.emitted(manifest, left)
                    left_out[view] = consolidate((*left_out[view], *emitted))
                    assert_errors(plans[view], left_out[view], oracle, now)
            assert_kept(program, Version(one.root, manifest), Version(other.root, hoarded), oracle)
    return sum(c.diff for view, a in views.items() for c in told[view].final(a.emit))


def _analysed(plan: Relation, emit: Emit) -> Analysis:
    """What is proved of a plan as it runs: with its guards."""
    runs = prepared(plan)
    return analyse(runs.plan, emit, watched=runs.watched)


def assert_final(
    analysis: Analysis,
    left: Iterable[Change],
    meant: Sequence[Change],
    oracle: Oracle,
    now: Instant,
) -> None:
    """That what has left is the part of the answer that is final, by what is proved of it.

    A segment that ends right after ``now`` may leave or wait: what begins after ``now`` and ends
    it is known to the operator that made it, and not yet to those above.
    """
    root, left = analysis.root, tuple(left)
    answer = consolidate(meant)
    if root.finality.when is When.AT_ONCE:
        begun = tuple(c for c in answer if c.valid_from <= now)
        assert consolidate(left) == begun if not root.edge.is_snapshot else _is_part(left, answer)
        return
    if not root.edge.is_snapshot:
        assert consolidate(left) == _final_facts(analysis, answer, oracle, now)
        return
    assert _is_part(left, answer), f"{left} is not part of {answer}"
    ((variable, value),) = root.finality.progress
    assert variable == FROM
    passed = min(value_at(value, progress_of(oracle)), now)
    for change in left:
        assert change.valid_to - 1 <= passed or passed == INF, f"{change} left before {passed}"
    for change in answer:
        if change.valid_to <= passed or (change.valid_to - 1 == passed < now) or passed == INF:
            rest = consolidate((*_within(left, change), -change))
            assert not rest, f"{change} is final by {passed}, and of it {rest} has not left"


def progress_of(oracle: Oracle) -> dict[Bound, Instant]:
    """How far each source has come."""
    return {
        Bound(name, line.attribute): line.progress
        for name, state in oracle.inputs.items()
        for line in state.frontier.lines
    }


def is_late(oracle: Oracle, fed: Mapping[str, Fed], clock: Instant | None = None) -> bool:
    """Whether something late is accepted of what comes."""
    for name, what in fed.items():
        state = oracle.inputs[name]
        frontier = state.frontier.read(clock)
        for came in what.arrivals:
            arrival = stamped(state.declaration, frontier, came)
            if not refusal(state.declaration, frontier, arrival):
                times = times_of(state.declaration, frontier, arrival)
                if _breaks(frontier, times):
                    return True
    return False


def without_late(history: History, declarations: Sequence[Declaration]) -> list[dict[str, Fed]]:
    """The history without rows that come after their promise."""
    oracle = Oracle.of(declarations)
    result = []
    for fed in history:
        kept = {}
        for name, what in fed.items():
            state = oracle.inputs[name]
            good = (
                arrival
                for arrival in what.arrivals
                if not refusal(state.declaration, state.frontier, arrival)
                and not _breaks(
                    state.frontier, times_of(state.declaration, state.frontier, arrival)
                )
            )
            kept[name] = replace(what, arrivals=tuple(good))
        oracle.take(kept)
        result.append(kept)
    return result


def ended(declarations: Sequence[Declaration], at: Instant) -> list[dict[str, Fed]]:
    """Steps in which the sources promise, one after the other, that nothing comes before ``at``."""
    return [{d.name: Fed((), at)} for d in declarations if first_frontier(d).progressing]


def _breaks(frontier: InputFrontier, times: Sequence[Instant | None]) -> bool:
    return any(
        t is not None and line.is_late(t)
        for line, t in zip(frontier.lines, times, strict=True)
        if line.progresses
    )


def _final_facts(
    analysis: Analysis, answer: tuple[Change, ...], oracle: Oracle, now: Instant
) -> tuple[Change, ...]:
    """The rows of an answer of facts that have passed, where they pass."""
    root, node = analysis.root, passing_node(analysis.root)
    frontiers = progress_of(oracle)
    if node is root:
        return tuple(c for c in answer if node.finality.passes(c, frontiers))
    answer = consolidate(evaluate(node.relation, oracle.accepted, now))
    passed = [c for c in answer if node.finality.passes(c, frontiers)]
    rows = tuple(c.row for c in passed for _ in range(c.diff))
    given = Values(node.relation.schema, rows)
    above = rewrite(root.relation, lambda each: given if each == node.relation else each)
    return consolidate(evaluate(above, {}, now))


def _is_part(left: Sequence[Change], answer: Sequence[Change]) -> bool:
    return all(snapshot(left, t) <= snapshot(answer, t) for t in end_points(left, answer))


def _within(changes: Iterable[Change], one: Change) -> tuple[Change, ...]:
    """What changes say of the row and the interval of one."""
    return tuple(
        Change(one.row, max(c.valid_from, one.valid_from), min(c.valid_to, one.valid_to), c.diff)
        for c in changes
        if c.row == one.row and c.valid_from < one.valid_to and c.valid_to > one.valid_from
    )


def without_last(changes: Iterable[Change]) -> tuple[Change, ...]:
    """Changes of rows without their last column."""
    return consolidate(replace(change, row=change.row[:-1]) for change in changes)
