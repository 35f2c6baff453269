"""An error says what is wrong with its own row, whatever rows came in the same step.

It used to name the place that the first failing row had asked for.  The error of a row that was
deleted later had other words then, so it stayed among the errors.
"""

from pathlib import Path

import pytest

from ebbtide import Engine

NOON = "2026-01-01 12:00:00"


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("ARRAY(1, 2)[v]", "out-of-bounds: there is no item {v} of 2"),
        ("ELEMENT_AT(ARRAY(1), v)", "out-of-bounds: there is no item {v} of 1"),
        ("CAST(v * 1000 AS TINYINT)", "overflow: {v}000 is out of the range of TINYINT"),
        ("CAST(v * 1e22 AS BIGINT)", "overflow: {v}e+22 is out of the range of BIGINT"),
    ],
)
def test_an_error_is_about_its_own_row_and_goes_with_it(
    tmp_path: Path, expression: str, words: str
) -> None:
    engine = Engine(tmp_path, transport="local")
    engine.execute("""
        CREATE STREAM s (k BIGINT, v INT, at TIMESTAMP, PRIMARY KEY (k),
          PROGRESS FOR at AS at - INTERVAL 1 HOUR) RETAIN 1 HOUR
    """)
    query = engine.query(f"SELECT k, {expression} AS x FROM s [RANGE 1 HOUR]", name="q")
    query.start()

    def said() -> set[str]:
        engine.step()
        return {row["error"] for row in query.errors().to_pylist()}

    engine.feed("s", [(k, k, NOON) for k in (2, 3, 4)])
    assert said() == {words.format(v=v) for v in (2, 3, 4)}
    engine.feed("s", [(3, 3, NOON)], op="delete")
    assert said() == {words.format(v=v) for v in (2, 4)}
    engine.stop()
