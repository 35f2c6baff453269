"""A history that is compacted says what it said before, from when on it has to be kept.

Random programs run in this process, and their directories are compacted after every few steps, in
the smallest groups; what each step emitted is noted as it comes.  Changes by step, and snapshots of
any instant as said after any step, are then those of the notes, which the reference has judged.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from tests.histories import Fed, Oracle, declarations_of, history
from tests.in_process import InProcess
from tests.law import QUERIES, analysed, assert_answers

from ebbtide.algebra.relation import Relation
from ebbtide.compile.lowering import lower
from ebbtide.config import Config
from ebbtide.core.change import Change, consolidate
from ebbtide.core.time import INF, NEG_INF, Instant
from ebbtide.core.values import row_key
from ebbtide.engine.engine import Engine
from ebbtide.errors import EvaluationError, QueryError, StateError
from ebbtide.store import compaction
from ebbtide.store.compaction import Keeping, compact
from ebbtide.store.history import History
from ebbtide.store.journal import Journal
from ebbtide.store.lock import Claim
from ebbtide.store.readers import View, unused

_CASES = {"quick": 10, "ci": 24, "long": 1500}[Config.from_environment().profile]


@pytest.fixture(autouse=True, scope="module")
def small_groups() -> Iterable[None]:
    """Compactions come often, so that few steps are enough for all levels."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compaction, "LOOSE", 2)
        patch.setattr(compaction, "FAN_IN", 2)
        yield


def counted(changes: Iterable[Change], at: Instant) -> dict[Any, int]:
    """How often each row is there at an instant."""
    counts: Counter[Any] = Counter()
    for change in changes:
        if change.valid_from <= at < change.valid_to:
            counts[row_key(change.row)] += change.diff
    return {row: count for row, count in counts.items() if count}


def shown(view: View, at: Instant, step: int | None) -> dict[Any, int]:
    """The same, as a snapshot shows it."""
    return dict(Counter(map(row_key, view.snapshot(at, step))))


def assert_history(view: View, said: Sequence[Sequence[Change]], at: Iterable[Instant]) -> None:
    """That all that can still be asked for is what was said, and that all else is refused."""
    mine = History.read(view.root).view(view.name)
    floor, begin = mine.floor, NEG_INF if mine.base is None else mine.base.until
    for since in range(-1, len(said)):
        if since < floor:
            with pytest.raises(StateError, match="keeps its changes after step") as caught:
                list(view.changes(since))
            assert caught.value.code == "not-kept"
            continue
        found: dict[int, list[Change]] = {}
        for step, change in view.changes(since):
            found.setdefault(step, []).append(change)
        for step in range(since + 1, len(said)):
            assert consolidate(found.pop(step, [])) == consolidate(said[step])
        assert not found
    kept = [change for _, change in view.changes()]
    for moment in at:
        for step in range(len(said)):
            if step < floor or moment < begin:
                with pytest.raises(StateError, match="answers from"):
                    view.snapshot(moment, step)
                continue
            expected = counted((c for its in said[: step + 1] for c in its), moment)
            assert shown(view, moment, step) == expected
        if moment >= begin:
            assert counted(kept, moment) == counted((c for its in said for c in its), moment)


@settings(max_examples=_CASES, deadline=None)
@given(QUERIES, st.integers(0, 10**6), st.sampled_from([1, 2]), st.sampled_from([None, 0, 3, 9]))
def test_what_is_compacted_says_the_same(
    plan: Relation, seed: int, shards: int, keep: int | None
) -> None:
    random = Random(seed)
    declarations = declarations_of(plan)
    oracle = Oracle.of(declarations)
    said: list[tuple[Change, ...]] = []
    with TemporaryDirectory() as root:
        runner = InProcess(lower({"q": analysed(plan)}), root, shards)
        view = View(root, "q", plan.schema)
        try:
            for fed in history(random, declarations, random.randrange(4, 14)):
                oracle.take(fed)
                manifest = runner.step(fed)
                said.append(runner.emitted(manifest))
                now = manifest.record.nows["q"]
                assert_answers(plan, [c for its in said for c in its], oracle, now)
                compact(root, {"q": Keeping(keep)})
        except EvaluationError:
            return
        event(f"folded: {History.read(root).view('q').base is not None}")
        times = {t for its in said for c in its for t in (c.valid_from, c.valid_to - 1)}
        finite = sorted(t for t in times if NEG_INF < t < INF - 1)
        assert_history(view, said, random.sample(finite, min(4, len(finite))))
        records = list(Journal(root).entries())
        dropped = History.read(root).dropped
        assert [record.version for record in records] == list(range(dropped + 1, len(said)))


SECOND = 1_000_000
SCRIPT = """CREATE STREAM s (k BIGINT, v BIGINT, at TIMESTAMP,
  PROGRESS FOR at AS at - INTERVAL 1 SECOND)"""


