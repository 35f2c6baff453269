"""A changed program goes on with its state, as if it had been so from the start, or is refused."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.crashes import crash_everywhere
from tests.unit.engine.test_rollback import rows, summed

from ebbtide import Engine
from ebbtide.cli.app import ebbtide
from ebbtide.config import Config
from ebbtide.engine.evolution import Evolution
from ebbtide.engine.location import Location
from ebbtide.engine.verification import verify
from ebbtide.errors import EbbtideError, StateError, UnsupportedError
from ebbtide.program.run import Run

SECOND = 1_000_000
LARGE = 1_000_000 if Config.from_environment().profile == "long" else 2_000
S = "CREATE STREAM s (k BIGINT, v BIGINT, at TIMESTAMP, PROGRESS FOR at AS at - INTERVAL 1 SECOND)"
U = "CREATE STREAM u (k BIGINT, at TIMESTAMP, PRIMARY KEY (k), PROGRESS FOR at AS at) RETAIN 1 HOUR"
SUMS = "SELECT k, SUM(v) AS t FROM s [RANGE 9 SECONDS] GROUP BY k"
JOIN = "SELECT s.k, s.v FROM s [RANGE 5 SECONDS] JOIN u [RANGE 1 MINUTE] ON s.k = u.k"


class Program:
    """A program of some sources and views, which may become another one."""

    def __init__(self, location: Path, script: str, views: Mapping[str, str]) -> None:
        self.location = location
        self.declare(script, views)
        self.start()

    def declare(self, script: str, views: Mapping[str, str]) -> None:
        self.engine = Engine(self.location, transport="local")
        self.engine.execute(script)
        self.queries = {name: self.engine.query(sql, name) for name, sql in views.items()}

    def start(self) -> None:
        self.run: Run = self.engine.start(*self.queries.values(), name="p")

    def feed(self, second: int, width: int = 3) -> None:
        values = [((second + i) % 3, second * 10 + i, second * SECOND) for i in range(3)]
        self.engine.feed("s", [(*row, *[None] * (width - 3)) for row in values])
        if self.engine.catalog.find("u") is not None:
            self.engine.feed("u", [(second, second * SECOND)])
        self.engine.step()

    def evolve(self, script: str, views: Mapping[str, str], **options: Any) -> Evolution:
        self.engine.stop()
        self.declare(script, views)
        return self.engine.evolve(*self.queries.values(), name="p", **options)

    def said(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, query in self.queries.items():
            found[name] = rows(query.snapshot())
            found[f"sum of {name}"] = summed(query)
        return found


def made(location: Path, script: str, views: Mapping[str, str], upto: int) -> Program:
    program = Program(location, script, views)
    for second in range(upto):
        program.feed(second)
    return program


CHANGES = {
    "a view is added": ({"sums": SUMS}, {"sums": SUMS, "more": JOIN}),
    "a view is removed": ({"sums": SUMS, "more": JOIN}, {"sums": SUMS}),
    "a window is longer": ({"sums": SUMS}, {"sums": SUMS.replace("9 SECONDS", "30 SECONDS")}),
    "a condition is new": ({"sums": SUMS}, {"sums": SUMS.replace("GROUP", "WHERE v > 5 GROUP")}),
    "it is final": (
        {"sums": SUMS},
        {"sums": SUMS, "last": "SELECT k, COUNT(*) AS n FROM s [ROWS 4] GROUP BY k EMIT FINAL"},
    ),
    "another order": ({"sums": SUMS, "more": JOIN}, {"more": JOIN, "sums": SUMS}),
    "rows in the query": (
        {"sums": SUMS},
        {
            "sums": SUMS,
            "named": "SELECT s.v, n.name FROM s [RANGE 4 SECONDS] "
            "JOIN (VALUES (0, 'a'), (1, 'b')) AS n (k, name) ON s.k = n.k",
        },
    ),
}


@pytest.mark.parametrize(("before", "after"), CHANGES.values(), ids=CHANGES)
def test_it_goes_on_as_a_program_that_was_always_so(
    tmp_path: Path, before: Mapping[str, str], after: Mapping[str, str]
) -> None:
    program = made(tmp_path / "evolved", f"{S}; {U}", before, 5)
    straight = made(tmp_path / "straight", f"{S}; {U}", after, 5)
    told = program.evolve(f"{S}; {U}", after, dry_run=True)
    assert program.evolve(f"{S}; {U}", after) == told
    assert set(told.added) == after.keys() - before.keys()
    assert set(told.removed) == before.keys() - after.keys()
    assert (told.step is None) == (before == after)
    program.start()
    if after.keys() <= before.keys():
        assert program.said() == straight.said()
    for second in range(5, 12):  # what came to a source that nobody read is taken now
        program.feed(second)
        straight.feed(second)
        assert program.said() == straight.said()
    assert not [error for part in verify(str(program.location)) for error in part.wrong]
    program.engine.stop()
    straight.engine.stop()


def test_equal_parts_are_carried_over_and_not_made_again(tmp_path: Path) -> None:
    views = {"sums": SUMS}
    program = made(tmp_path, S, views, 3)
    told = program.evolve(S, {**views, "top": "SELECT k, v FROM s [ROWS 2]"})
    assert [name for name in told.carried if name.startswith("sums.")]
    assert not [name for name in told.rebuilt if name.startswith("sums.")]
    assert told.begun == ()


def test_a_view_may_begin_after_all_that_has_come(tmp_path: Path) -> None:
    """What was fed may be gone then, and the law holds for it as for any query."""
    later = "SELECT k, COUNT(*) AS n FROM s [RANGE 1 MINUTE] WHERE at > TIMESTAMP '{}' GROUP BY k"
    joined = (
        "SELECT s.k, s.v FROM s [RANGE 1 MINUTE] JOIN u [RANGE 1 MINUTE] ON s.k = u.k "
        "WHERE s.at > TIMESTAMP '1970-01-01 00:00:04' AND u.at > TIMESTAMP '1970-01-01 00:00:04'"
    )
    views = {"sums": SUMS, "keyed": JOIN}
    after = {**views, "later": later.format("1970-01-01 00:00:04"), "joined": joined}
    program = made(tmp_path / "evolved", f"{S}; {U}", views, 5)
    told = program.evolve(f"{S}; {U}", after)
    assert told.rebuilt == ()
    assert told.begun
    straight = made(tmp_path / "straight", f"{S}; {U}", after, 5)
    program.start()
    for second in range(5, 9):
        program.feed(second)
        straight.feed(second)
        assert program.said() == straight.said()
    # One that asks for a time that has come has to be made of what was fed.
    earlier = later.format("1970-01-01 00:00:07")
    assert program.evolve(f"{S}; {U}", {**after, "earlier": earlier}, dry_run=True).rebuilt


def test_what_is_not_there_any_more_is_told(tmp_path: Path) -> None:
    program = made(tmp_path, S, {"sums": SUMS}, 4)
    program.engine.stop()
    (tmp_path / "feed" / "s.jsonl").write_bytes(b"")
    with pytest.raises(EbbtideError) as damaged:
        program.evolve(S, {"sums": SUMS, "more": SUMS.replace("9", "20")})
    assert damaged.value.code == "damaged-feed"


def test_a_source_of_another_kind_is_refused(tmp_path: Path) -> None:
    program = made(tmp_path, f"{S}; {U}", {"sums": SUMS, "more": JOIN}, 2)
    for script in (
        f"{S.replace('v BIGINT', 'v DOUBLE')}; {U}",
        f"{S}; {U.replace('PRIMARY KEY (k)', 'PRIMARY KEY (k, at)')}",
        f"{S.replace('at TIMESTAMP', 'at TIMESTAMP, w BIGINT NOT NULL')}; {U}",
    ):
        with pytest.raises(UnsupportedError) as refused:
            program.evolve(script, {"sums": SUMS.replace("SUM(v)", "COUNT(*)"), "more": JOIN})
        assert refused.value.code == "source-differs"
    with pytest.raises(UnsupportedError) as columns:
        program.evolve(f"{S}; {U}", {"sums": "SELECT k FROM s [NOW]"})
    assert columns.value.code == "view-columns-differ"
    with pytest.raises(EbbtideError) as unknown:
        program.engine.evolve(*program.queries.values(), name="sums")
    assert unknown.value.code == "unknown-program"


def test_a_column_is_added(tmp_path: Path) -> None:
    wide = S.replace("at TIMESTAMP", "at TIMESTAMP, w BIGINT")
    wide_u = U.replace("at TIMESTAMP", "at TIMESTAMP, w STRING")
    views = {"sums": SUMS, "more": JOIN}
    program = made(tmp_path / "evolved", f"{S}; {U}", views, 4)
    straight = made(tmp_path / "straight", f"{S}; {U}", views, 4)
    # Fed before the change, and taken after it.
    for one in (program, straight):
        one.engine.feed("s", [(1, 1, 4 * SECOND)])
        one.engine.feed("u", [(7, 4 * SECOND), (7, 4 * SECOND)])
    told = program.evolve(f"{wide}; {wide_u}", views)
    assert set(told.sources) == {"s", "u"}
    assert not told.rebuilt
    program.start()
    program.engine.step()
    straight.engine.step()
    assert program.said() == straight.said()
    for second in range(5, 9):
        for one, more in ((program, (5,)), (straight, ())):
            one.engine.feed("s", [(second % 3, second, second * SECOND, *more)])
            one.engine.feed("u", [(second % 3, second * SECOND, *map(str, more))])
            one.engine.step()
        assert program.said() == straight.said()
    assert program.evolve(f"{wide}; {wide_u}", {**views, "new": "SELECT w FROM s [NOW]"}).rebuilt
    program.start()
    program.engine.feed("s", [(1, 1, 20 * SECOND, 6)])
    program.engine.step()
    assert rows(program.queries["new"].snapshot()) == ["{'w': 6}"]


def test_a_larger_retain_counts_from_the_horizon_at_the_change(tmp_path: Path) -> None:
    counts = {"counts": "SELECT k, COUNT(*) AS n FROM s [RANGE 1 HOUR] GROUP BY k"}
    program = made(tmp_path, S, counts, 11)  # progress 8.999999
    told = program.evolve(f"{S} RETAIN 1 MINUTE", counts)
    assert told.sources == ("s",)
    assert not told.rebuilt
    program.start()

    def late(second: float) -> int:
        program.engine.feed("s", [(9, 0, int(second * SECOND))])
        program.engine.step()
        return int(program.engine.late("s").num_rows)

    assert late(8) == 1  # what was forgotten before the change stays so
    assert late(9.5) == 1
    program.feed(100)
    assert late(30) == 2  # 60 seconds before a progress of 98.999999
    assert late(40) == 2
    assert program.evolve(S, counts).sources == ("s",)
    program.start()
    assert late(98) == 3
    assert late(99.5) == 3


def test_lateness_may_become_less_and_more(tmp_path: Path) -> None:
    program = made(tmp_path, S, {"sums": SUMS}, 11)
    program.evolve(S.replace("1 SECOND", "5 SECONDS"), {"sums": SUMS})
    program.start()
    manifest = program.engine.step()["p"]
    assert manifest.frontiers["s"]["lines"]["at"][0] == 9 * SECOND - 1
    program.feed(12)
    assert program.engine.step()["p"].frontiers["s"]["lines"]["at"][0] == 9 * SECOND - 1
    program.feed(20)
    assert program.engine.step()["p"].frontiers["s"]["lines"]["at"][0] == 15 * SECOND - 1


def test_a_crash_leaves_the_one_or_the_other(tmp_path: Path) -> None:
    later = "SELECT k FROM s [NOW] WHERE at > TIMESTAMP '2026-01-01 00:00:00'"
    before, after = {"sums": SUMS}, {"sums": SUMS, "later": later}
    program = made(tmp_path, S, before, 3)
    program.engine.stop()
    answers = [program.said()]
    found, refused = set(), set()

    def evolved() -> None:
        program.evolve(S, after)

    def judge() -> None:
        # The one that does not fit is refused, and says so.
        for number, views in enumerate((before, after)):
            program.declare(S, views)
            try:
                program.start()
            except StateError as error:
                refused.add(error.code)
                continue
            if number == len(answers):
                answers.append(program.said())
            assert program.said() == answers[number]
            found.add(number)
            program.engine.stop()

    assert crash_everywhere(evolved, judge) > 5
    assert found == {0, 1}
    assert refused == {"query-differs"}
    straight = made(tmp_path / "straight", S, after, 3)
    assert straight.said() == answers[1]
    straight.engine.stop()
    assert not [error for part in verify(str(tmp_path)) for error in part.wrong]


def test_on_the_command_line(tmp_path: Path) -> None:
    program = made(tmp_path / "here", S, {"sums": SUMS}, 2)
    program.engine.stop()
    script = tmp_path / "p.sql"
    script.write_text(f"{S} RETAIN 1 HOUR; CREATE VIEW sums AS {SUMS};", encoding="utf-8")
    arguments = ["evolve", str(script), "--name", "p", "--location", str(tmp_path / "here")]
    told = CliRunner().invoke(ebbtide, [*arguments, "--dry-run"], standalone_mode=False)
    assert "p would evolve, as step 2" in told.output
    assert "s: source declared otherwise" in told.output
    told = CliRunner().invoke(ebbtide, arguments, standalone_mode=False)
    assert "p evolves, as step 2" in told.output
    told = CliRunner().invoke(ebbtide, arguments, standalone_mode=False)
    assert told.output.startswith("p evolves\n")  # there is nothing to do any more
    (query,) = Location(str(tmp_path / "here")).program("p").queries
    assert query.view.snapshot() == [(0, 12), (1, 11), (2, 13)]


def test_a_large_state_gives_the_answers_of_a_fresh_run(tmp_path: Path) -> None:
    """A million rows under the long profile."""
    long = "SELECT k, COUNT(*) AS n, MAX(v) AS m FROM s [RANGE 1 DAY] GROUP BY k"
    after = {"long": long, "late": long.replace("1 DAY", "2 DAYS")}

    def fed(program: Program, start: int, count: int) -> None:
        program.engine.feed("s", [(i % 4099, i, i * 10) for i in range(start, start + count)])
        program.engine.step()

    program = Program(tmp_path / "evolved", S, {"long": long})
    fed(program, 0, LARGE)
    assert program.evolve(f"{S} RETAIN 1 HOUR", {"long": long}).carried
    assert program.evolve(f"{S} RETAIN 1 HOUR", after).rebuilt
    program.start()
    fed(program, LARGE, LARGE // 10)
    fresh = Program(tmp_path / "fresh", f"{S} RETAIN 1 HOUR", after)
    fed(fresh, 0, LARGE + LARGE // 10)
    for name in after:
        assert rows(program.queries[name].snapshot()) == rows(fresh.queries[name].snapshot())
    program.engine.stop()
    fresh.engine.stop()
