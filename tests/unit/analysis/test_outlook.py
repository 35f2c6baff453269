"""What people ask first: how fresh, how final, how late, how much."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysed import World
from ebbtide import Engine
from ebbtide.analysis.outlook import outlook
from ebbtide.engine.location import Location
from ebbtide.engine.state_report import holdings
from ebbtide.errors import QueryError

WORLD = World(
    """
    CREATE STREAM orders (id BIGINT, total DOUBLE, placed_at TIMESTAMP NOT NULL,
      PROGRESS FOR placed_at AS placed_at);
    CREATE STREAM payments (order_id BIGINT, paid_at TIMESTAMP NOT NULL,
      PROGRESS FOR paid_at AS paid_at - INTERVAL 5 SECONDS) RETAIN 1 HOUR;
    CREATE TABLE rates (id BIGINT NOT NULL, rate DOUBLE, since TIMESTAMP NOT NULL, op STRING,
      PRIMARY KEY (id), PROGRESS FOR since AS since - INTERVAL 5 SECONDS) TIME since OP op;
    """
)


@pytest.mark.parametrize(
    ("sql", "lines"),
    [
        (
            "SELECT order_id, COUNT(*) AS n FROM payments [RANGE 10 MINUTES] GROUP BY order_id",
            """\
            fresh    a row is shown in the step that reads what it is made of; it leaves by itself \
as now moves on
            final    once "payments" has a row 5 s after its end
            late     "payments": rows that come 5 s behind are late, and revise the answer; from \
1 h 5 s on they are set aside
            keeps    rows of "payments" for 1 h 10 min
            key      order_id""",
        ),
        (
            "SELECT o.id, o.placed_at FROM orders o WHERE NOT EXISTS (SELECT 1 FROM payments p "
            "WHERE p.order_id = o.id AND p.paid_at BETWEEN o.placed_at "
            "AND o.placed_at + INTERVAL 10 MINUTES) EMIT FINAL",
            """\
            fresh    a row is shown when it is final, and not before
            final    once "orders" has a row after placed_at and "payments" has a row \
10 min 5 s after placed_at""",
        ),
        (
            "SELECT id FROM orders WHERE total > 5",
            """\
            fresh    a row is shown in the step that reads what it is made of
            final    at once: orders only gets facts
            late     "orders": rows that come behind others are late, and are set aside
            keeps    nothing
            key      none: rows may repeat""",
        ),
        (
            "SELECT id, COUNT(*) AS n FROM orders GROUP BY id",
            """\
            fresh    a row is shown in the step that reads what it is made of
            final    never: nothing bounds orders.placed_at by a time of the result, which has none
            late     "orders": rows that come behind others are late, and are set aside
            keeps    an accumulator for each group of "orders"
            key      id""",
        ),
    ],
)
def test_the_text_answers_what_people_ask(sql: str, lines: str) -> None:
    text = WORLD.explained(sql).text
    expected = [line.strip() for line in lines.splitlines()]
    assert text.splitlines()[: len(expected)] == expected


@pytest.mark.parametrize(
    ("sql", "kept"),
    [
        ("SELECT * FROM rates", 'as much as "rates" holds'),
        ("SELECT DISTINCT id FROM orders [ROWS 5]", 'the last 5 rows of "orders"'),
        (
            "SELECT o.id FROM orders o JOIN payments p ON o.id = p.order_id",
            'every row of "orders", for ever',
        ),
    ],
)
def test_what_no_time_bounds_is_told_in_words(sql: str, kept: str) -> None:
    found = outlook(WORLD.analysed(sql), {"orders": 10, "payments": 10})
    assert kept in [each.what for each in found.kept]
    assert found.rows is None


def test_what_is_kept_twice_is_told_once() -> None:
    pairs = (
        "SELECT a.id FROM orders a JOIN orders b ON a.id = b.id "
        "AND b.placed_at BETWEEN a.placed_at - INTERVAL 1 HOUR AND a.placed_at + INTERVAL 1 HOUR"
    )
    text = WORLD.explained(pairs).text
    assert 'keeps    rows of "orders" for 1 h, twice\n' in text


def test_a_row_in_several_windows_counts_as_often() -> None:
    sql = "SELECT id, window_end, COUNT(*) AS n FROM {} GROUP BY id, window_end"
    one = outlook(WORLD.analysed(sql.format("TUMBLE(orders, placed_at, 1 MINUTE)")), {"orders": 10})
    hop = "HOP(orders, placed_at, 20 SECONDS, 1 MINUTE)"
    three = outlook(WORLD.analysed(sql.format(hop)), {"orders": 10})
    assert one.rows is not None
    assert three.rows == 3 * one.rows > 0


def test_estimates_are_of_the_size_of_what_is_stored(tmp_path: Path) -> None:
    engine = Engine(tmp_path, transport="local")
    engine.execute(
        "CREATE STREAM s (k BIGINT, x DOUBLE, at TIMESTAMP, PROGRESS FOR at AS at) RETAIN 1 MINUTE"
    )
    q = engine.query("SELECT k, AVG(x) AS mean FROM s [RANGE 5 MINUTES] GROUP BY k", name="means")
    run = q.start()
    for step in range(10):  # ten rows a second, over a thousand seconds
        rows = [(i % 7, float(i), i * 100_000) for i in range(step * 1000, (step + 1) * 1000)]
        engine.feed("s", rows)
        engine.step()
    run.stop()
    found = outlook(q.analysis, {"s": 10.0})
    held = list(holdings(Location(str(tmp_path)).query("means")))
    rows, room = sum(each.rows for each in held), sum(each.bytes for each in held)
    assert found.rows is not None
    assert found.bytes is not None
    assert rows / 1.5 <= found.rows <= rows * 1.5
    assert room / 1.5 <= found.bytes <= room * 1.5
    assert "about " in q.explain()  # the rates of the run are known
    assert "about " not in q.explain(rates={})


def test_rates_must_be_numbers(tmp_path: Path) -> None:
    engine = Engine(tmp_path, transport="local")
    engine.execute("CREATE STREAM s (k BIGINT, at TIMESTAMP, PROGRESS FOR at AS at)")
    q = engine.query("SELECT k FROM s [NOW]")
    for rates in (5, {"s": "many"}, {"s": -1}):
        with pytest.raises(QueryError, match="wrong-type"):
            q.explain(rates=rates)  # type: ignore[arg-type]
