"""Kernels are made ready without a trace."""

from __future__ import annotations

from pathlib import Path

from ebbtide import Engine
from ebbtide.engine.warming import warm, warming

SCRIPT = """
CREATE STREAM orders (id BIGINT, shop STRING, total DECIMAL(10, 2), at TIMESTAMP NOT NULL,
  PRIMARY KEY (id), PROGRESS FOR at AS at) FROM FILES 'orders' FORMAT json;
CREATE TABLE shops (shop STRING, city STRING, since TIMESTAMP, op STRING, PRIMARY KEY (shop),
  PROGRESS FOR since AS since) TIME since OP op;
CREATE TABLE cities (city STRING, people BIGINT) FROM FILES 'cities' FORMAT csv;
CREATE VIEW totals AS SELECT o.shop, s.city, SUM(o.total) AS total
  FROM orders [RANGE 1 HOUR] AS o JOIN shops AS s ON s.shop = o.shop GROUP BY o.shop, s.city;
"""


def test_queries_on_files_run_once_and_leave_nothing(tmp_path: Path) -> None:
    engine = Engine(tmp_path / "state")
    engine.execute(SCRIPT)
    query = engine.query(
        "SELECT t.*, c.people FROM totals AS t JOIN cities AS c ON c.city = t.city"
    )
    warm(engine, [query])
    assert list(tmp_path.iterdir()) == []


def test_what_goes_wrong_is_left_to_the_query(tmp_path: Path) -> None:
    engine = Engine(tmp_path / "state")
    engine.execute("CREATE STREAM s (a INT NOT NULL, at TIMESTAMP, PROGRESS FOR at AS at)")
    query = engine.query("SELECT 1 / (a - 1) AS b FROM s [NOW]")
    with warming(engine, [query]) as thread:
        pass
    assert not thread.is_alive()
