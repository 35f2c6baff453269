"""The rows of every store against the rule that EXPLAIN states for it, judged one by one.

A program runs twice over the same steps: once with collection, and once without, where everything
that a store was ever given is still there.  The rule, as the analysis states it and EXPLAIN prints
it, is asked about every row of the second; what it keeps has to be in the first.  And what is in
the first has to be kept, up to one segment: a segment goes whole, when nothing in it is kept.

    without collection      a  b  c  d  e  f
    the rule keeps                   d  e  f
    with collection         c  d | e | f        right: "c" goes with "d"
                            b  c | d  e | f     wrong: nothing in the segment of "b" and "c" is kept
                            e | f               wrong: "d" went too early

What cancels is no row: a change and the one that takes it back may lie in different segments.
Nothing here looks at how the rule was compiled, or at what kernels make of it; only which column of
a store holds which expression is the compiler's word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from tests.histories import Oracle

from ebbtide.algebra.expression import Ref
from ebbtide.algebra.relation import Aggregate
from ebbtide.algebra.window import Dstream, Istream
from ebbtide.analysis import Analysis
from ebbtide.analysis.analysis import Node
from ebbtide.analysis.formula.progress import Bound, evaluate
from ebbtide.analysis.keep_rules import ByTime, LastRows, OpenSessions
from ebbtide.analysis.stores import folds_input
from ebbtide.analysis.temporal.edge import TO
from ebbtide.compile import lowering
from ebbtide.compile.kernel_choice import Chosen
from ebbtide.compile.lowering import Lowered, lower
from ebbtide.compile.physical import Operator
from ebbtide.core.change import Change, consolidate, minus
from ebbtide.core.declaration import Declaration, TableDeclaration
from ebbtide.core.frontier import InputFrontier
from ebbtide.core.time import INF, LAST, NEG_INF, Instant
from ebbtide.core.values import Row, row_key, sort_key
from ebbtide.dataflow.shard import StatePlace
from ebbtide.engine.state_report import INPUTS, areas_of, output_areas
from ebbtide.kernels.operators.spanning import Spanning
from ebbtide.state.batch import to_changes
from ebbtide.state.layout import Endless, Layout
from ebbtide.state.segment import Segment
from ebbtide.state.store import File, version_of
from ebbtide.store.frontiers import restored
from ebbtide.store.manifest import Manifest
from ebbtide.store.readers import LIVE

_ADMISSION = "admission."
_HELD = "output."


@dataclass(frozen=True)
class Program:
    """A program as it runs, and how the columns of each operator's stores came about."""

    lowered: Lowered
    chosen: Mapping[str, Chosen]
    analyses: Mapping[str, Analysis]

    @staticmethod
    def of(views: Mapping[str, Analysis]) -> Program:
        """The program of some views."""
        found: list[Chosen] = []
        rules = lowering.input_rules

        def noted(node: Node, chosen: Chosen) -> Any:
            found.append(chosen)
            return rules(node, chosen)

        with patch.object(lowering, "input_rules", noted):
            lowered = lower(views)
        return Program(lowered, dict(zip(lowered.nodes, found, strict=True)), views)


@dataclass(frozen=True)
class Version:
    """What lies in the directory of a program after a step."""

    root: str
    manifest: Manifest

    def segments(self, operator: str, area: int) -> Iterator[tuple[bool, tuple[Change, ...]]]:
        """The changes of each segment of an area, in any shard, and whether they are new."""
        store = StatePlace(self.root, self.manifest.version).store()
        for shard in self.manifest.areas[operator]:
            for described in shard[area]:
                segment = Segment.restore(described)
                batch = store.read(File(segment.name, segment.checksum, segment.bytes))
                changes = to_changes(batch.select(range(batch.num_columns - 1)))
                yield version_of(segment.name) == self.manifest.version, changes

    def rows(self, operator: str, area: int) -> tuple[Change, ...]:
        """All changes of an area."""
        return tuple(c for _, changes in self.segments(operator, area) for c in changes)


def assert_kept(program: Program, collected: Version, hoarded: Version, oracle: Oracle) -> None:
    """Fails if a store holds other rows than its rule keeps; names the store and the row."""
    _Judge(program, collected, hoarded, oracle).judge()


