"""Changing the queries and sources of a program that has state.

Law: after it the program is the new one, on the same accepted input.  Of each operator and view it
is proved, before anything is written, where its state comes from:

- *carried over* from an equal part of the old program;
- *begun*: no row that it could read has come so far, for its conditions ask for later times;
- *rebuilt*, by taking all that was fed again, step by step, which must lead to the same frontiers.

Where none of them can be proved, nothing happens and an error says why.  Frontiers and horizons
never fall: a larger RETAIN counts from the horizon at the change.  An evolution is a step of its
own, in which views that have another answer now say the difference; its manifest is the commit
point.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ebbtide.compile.lowering import Lowered, lower
from ebbtide.compile.matching import (
    carried_operators,
    carried_outputs,
    is_extended,
    without_lateness,
)
from ebbtide.compile.physical import waiting_name
from ebbtide.core.declaration import Declaration
from ebbtide.core.frontier import Frontier
from ebbtide.core.time import NEG_INF, Instant
from ebbtide.dataflow.beginnings import untouched
from ebbtide.dataflow.plan import Dataflow
from ebbtide.dataflow.rescaling import (
    moved_areas,
    refuse_recursion,
    refuse_triggered,
    widened_areas,
)
from ebbtide.engine.location import StoredProgram, claimed
from ebbtide.engine.replay import Replayed, replayed
from ebbtide.engine.script import script_text
from ebbtide.engine.starting import said_of
from ebbtide.errors import QueryError, UnsupportedError
from ebbtide.spark import checkpoint_copy
from ebbtide.state.batch import concat, net
from ebbtide.state.store import DirectoryStore
from ebbtide.store import intent
from ebbtide.store.answer_files import retire_live
from ebbtide.store.archive import Archive
from ebbtide.store.frontiers import restored, stored
from ebbtide.store.history import STEP
from ebbtide.store.journal import Journal
from ebbtide.store.manifest import Manifest, Manifests
from ebbtide.store.program import FILE as PROGRAM
from ebbtide.store.program import Identity
from ebbtide.store.readers import View, live_name
from ebbtide.store.record import Came, WrittenFile
from ebbtide.store.retraction import retraction

if TYPE_CHECKING:
    from ebbtide.engine.engine import Engine
    from ebbtide.engine.query import Query


@dataclass(frozen=True, slots=True)
class Evolution:
    """What an evolution does, or would do, by which step: the operators whose state is carried
    over, those that begin without any, and those that are rebuilt; and the views and sources that
    are other ones than before."""

    program: str
    step: int | None
    carried: tuple[str, ...] = ()
    begun: tuple[str, ...] = ()
    rebuilt: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


def evolve(engine: Engine, queries: Sequence[Query], name: str, dry_run: bool = False) -> Evolution:
    """Makes a program that has state one of these queries, over the sources as declared now."""
    with claimed(engine.location, name) as program:
        if program.name != name:
            raise QueryError(
                "unknown-program",
                f'no program "{name}" has run in "{engine.location}"',
                hint=f'"{name}" is a view of "{program.name}": name="{program.name}"',
            )
        new = lower({query.name: query.analysis for query in queries})
        return _Evolving(engine, program, queries, new).evolve(dry_run)


@dataclass(frozen=True, slots=True)
class _Evolving:
    """An evolution at work."""

    engine: Engine
    program: StoredProgram
    queries: Sequence[Query]
    new: Lowered

    def evolve(self, dry_run: bool) -> Evolution:
        root, latest = self.program.root, Journal(self.program.root).latest()
        sources = self._changed_sources()
        if latest is None:
            if not dry_run:
                intent.announce(root, -1, self._files(None))
                intent.settle(root)
            return Evolution(self.program.name, None)
        old = self.program.lowered
        for lowered in (old, self.new):
            refuse_recursion(lowered)
            refuse_triggered(lowered)
        plan = _Plan.of(old, self.new, latest)
        self._check_views(old)
        self._check_waiting(latest)
        with ExitStack() as stack:
            again = None
            if plan.needed:
                scratch = stack.enter_context(
                    TemporaryDirectory(prefix=".evolving-", dir=self.engine.location)
                )
                again = replayed(self.engine, self.program, self.new, latest, scratch, plan.needed)
            told = self._told(old, plan, latest, sources)
            if self._identity(latest.shards) == Identity.read(root):
                return replace(told, step=None)
            if not dry_run:
                self._commit(latest, old, plan, again, told)
        return told

    def _changed_sources(self) -> tuple[str, ...]:
        """The sources that are declared otherwise, where that can be."""
        known = {d.name.casefold(): d for d in self.program.lowered.declarations}
        found = []
        for declaration in self.new.declarations:
            before = known.get(declaration.name.casefold())
            if before is None or before == declaration:
                continue
            _check_source(before, declaration)
            found.append(declaration.name)
        return tuple(found)

    def _check_waiting(self, latest: Manifest) -> None:
        """Refuses a program in which rows that wait to be replayed would wait for ever."""
        replayed = {waiting_name(name) for name in self.new.replayed}
        for name, shards in latest.areas.items():
            if not name.startswith(waiting_name("")) or name in replayed:
                continue
            if any(described for shard in shards for described in shard):
                source = name.removeprefix(waiting_name(""))
                raise UnsupportedError(
                    "cannot-evolve",
                    f'rows of "{source}" wait to be replayed, which they could not be any more',
                    hint="replay them first: engine.revise()",
                )

    def _check_views(self, old: Lowered) -> None:
        known = {output.name: output for output in old.physical.outputs}
        for output in self.new.physical.outputs:
            before = known.get(output.name)
            if before is not None and (before.schema, before.marked) != (
                output.schema,
                output.marked,
            ):
                raise UnsupportedError(
                    "view-columns-differ",
                    f'"{output.name}" would have other columns than what it has said so far',
                    detail=f"it has {before.schema}, and would have {output.schema}",
                    hint="give the new view another name",
                )
            if before is None and _has_other_columns(
                _view(self.program.root, self.new, output.name)
            ):
                raise UnsupportedError(
                    "view-columns-differ",
                    f'a view "{output.name}" with other columns has been removed from the program',
                    detail="what it has said is in the history still",
                    hint="give the new view another name",
                )

    def _told(
        self, old: Lowered, plan: _Plan, latest: Manifest, sources: tuple[str, ...]
    ) -> Evolution:
        before = {output.name for output in old.physical.outputs}
        now = {output.name for output in self.new.physical.outputs}
        return Evolution(
            self.program.name,
            latest.version + 1,
            tuple(sorted(plan.operators)),
            tuple(sorted(plan.begun)),
            tuple(sorted(plan.needed)),
            tuple(sorted(now - before)),
            tuple(sorted((now & before) - plan.views)),
            tuple(sorted(before - now)),
            sources,
        )

    # --- writing ------------------------------------------------------------------------------

    def _commit(
        self,
        latest: Manifest,
        old: Lowered,
        plan: _Plan,
        again: Replayed | None,
        told: Evolution,
    ) -> None:
        root, step = self.program.root, latest.version + 1
        for query in self.program.queries:
            retire_live(root, query.name)
        manifests = Manifests(DirectoryStore(f"{root}/state"))
        manifests.sweep()
        Journal(root).record(latest)
        record = latest.quiet_successor().record
        nows = dict(record.nows) if again is None else {**again.manifest.record.nows, **record.nows}
        views = [output.name for output in self.new.physical.outputs]
        removed = {view: self._withdrawn(view, old, step) for view in told.removed}
        names = [declaration.name for declaration in self.new.declarations]
        record = replace(
            record,
            nows={view: nows.get(view, NEG_INF) for view in (*views, *removed)},
            output={view: self._said(view, told, again, step) for view in views} | removed,
            positions={n: p for n, p in record.positions.items() if n in names},
            places={n: p for n, p in record.places.items() if n in names},
            came={name: Came() for name in names},
            clock=latest.record.later(self.engine.clock()),
            evolved=True,
        )
        manifest = latest.quiet_successor(
            areas=self._areas(latest, old, plan, again),
            frontiers=stored(_frontiers(latest, old.declarations, self.new.declarations)),
            record=record,
            bases=(),
        )
        if os.path.isdir(f"{root}/checkpoint"):
            checkpoint_copy.go_back(root, self.program.name, step, latest.version)
        intent.announce(root, step, self._files(latest.shards))
        manifests.commit(manifest)
        Journal(root).record(manifest)
        intent.settle(root)

    def _areas(
        self, latest: Manifest, old: Lowered, plan: _Plan, again: Replayed | None
    ) -> dict[str, Any]:
        """The state of every part of the new program that has any."""
        root, shards = self.program.root, latest.shards
        flow, step = Dataflow(self.new, shards), latest.version + 1
        areas = widened_areas(old, self.new, plan.operators, latest, root)
        for new_name, old_name in plan.written.items():
            for name, before in ((new_name, old_name), (live_name(new_name), live_name(old_name))):
                if before in latest.areas:
                    areas[name] = latest.areas[before]
        rebuilt = {}
        if again is not None:
            wanted = {*plan.needed, *map(live_name, plan.needed)}
            rebuilt = {n: a for n, a in again.manifest.areas.items() if n in wanted}
            areas |= moved_areas(flow, rebuilt, f"{again.root}/state", root, step)
        for name in plan.begun & {written for _, _, written in flow.written()}:
            # An answer that is kept from here on is there from here on.
            areas[live_name(name)] = tuple(([],) for _ in range(shards))
        return areas

    def _said(
        self, view: str, told: Evolution, again: Replayed | None, step: int
    ) -> tuple[WrittenFile, ...]:
        """What a view says in the step: that it has another answer than before."""
        mine = _view(self.program.root, self.new, view)
        tables: list[Any] = []
        if view in (*told.changed, *told.added):
            # Also what a view of this name has said that was removed since.
            tables += _retractions(mine)
        if view in (*told.changed, *told.added) and again is not None:
            tables += [table for _, table in _view(again.root, self.new, view).steps()]
        return self._written(mine, net(concat(tables, mine.layout)), step)

    def _withdrawn(self, view: str, old: Lowered, step: int) -> tuple[WrittenFile, ...]:
        """What takes back all that a view has said that the program has no more."""
        mine = _view(self.program.root, old, view)
        return self._written(mine, concat(_retractions(mine), mine.layout), step)

    def _written(self, view: View, changes: Any, step: int) -> tuple[WrittenFile, ...]:
        if not changes.num_rows:
            return ()
        file = Archive(self.program.root).write(f"output/{view.name}", 0, step, changes)
        return (WrittenFile(file, changes.num_rows),)

    def _identity(self, shards: int | None) -> Identity:
        known = Identity.read(self.program.root)
        assert known is not None
        return Identity.of(
            {query.name: said_of(self.engine, query) for query in self.queries},
            self.new.declarations,
            known.shards if shards is None else shards,
            known.heartbeat,
        )

    def _files(self, shards: int | None) -> Mapping[str, str]:
        """What the directory is to say of the program."""
        texts = self.engine.definitions.texts, [query.text for query in self.queries]
        return {PROGRAM: self._identity(shards).text, "program.sql": script_text(*texts)}


@dataclass(frozen=True, slots=True)
class _Plan:
    """Where the state of the new program comes from.

    ``operators`` and ``written`` have what is carried over, by their names now, with those before;
    ``views`` are the views that go on as they are; ``begun`` and ``needed`` name operators, and
    what is written of views, that begin, or have to be made again.
    """

    operators: Mapping[str, str]
    written: Mapping[str, str]
    views: frozenset[str]
    begun: frozenset[str]
    needed: frozenset[str]

    @staticmethod
    def of(old: Lowered, new: Lowered, latest: Manifest) -> _Plan:
        operators, views = carried_operators(old, new), carried_outputs(old, new)
        written: dict[str, str] = {}
        before, now = Dataflow(old, latest.shards), Dataflow(new, latest.shards)
        for view in views:
            written |= dict(zip(_of(now, view), _of(before, view), strict=True))
        fresh = {o.name for o in new.physical.operators} - operators.keys()
        fresh |= {name for _, _, name in now.written()} - written.keys()
        newest = {
            (name.casefold(), attribute.casefold()): line[1]
            for name, source in latest.frontiers.items()
            for attribute, line in source["lines"].items()
        }
        begun = untouched(now, set(operators), newest, {d.name for d in old.declarations})
        return _Plan(
            operators,
            written,
            frozenset(views),
            frozenset(fresh & begun),
            frozenset(fresh - begun),
        )


def _view(root: str, lowered: Lowered, name: str) -> View:
    """What is emitted under a name in a program's directory."""
    (output,) = (output for output in lowered.physical.outputs if output.name == name)
    return View(root, name, output.schema, output.marked)


