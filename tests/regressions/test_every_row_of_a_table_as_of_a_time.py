"""``s CROSS JOIN t FOR SYSTEM_TIME AS OF s.at`` has no condition, and was a Python error.

It gives each fact all rows that the table had at its time.
"""

from pathlib import Path

from ebbtide import Engine


def test_each_fact_meets_all_rows_that_there_were(tmp_path: Path) -> None:
    engine = Engine(tmp_path, transport="local")
    engine.execute("""
        CREATE STREAM o (id BIGINT, at TIMESTAMP NOT NULL, PROGRESS FOR at AS at);
        CREATE TABLE r (k BIGINT PRIMARY KEY, x BIGINT, at TIMESTAMP NOT NULL,
          PROGRESS FOR at AS at) TIME at;
    """)
    answer = engine.query(
        "SELECT o.id, r.k, r.x FROM o CROSS JOIN r FOR SYSTEM_TIME AS OF o.at AS r"
    )
    answer.start()
    engine.feed("r", [(1, 10, 5), (2, 20, 8), (1, 11, 9)])
    engine.feed("o", [(1, 4), (2, 5), (3, 8), (4, 9)])
    engine.step()
    rows = sorted(map(tuple, answer.to_pandas().itertuples(index=False)))
    assert rows == [(2, 1, 10), (3, 1, 10), (3, 2, 20), (4, 1, 11), (4, 2, 20)]
    engine.stop()