def sums(root: Path) -> tuple[InProcess, View]:
    """A small program."""
    engine = Engine(root / "engine", transport="local")
    engine.execute(SCRIPT)
    query = engine.query("SELECT k, SUM(v) AS t FROM s [RANGE 9 SECONDS] GROUP BY k", "q")
    runner = InProcess(lower({"q": query.analysis}), str(root / "run"), 2)
    return runner, View(runner.root, "q", query.schema)


def step(runner: InProcess, number: int) -> tuple[Change, ...]:
    """A step of some rows, one of them too late."""
    rows = [("insert", (k, number, number * SECOND)) for k in range(3)]
    rows.append(("insert", (9, 9, (number - 30) * SECOND)))
    return runner.emitted(runner.step({"s": Fed.of(rows, 10 * number)}))


class Killed(BaseException):
    """The process is gone."""


def killing(patch: pytest.MonkeyPatch, after: int) -> None:
    """Lets whatever comes after so many changes of the file system be the end."""
    left = [after]

    def counting(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            left[0] -= 1
            if left[0] < 0:
                raise Killed
            return real(*given, **named)

        return call

    for name in ("replace", "unlink", "fsync"):
        patch.setattr(os, name, counting(getattr(os, name)))


def started_again(root: str) -> None:
    """What the next start removes."""
    claim = Claim(root, "q")
    claim.sweep()
    claim.release()


def test_a_compaction_may_be_killed_at_any_point(tmp_path: Path) -> None:
    runner, view = sums(tmp_path)
    said = []
    killed, point = 0, 0
    for number in range(80):
        said.append(step(runner, number))
        before = History.read(runner.root)
        with pytest.MonkeyPatch.context() as patch:
            killing(patch, point)
            try:
                compact(runner.root, {"q": Keeping(20 * SECOND)})
            except Killed:
                killed, point = killed + 1, point + 1
            else:
                # It came to its end, so all its points were tried: the next one begins anew.
                point = point if History.read(runner.root) == before else 0
        if number % 3 == 0:
            started_again(runner.root)
        found = [change for step, change in view.changes(len(said) - 2) if step == number]
        assert consolidate(found) == consolidate(said[-1])
    assert killed > 40
    compact(runner.root, {"q": Keeping(20 * SECOND)})
    started_again(runner.root)
    assert History.read(runner.root).view("q").base is not None
    assert_history(view, said, [moment * SECOND for moment in (2, 60, 75, 79)])
    # One row of each step but the first was late, whatever it lies in now.
    assert len(unused(runner.root, "s")) == len(said) - 1
    there = {
        os.path.relpath(os.path.join(path, name), runner.root)
        for part in ("output", "unused", "journal")
        for path, _, names in os.walk(f"{runner.root}/{part}")
        for name in names
    }
    loose = list(Journal(runner.root).entries(History.read(runner.root).upto))
    named = {
        file for record in loose for file in (Journal.file_of(record.version), *record.files())
    }
    assert there == {*History.read(runner.root).files(), *named}


def test_readers_see_whole_steps_while_it_is_compacted(tmp_path: Path) -> None:
    """The rows of a step sum up to nothing but three keys, however often files are exchanged."""
    runner, view = sums(tmp_path)
    done = threading.Event()
    wrong: list[object] = []

    def read() -> None:
        last = -1
        while not done.is_set():
            latest = Journal(runner.root).latest()
            if latest is None:
                continue
            try:
                # As said after the step before, so that it is read from the log.
                step = max(latest.version - 1, 0)
                rows = view.snapshot(step * SECOND, step)
                if [row[0] for row in rows] != [0, 1, 2]:
                    wrong.append(rows)
                steps = [found for found, _ in view.changes(max(step - 3, -1))]
                if steps != sorted(steps) or step < last:
                    wrong.append(steps)
                last = step
            except Exception as error:
                wrong.append(error)
                return

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for number in range(60):
            step(runner, number)
            compact(runner.root, {"q": Keeping(10 * SECOND)})
    finally:
        done.set()
        reader.join()
    assert not wrong, wrong[0]


def test_files_follow_bytes_and_not_steps(tmp_path: Path) -> None:
    runner, _ = sums(tmp_path)
    counts = []
    for number in range(1, 65):
        step(runner, number)
        history = compact(runner.root, {"q": Keeping()})
        counts.append(len(set(history.files())))
    # Of each kind at most one part of every level but the last.
    assert max(counts) <= 3 * 7


def test_steps_whose_output_was_not_kept_stay_unkept(tmp_path: Path) -> None:
    engine = Engine(tmp_path, transport="local")
    engine.execute(SCRIPT)
    query = engine.query("SELECT k, v FROM s [RANGE 9 SECONDS]", "q")
    query.start(archive=False)
    for number in range(8):
        engine.feed("s", [(number, number, number * SECOND)])
        engine.step()
    assert History.read(query.view.root).view("q").unkept > 0
    with pytest.raises(QueryError, match="was not kept"):
        query.changes()
    engine.stop()
