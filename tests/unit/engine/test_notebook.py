"""What people see of engines, queries and runs, and what a cell that runs again does."""

import os
import warnings
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import ebbtide
from ebbtide import Engine
from ebbtide.errors import EbbtideError, QueryError, StateError

BIDS = "CREATE STREAM bids (auction BIGINT, price BIGINT, at TIMESTAMP, PROGRESS FOR at AS at)"
LAST = "SELECT auction, price FROM bids [RANGE 1 HOUR]"
ROWS = [(1, 10, "2026-01-01 00:00:00"), (2, 0, "2026-01-01 00:00:30")]


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    made = Engine(tmp_path / "here", transport="local")
    made.execute(BIDS)
    return made


def test_the_same_query_goes_on_when_its_cell_runs_again(engine: Engine) -> None:
    for expected in (0, 1):
        run = engine.query(LAST, name="last", replace=True).start()
        engine.feed("bids", ROWS)
        engine.step()
        assert run.status.version == expected
    assert not os.path.exists(f"{engine.location}/replaced")


def test_another_query_takes_the_place_and_nothing_is_deleted(engine: Engine) -> None:
    first = engine.query(LAST, name="last", replace=True).start()
    engine.feed("bids", ROWS)
    engine.step()
    query = engine.query("SELECT COUNT(*) AS n FROM bids [RANGE 1h]", name="last", replace=True)
    assert not first.active
    query.start()
    engine.step()
    assert query.to_pandas()["n"].tolist() == [2]
    assert os.listdir(f"{engine.location}/replaced") == ["last-1"]
    assert os.path.exists(f"{engine.location}/replaced/last-1/program.json")


def test_without_replace_a_name_is_given_once(engine: Engine) -> None:
    engine.query(LAST, name="last")
    with pytest.raises(QueryError) as caught:
        engine.query(LAST, name="last")
    assert caught.value.code == "duplicate-name"
    assert "replace=True" in str(caught.value.hint)


def test_a_program_that_runs_is_not_replaced_by_another_process(engine: Engine) -> None:
    run = engine.query(LAST, name="last").start()
    other = Engine(engine.location, transport="local")
    other.execute(BIDS)
    with pytest.raises(StateError) as caught:
        other.query("SELECT price FROM bids [NOW]", name="last", replace=True).start()
    assert caught.value.code == "state-in-use"
    assert run.active


def test_a_failed_run_says_so_wherever_one_looks(engine: Engine) -> None:
    text = "SELECT auction, 10 DIV price AS x FROM bids [RANGE 1 HOUR]"
    query = engine.query(text, name="q", on_error="fail")
    run = query.start()
    engine.feed("bids", ROWS[:1])
    engine.step()
    assert str(run.status) == "running, after step 0, now 2026-01-01 00:00:00"
    assert run.status.now == datetime(2026, 1, 1, tzinfo=UTC)
    engine.feed("bids", ROWS[1:])
    with pytest.raises(EbbtideError):
        engine.step()
    assert run.failure is not None
    assert run.status.failure is run.failure
    for shown in (repr(run), run._repr_html_(), engine._repr_html_()):
        assert "failed after step 0" in shown
        assert "division-by-zero" in shown
    for read in (query.snapshot, query.to_pandas, query.changes):
        with pytest.warns(RuntimeWarning, match="this is what it said before"):
            read()
    with pytest.raises(StateError) as caught:
        query.snapshot(strict=True)
    assert caught.value.code == "run-failed"
    assert caught.value.__cause__ is run.failure


def test_a_run_that_is_well_warns_of_nothing(engine: Engine) -> None:
    query = engine.query(LAST, name="q")
    assert repr(query.start()) == "Run('q', running, before the first step)"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert query.to_pandas().empty


def test_tables_for_notebooks_escape_what_they_show(engine: Engine) -> None:
    query = engine.query("SELECT '<b>' AS x FROM bids [NOW]", name="q")
    query.start()
    for shown in (engine, query, query.verdict):
        assert shown._repr_html_().startswith("<table>")
    assert "<b>" not in query._repr_html_()
    assert "bids" in engine._repr_html_()


@pytest.mark.parametrize(
    "length", ["90s", "1m30s", "90 seconds", 90_000_000, timedelta(seconds=90)]
)
def test_durations_are_written_alike(length: object) -> None:
    from ebbtide.core.time import SECOND
    from ebbtide.engine.arguments import length_of

    assert length_of("retain", length) == 90 * SECOND


WRONG = {
    "shards": lambda e: Engine("x", shards="2"),
    "location": lambda e: Engine(7),
    "script": lambda e: e.execute(7),
    "query": lambda e: e.query(7),
    "name": lambda e: e.query(LAST, name=7),
    "rows": lambda e: e.feed("bids", "1"),
    "trigger": lambda e: e.query(LAST).start(trigger="availableNow"),
}


@pytest.mark.parametrize("argument", WRONG)
def test_a_wrong_type_is_refused_by_the_name_of_the_argument(engine: Engine, argument: str) -> None:
    with pytest.raises(QueryError) as caught:
        WRONG[argument](engine)
    assert caught.value.code == "wrong-type"
    assert caught.value.message.startswith(f"{argument} cannot be ")
    assert caught.value.hint


def test_a_bad_duration_names_its_argument() -> None:
    from ebbtide.engine.arguments import length_of

    with pytest.raises(QueryError, match='lateness: "soon" is not a duration'):
        length_of("lateness", "soon")


def test_dir_shows_what_there_is() -> None:
    assert set(ebbtide.__all__) <= set(dir(ebbtide))
