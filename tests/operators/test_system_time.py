"""s JOIN t FOR SYSTEM_TIME AS OF s.at: facts with what a table had at their times.

rates    EUR |--2--------|--3------------...
orders       1 at 1   2 at 4   3 at 5
"""

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ebbtide import Engine
from ebbtide.config import Config
from ebbtide.errors import EbbtideError

SCRIPT = """
CREATE STREAM orders (id BIGINT NOT NULL, cur STRING, amount BIGINT, at TIMESTAMP NOT NULL,
  PROGRESS FOR at AS at - INTERVAL 5 SECONDS) RETAIN 1 HOUR;
CREATE TABLE rates (cur STRING, rate BIGINT, at TIMESTAMP, op STRING, PRIMARY KEY (cur),
  PROGRESS FOR at AS at - INTERVAL 5 SECONDS) TIME at OP op RETAIN 1 HOUR;
CREATE TABLE names (cur STRING, name STRING);
CREATE STREAM ticks (cur STRING, rate BIGINT, at TIMESTAMP NOT NULL, PROGRESS FOR at AS at);
"""
INNER = """
SELECT o.id, o.amount * r.rate AS total FROM orders AS o
JOIN rates FOR SYSTEM_TIME AS OF o.at AS r ON r.cur = o.cur
"""
LEFT = INNER.replace("JOIN rates", "LEFT JOIN rates")
WORLDS = {"quick": 2, "ci": 2, "long": 100}[Config.from_environment().profile]


def second(number: int) -> str:
    return f"2026-01-01 00:00:{number:02d}"


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    made = Engine(tmp_path, transport="local")
    made.execute(SCRIPT)
    return made


def shown(query: Any, at: int | None = None) -> Counter[Any]:
    rows = query.snapshot() if at is None else query.snapshot(at=second(at))
    return Counter(tuple(row.values()) for row in rows.to_pylist())


def test_a_fact_meets_what_the_table_had_at_its_time(engine: Engine) -> None:
    inner, left = engine.query(INNER, name="i"), engine.query(LEFT, name="l")
    engine.start(inner, left, name="p")
    engine.feed("rates", [("EUR", 2, second(2)), ("EUR", 3, second(5))])
    engine.feed("orders", [(1, "EUR", 10, second(1)), (2, "EUR", 10, second(4))])
    engine.feed("orders", [(3, "EUR", 10, second(5)), (4, "USD", 10, second(6))])
    engine.step()
    assert shown(inner) == {(2, 20): 1, (3, 30): 1}
    assert shown(left) == {(1, None): 1, (2, 20): 1, (3, 30): 1, (4, None): 1}
    # A rate that comes late, for a time before, corrects the facts since.
    engine.feed("rates", [("EUR", 5, second(3))])
    engine.step()
    assert shown(inner) == {(2, 50): 1, (3, 30): 1}


def test_final_facts_wait_for_both(engine: Engine) -> None:
    query = engine.query(f"{INNER} EMIT FINAL", name="q")
    query.start()
    engine.feed("rates", [("EUR", 2, second(2))])
    engine.feed("orders", [(1, "EUR", 10, second(4))])
    engine.advance("orders", second(9))
    engine.step()
    assert query.changes().num_rows == 0
    engine.advance("rates", "2026-01-01 02:00:00")
    engine.step()
    assert shown(query) == {(1, 20): 1}


def test_a_window_is_applied_to_the_result(engine: Engine) -> None:
    query = engine.query(
        "SELECT r.rate, COUNT(*) AS n FROM orders [RANGE 3 SECONDS] AS o "
        "JOIN rates FOR SYSTEM_TIME AS OF o.at AS r USING (cur) GROUP BY r.rate",
        name="q",
    )
    query.start()
    engine.feed("rates", [("EUR", 2, second(2)), ("EUR", 3, second(5))])
    engine.feed("orders", [(1, "EUR", 10, second(3)), (2, "EUR", 10, second(5))])
    engine.advance("orders", second(20))
    engine.step()
    # The order at 3 keeps the rate of 3, also while the rate is another.
    assert shown(query, 3) == {(2, 1): 1}
    assert shown(query, 5) == {(2, 1): 1, (3, 1): 1}
    assert shown(query, 6) == {(3, 1): 1}
    assert shown(query, 8) == {}