@dataclass(frozen=True)
class _Judge:
    program: Program
    collected: Version
    hoarded: Version
    oracle: Oracle

    def judge(self) -> None:
        operators = {o.name: o for o in self.program.lowered.physical.operators}
        for name in self.collected.manifest.areas:
            operator = operators.get(name)
            if name.startswith(LIVE):
                continue  # an answer, not state: it is compared with what was said
            if operator is None:
                self._output(name)
            elif name.startswith(_ADMISSION):
                self._operations(operator)
            elif isinstance(operator.kernel, Spanning):
                self._waiting(name, 0)
            else:
                for place, layout in enumerate(areas_of(operator)):
                    self._area(operator, place, layout)

    def _area(self, operator: Operator, place: int, layout: Layout) -> None:
        name, node = operator.name, self.program.lowered.nodes[operator.name]
        where = f"{name}, store {layout.name}"
        if layout.newest:
            self._accumulators(operator, node, place, where)
        elif layout.name == "first":
            both = (consolidate(v.rows(name, place)) for v in (self.collected, self.hoarded))
            assert len({*both}) == 1, f"{where}: the first instant is another one"
        elif layout.name == "output":
            assert node.emitted is not None, where
            columns = self.program.chosen[name].kept
            keeps = self._by_time(node.emitted, name, lambda i: columns[i] if columns else i)
            self._compare(where, name, place, keeps, self._counted(node, layout))
        else:
            self._input(operator, node, place, layout, where)

    def _input(
        self, operator: Operator, node: Node, place: int, layout: Layout, where: str
    ) -> None:
        name, input_ = operator.name, INPUTS[layout.name]
        (rule,) = (kept.rule for kept in node.kept if kept.input == input_)
        if isinstance(rule, LastRows | OpenSessions):
            self._in_order(where, name, place, rule, len(node.inputs[0].relation.schema))
            return
        columns = self.program.chosen[name].inputs[input_].columns
        schema = node.inputs[input_].relation.schema
        # Of a row that came and went the steps are stored, each for itself.
        steps = isinstance(node.relation, Istream | Dstream)
        keeps = self._by_time(rule, name, lambda i: columns.index(Ref(schema[i])), steps)
        relation = node.relation
        folds = isinstance(relation, Aggregate) and folds_input(relation)
        self._compare(where, name, place, keeps, self._counted(node, layout), folds)

    def _counted(self, node: Node, layout: Layout) -> Instant:
        """The instant up to which of rows that never end only their count is known."""
        counts = layout.endless is Endless.COUNTED
        return evaluate(node.begun, self._progress) if counts else NEG_INF

    def _compare(
        self,
        where: str,
        name: str,
        place: int,
        keeps: Callable[[Change], bool],
        counted: Instant,
        folds: bool = False,
    ) -> None:
        """A store whose rows are judged one by one.

        A segment may stay while its bounds do: two columns let rows go that are never the same.
        Rows that never end may have begun at any instant up to ``counted``; if the store
        ``folds``, accumulators may stand for them, and the answers say whether they do.
        """
        for new, changes in self.collected.segments(name, place):
            kept = [keeps(change) for change in changes]
            stays = any(kept) or keeps(_bounds(changes))
            assert stays, f"{where}: nothing of the segment {changes} is kept"
            assert all(kept) or not new, (
                f"{where}: not all of {changes} is kept, and it was written"
            )
        all_of, some = (v.rows(name, place) for v in (self.hoarded, self.collected))
        for change in minus(all_of, some):
            stood_for = (folds and change.valid_to == INF) or change.valid_to <= counted
            assert stood_for or not keeps(change), f"{where}: {change} is kept, and is not there"

    def _in_order(
        self, where: str, name: str, place: int, rule: LastRows | OpenSessions, width: int
    ) -> None:
        """A store whose rows are judged among those of their partition.

        The last column of a stored row says until when it takes part in anything; what has come
        to that waits for its segment to go, and is not seen.
        """
        horizon = evaluate(rule.horizon, self._progress)
        all_of = _facts(self.hoarded.rows(name, place), width)
        kept = _counted(rule.kept([Change(*f) for f in _as_facts(all_of)], self._progress))
        seen: list[Change] = []
        for new, changes in self.collected.segments(name, place):
            waits = [change for change in changes if change.row[-1] > horizon]
            assert waits, f"{where}: nothing of the segment {changes} is kept"
            assert len(waits) == len(changes) or not new, f"{where}: {changes} is new"
            seen += waits
        there = _facts(seen, width)
        assert there == kept, f"{where}: there is {there - kept}, and {kept - there} is not"

    def _accumulators(self, operator: Operator, node: Node, place: int, where: str) -> None:
        """A line for each group that holds, or, of facts, for each that can still change."""
        name = operator.name
        assert isinstance(node.relation, Aggregate)
        assert node.emitted is not None
        width = len(node.relation.keys)
        ours, all_of = (
            _standing(v.rows(name, place), width) for v in (self.collected, self.hoarded)
        )
        if not operator.facts:
            assert ours == all_of, f"{where}: the groups are {ours} instead of {all_of}"
            return
        keeps = self._by_time(node.emitted, name, lambda i: i)
        kept = {key for key in all_of if keeps(Change(key, 0, INF))}
        assert kept <= ours, f"{where}: {kept - ours} is kept, and is not there"
        for _, changes in self.collected.segments(name, place):
            keys = {change.row[:width] for change in changes}
            some = any(keeps(Change(key, 0, INF)) for key in keys)
            assert some, f"{where}: nothing of the segment {keys} is kept"

    def _output(self, name: str) -> None:
        """What waits at the end of a view: to be final, or for ``now`` to come to its beginning."""
        view = name.removeprefix(_HELD).partition(".")[0]
        (output,) = (o for o in self.program.lowered.physical.outputs if o.name == view)
        for place, layout in enumerate(output_areas(output)):
            if layout.name == "final":
                self._not_final(name, view, place)
            else:
                self._waiting(name, place)

    def _not_final(self, name: str, view: str, place: int) -> None:
        """Rows that are not final, by the rule that EXPLAIN states; nothing lies after ``now``."""
        analysis = self.program.analyses[view]
        (store,) = analysis.held
        assert isinstance(store.rule, ByTime)
        width = len(analysis.plan.schema)
        hidden = analysis.root.finality.depth > 0
        waits = [p.variable for case in store.rule.keep.cases for p in case if p.variable != TO]
        places = {v: i for i, v in store.rule.columns}
        order = [places[v] for v in waits]
        keeps = self._by_time(
            store.rule, f"{view}.", lambda i: width + order.index(i) if hidden else i
        )
        now, segments = self._now(f"{view}."), analysis.root.edge.is_snapshot

        def waiting(change: Change) -> bool:
            return keeps(change) or (segments and change.valid_to - 1 > now)

        self._compare(name, name, place, waiting, NEG_INF)

    def _waiting(self, name: str, place: int) -> None:
        """What waits for ``now`` to come to its beginning."""
        ours, all_of = (consolidate(v.rows(name, place)) for v in (self.collected, self.hoarded))
        assert ours == all_of, f"{name}: {ours} waits instead of {all_of}"
        now = self._now(f"{name.removeprefix(_HELD)}.")
        for _, changes in self.collected.segments(name, place):
            assert any(c.valid_to > now for c in changes), f"{name}: {changes} has begun"

    def _operations(self, operator: Operator) -> None:
        """What the admission of a source with a key stores: what a later operation can meet."""
        kernel: Any = operator.kernel
        declaration: Declaration = kernel.declaration
        frontier = self._frontiers[declaration.name]
        rows = consolidate(self.collected.rows(operator.name, 0))
        assert all(change.diff > 0 for change in rows), f"{operator.name}: {rows}"
        places = [declaration.schema.position(name) for name in declaration.key]
        open_: set[Row] = set()
        older: Counter[Row] = Counter()
        for change in rows:
            key = tuple(change.row[i] for i in places)
            if _is_open(declaration, frontier, change.row):
                open_.add(key)
            else:
                older[key] += change.diff
        if isinstance(declaration, TableDeclaration):
            self._versions(operator.name, declaration, frontier, open_, older)
            return
        assert not older, f"{operator.name}: {+older} is settled, and still there"
        for change in self.oracle.accepted[declaration.name]:
            if _is_open(declaration, frontier, change.row):
                key = tuple(change.row[i] for i in places)
                assert key in open_, f"{operator.name}: {change} is open, and is not there"

    def _versions(
        self,
        where: str,
        declaration: TableDeclaration,
        frontier: InputFrontier,
        open_: set[Row],
        older: Counter[Row],
    ) -> None:
        """Of a table also the operation that made the version that is valid at the horizon."""
        if declaration.time is None or not frontier[declaration.time].progresses:
            return
        horizon = frontier[declaration.time].horizon
        places = [declaration.row_schema.position(name) for name in declaration.key]
        valid: set[Row] = set()
        for change in self.oracle.accepted[declaration.name]:
            key = tuple(change.row[i] for i in places)
            if change.valid_from <= horizon < change.valid_to:
                valid.add(key)
            elif change.valid_from > horizon:
                assert key in open_, f"{where}: {change} is open, and is not there"
        assert older == Counter(valid), f"{where}: {older} stands for the versions {valid}"

    def _by_time(
        self,
        rule: ByTime,
        name: str,
        column: Callable[[int], int | None],
        steps: bool = False,
    ) -> Callable[[Change], bool]:
        """Whether a rule keeps a change, with its times in their columns."""
        named = {part.variable for case in rule.keep.cases for part in case}
        places = {v: column(i) for i, v in rule.columns if v in named}
        static = any(o.name == name and o.static for o in self.program.lowered.physical.operators)
        now = LAST if static else self._now(name)
        progress = self._progress

        def keeps(change: Change) -> bool:
            end = change.valid_from if steps else change.valid_to
            times: dict[Any, Instant | None] = {
                v: change.row[place] for v, place in places.items() if place is not None
            }
            times[TO] = end
            return rule.keep.holds(times, progress) or (rule.turns and end > now)

        return keeps

    def _now(self, name: str) -> Instant:
        views = self.collected.manifest.record.nows
        return next(now for view, now in views.items() if name.startswith(f"{view}."))

    @property
    def _frontiers(self) -> dict[str, InputFrontier]:
        declarations = self.program.lowered.declarations
        found = restored(self.collected.manifest, declarations)
        return {d.name: frontier for d, frontier in zip(declarations, found, strict=True)}

    @property
    def _progress(self) -> dict[Bound, Instant]:
        return {
            Bound(name, line.attribute): line.progress
            for name, frontier in self._frontiers.items()
            for line in frontier.lines
        }


