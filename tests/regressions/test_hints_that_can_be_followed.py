"""What the hint of an error says to write is then taken, and what EXPLAIN says is so."""

from pathlib import Path

import pytest

from ebbtide import Engine
from ebbtide.errors import BindError, EbbtideError, TemporalError

SCRIPT = """
CREATE STREAM a (k BIGINT, v BIGINT, at TIMESTAMP, PROGRESS FOR at AS at - INTERVAL 5 SECONDS);
CREATE STREAM b (k BIGINT, w BIGINT, at TIMESTAMP, PROGRESS FOR at AS at - INTERVAL 5 SECONDS);
CREATE STREAM z (k BIGINT, received TIMESTAMP ARRIVAL);
CREATE STREAM d (k BIGINT, at TIMESTAMP);
CREATE TABLE r (k BIGINT, x BIGINT, at TIMESTAMP, PRIMARY KEY (k), PROGRESS FOR at AS at) TIME at;
"""


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    engine = Engine(tmp_path, transport="local")
    engine.execute(SCRIPT)
    return engine


@pytest.mark.parametrize(
    "time",
    ["PROCTIME()", "NOW()", "a.at + INTERVAL 1 SECOND", "TIMESTAMP '2026-01-01 00:00:00'", "a.v"],
)
def test_a_table_as_of_something_else_than_a_time_of_the_row(engine: Engine, time: str) -> None:
    query = "SELECT a.k, r.x FROM a JOIN r FOR SYSTEM_TIME AS OF {} ON r.k = a.k"
    with pytest.raises(BindError, match="not-a-time") as refused:
        engine.query(query.format(time))
    if time != "a.v":
        assert refused.value.hint == "write FOR SYSTEM_TIME AS OF a.at"
    engine.query(query.format("a.at"))


def test_a_star_beside_an_aggregate(engine: Engine) -> None:
    query, grouped = "SELECT *, COUNT(*) AS n FROM r", ""
    for column in ("r.k", "r.x", "r.at"):
        with pytest.raises(BindError, match="not-grouped") as refused:
            engine.query(query + grouped)
        assert refused.value.hint == f"group by {column} as well"
        grouped = f"{grouped}, {column}" if grouped else f" GROUP BY {column}"
    engine.query(query + grouped)


def test_a_full_join_that_is_to_be_final(engine: Engine) -> None:
    rows = """a FULL JOIN b ON a.k = b.k AND b.at BETWEEN a.at AND a.at + INTERVAL 2 SECONDS
      EMIT FINAL"""
    with pytest.raises(TemporalError, match="never-final") as refused:
        engine.query(f"SELECT a.k, a.at, b.at AS other FROM {rows}")
    assert refused.value.hint == "select COALESCE(a.at, b.at) too, a time that every row has"
    engine.query(f"SELECT a.k, a.at, b.at AS other, COALESCE(a.at, b.at) AS t FROM {rows}")


def test_a_condition_on_now_of_the_side_that_a_join_keeps(engine: Engine) -> None:
    engine.query(
        """SELECT x.k, x.v, b.w FROM a AS x LEFT JOIN b [RANGE 3 SECONDS] ON x.k = b.k
        WHERE x.at > NOW() - INTERVAL 8 SECONDS"""
    )


def test_a_view_that_does_not_keep_its_promise_is_refused_where_it_is_declared(
    engine: Engine,
) -> None:
    epoch = "TIMESTAMP '2026-01-01 00:00:00'"
    query = f"AS SELECT k, {epoch} - (at - {epoch}) AS t FROM a"
    with pytest.raises(TemporalError, match="invalid-view") as refused:
        engine.execute(f"CREATE VIEW v (k, t, PROGRESS FOR t) {query}")
    assert refused.value.hint == "leave out PROGRESS FOR t"
    engine.execute(f"CREATE VIEW v (k, t) {query}")


def test_a_time_that_is_computed_is_bounded_in_a_query_in_from(engine: Engine) -> None:
    opens = "at + v * INTERVAL 1 SECOND"
    with pytest.raises(TemporalError, match="unbounded-state") as refused:
        engine.query(f"SELECT k FROM a WHERE NOW() >= {opens}")
    assert "query in FROM" in str(refused.value.hint)
    engine.query(
        f"""SELECT k FROM (SELECT k, at, {opens} AS opens FROM a) AS x
        WHERE NOW() >= opens AND opens <= at + INTERVAL 1 DAY"""
    )


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("SELECT a.k FROM a ASOF JOIN b ON a.k = b.k", None),
        ("SELECT k FROM ISTREAM(SELECT k FROM a)", "SELECT k FROM ISTREAM(SELECT k FROM {})"),
    ],
)
def test_names_that_are_in_the_query(engine: Engine, wrong: str, right: str | None) -> None:
    with pytest.raises((BindError, TemporalError)) as refused:
        engine.query(wrong)
    hint = refused.value.hint or ""
    if right is None:
        match = hint.removeprefix("add ").removesuffix(" before ON")
        bound = "AND a.at <= b.at + INTERVAL 1 HOUR"
        engine.query(f"SELECT a.k FROM a ASOF JOIN b {match} ON a.k = b.k {bound}")
    else:
        engine.query(right.format(hint.removeprefix("write ")))


def test_what_the_clock_moves_is_not_said_to_be_late(engine: Engine) -> None:
    query = engine.query(
        """SELECT k, window_end, COUNT(*) AS n FROM TUMBLE(z, received, 1 MINUTE)
        GROUP BY k, window_end EMIT FINAL"""
    )
    said = str(query.explain())
    assert "once the clock of a step is 1 us before window_end" in said
    assert "late" not in said


@pytest.mark.parametrize(
    ("columns", "column"),
    [("at, k", "k"), ("v / 2, at", "k"), ("v > 1, at", "k"), ("k, v", "at"), ("k, v > 1", "at")],
)
def test_columns_in_another_order(engine: Engine, columns: str, column: str) -> None:
    with pytest.raises(BindError, match=f'type-mismatch.*"{column}"') as refused:
        engine.execute(f"INSERT INTO d SELECT {columns} FROM a")
    assert refused.value.hint is not None


@pytest.mark.parametrize(
    ("query", "code"),
    [
        (
            "SELECT * FROM SESSION(a PARTITION BY k, at, 3 SECONDS) [RANGE 9 SECONDS ON {}]",
            "computed-time",
        ),
        (
            """SELECT k, COUNT(*) AS n FROM SESSION(a PARTITION BY k, at, 3 SECONDS)
            [RANGE 9 SECONDS ON {}] GROUP BY k""",
            "unbounded-state",
        ),
    ],
)
def test_a_window_on_the_times_of_rows_in_sessions(engine: Engine, query: str, code: str) -> None:
    with pytest.raises(EbbtideError, match=code) as refused:
        engine.query(query.format("at"))
    assert refused.value.hint == "put the window on a time that progresses: ON window_end"
    engine.query(query.format("window_end")).start()