def test_a_static_table_and_a_windowed_stream_have_snapshots_too(engine: Engine) -> None:
    engine.feed("names", [("EUR", "euro")])
    query = engine.query(
        "SELECT o.id, t.rate, n.name FROM orders AS o "
        "JOIN ticks [PARTITION BY cur ROWS 1] FOR SYSTEM_TIME AS OF o.at AS t ON t.cur = o.cur "
        "JOIN names FOR SYSTEM_TIME AS OF o.at AS n ON n.cur = t.cur",
        name="q",
    )
    query.start()
    engine.feed("ticks", [("EUR", 2, second(2)), ("EUR", 3, second(5))])
    engine.feed("orders", [(1, "EUR", 10, second(1)), (2, "EUR", 10, second(4))])
    engine.feed("orders", [(3, "EUR", 10, second(7))])
    engine.step()
    assert shown(query) == {(2, 2, "euro"): 1, (3, 3, "euro"): 1}


def rate_at(changes: list[tuple[str, int, int, str]], cur: str, t: int) -> int | None:
    """The rate of a currency at a time, by walking its history."""
    known = [change for change in changes if change[0] == cur and change[2] <= t]
    if not known:
        return None
    *_, (_, rate, _, op) = sorted(known, key=lambda change: change[2])
    return rate if op == "upsert" else None


@pytest.mark.parametrize("seed", range(WORLDS))
def test_any_order_of_arrival_and_any_cut(engine: Engine, seed: int) -> None:
    dice = Random(seed)
    instants = dice.sample(range(50), 12)
    words = ("upsert", "upsert", "end")
    changes = [
        (dice.choice(("EUR", "USD")), dice.randrange(1, 9), t, dice.choice(words)) for t in instants
    ]
    orders = [(i, dice.choice(("EUR", "USD", None)), 10, dice.randrange(50)) for i in range(12)]
    inner, left = engine.query(INNER, name="i"), engine.query(LEFT, name="l")
    engine.start(inner, left, name="p")
    fed: list[Any] = [("rates", c) for c in changes] + [("orders", o) for o in orders]
    dice.shuffle(fed)
    for place, (name, row) in enumerate(fed):
        if name == "rates":
            engine.feed(name, [(*row[:2], second(row[2]))], row[3])
        else:
            engine.feed(name, [(*row[:3], second(row[3]))])
        if place % 5 == 0:
            engine.step()
    engine.step()
    expected: Counter[Any] = Counter()
    for id_, cur, amount, t in orders:
        rate = None if cur is None else rate_at(changes, cur, t)
        expected[(id_, None if rate is None else amount * rate)] += 1
    assert shown(left) == expected
    assert shown(inner) == Counter({row: n for row, n in expected.items() if row[1] is not None})


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("SELECT * FROM rates FOR SYSTEM_TIME AS OF at", "unsupported-syntax"),
        (INNER.replace("o.at", "o.amount"), "not-a-time"),
        (INNER.replace("rates FOR", "ticks FOR"), "facts-need-window"),
        (INNER.replace("orders AS o", "rates AS o").replace("o.id", "o.cur"), "facts-needed"),
        (INNER.replace("JOIN rates", "RIGHT JOIN rates"), "unsupported-syntax"),
        (INNER.replace("o.at AS r", "o.when AS r"), "unknown-column"),
    ],
)
def test_what_cannot_be(engine: Engine, sql: str, code: str) -> None:
    with pytest.raises(EbbtideError) as caught:
        engine.query(sql)
    assert caught.value.code == code