def _is_open(declaration: Declaration, frontier: InputFrontier, row: Sequence[Any]) -> bool:
    """Whether the horizon has not passed a row."""
    times = ((line, row[declaration.schema.position(line.attribute)]) for line in frontier.lines)
    return all(t is None or t > line.horizon for line, t in times if line.settles)


def _facts(changes: Iterable[Change], width: int) -> Counter[Row]:
    """How often each fact is there, whatever is stored beside it."""
    found: Counter[Row] = Counter()
    for change in changes:
        found[change.row[:width]] += change.diff
    assert all(count >= 0 for count in found.values()), found
    return +found


def _as_facts(facts: Counter[Row]) -> Iterator[tuple[Row, Instant, Instant, int]]:
    """In the order of all columns, which decides where nothing else does."""
    for row in sorted(facts, key=row_key):
        yield row, 0, INF, facts[row]


def _counted(changes: Iterable[Change]) -> Counter[Row]:
    found: Counter[Row] = Counter()
    for change in changes:
        found[change.row] += change.diff
    return found


def _standing(changes: Sequence[Change], width: int) -> set[Row]:
    """The keys that have a line: of each, the one written last counts."""
    last: dict[Row, Instant] = {}
    for change in changes:
        key = change.row[:width]
        last[key] = max(last.get(key, change.valid_from), change.valid_from)
    return {
        change.row[:width]
        for change in changes
        if change.diff and change.valid_from == last[change.row[:width]]
    }


def _bounds(changes: Sequence[Change]) -> Change:
    """A change that is as late in everything as the latest of some."""
    columns = zip(*(change.row for change in changes), strict=True)
    row = tuple(None if None in column else max(column, key=sort_key) for column in columns)
    return Change(row, NEG_INF, max(change.valid_to for change in changes), 1)