def _retractions(view: View) -> Iterator[Any]:
    """What takes back all that a view has said, as far as that is known: nothing is, of steps
    whose output was not kept."""
    try:
        yield retraction(view, None)
    except QueryError as error:
        if error.code != "no-archive":
            raise


def _has_other_columns(view: View) -> bool:
    """Whether an older view of this name has said rows of other columns."""
    try:
        parts = view.parts()
    except QueryError as error:
        if error.code != "no-archive":
            raise
        return False
    layout = [(field.name, field.type) for field in view.layout]
    archive = Archive(view.root)
    schemas = (archive.table(part.file).schema for part in parts)
    return any([(f.name, f.type) for f in told if f.name != STEP] != layout for told in schemas)


def _of(flow: Dataflow, view: str) -> list[str]:
    outputs = flow.lowered.physical.outputs
    return [name for output, _, name in flow.written() if outputs[output].name == view]


def _check_source(before: Declaration, now: Declaration) -> None:
    """Refuses a declaration that differs in more than lateness and columns at the end."""
    plain = replace(without_lateness(before), schema=now.schema)
    if is_extended(before.schema, now.schema) and plain == without_lateness(now):
        return
    what = "its columns" if before.schema != now.schema else "its key, its times or its clauses"
    raise UnsupportedError(
        "source-differs",
        f'"{before.name}" is declared otherwise than before: {what}',
        detail="lateness may change, and columns that may be NULL may be added at the end",
        hint="declare it under another name",
    )


def _frontiers(
    latest: Manifest, before: Sequence[Declaration], now: Sequence[Declaration]
) -> tuple[Any, ...]:
    """The frontiers of the new sources: no horizon is below what it was."""
    known = {f.name.casefold(): f for f in restored(latest, tuple(before))}
    found = []
    for frontier in restored(latest, tuple(now)):
        old = known.get(frontier.name.casefold())
        horizons = {} if old is None else {line.attribute: line.horizon for line in old.lines}
        lines = tuple(_held(line, horizons.get(line.attribute, NEG_INF)) for line in frontier.lines)
        found.append(replace(frontier, lines=lines))
    return tuple(found)


def _held(line: Frontier, horizon: Instant) -> Frontier:
    return replace(line, floor=horizon) if horizon > line.horizon else line
