"""Several views of a run that has failed were shown without a word about it."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from ebbtide import Engine
from ebbtide.errors import EvaluationError, QueryError, StateError

STREAM = "CREATE STREAM s (k BIGINT, at TIMESTAMP, PROGRESS FOR at AS at)"


def test_it_is_told_as_by_one_view(tmp_path: Path) -> None:
    engine = Engine(tmp_path, transport="local")
    engine.execute(STREAM)
    a = engine.query("SELECT k, 10 / k AS x FROM s [RANGE 1 HOUR] ON ERROR FAIL", name="a")
    b = engine.query("SELECT COUNT(*) AS n FROM s [RANGE 1 HOUR]", name="b")
    engine.start(a, b, name="p")
    engine.feed("s", [(1, 1)])
    engine.step()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert engine.snapshot(["a", "b"], strict=True)["b"].to_pylist() == [{"n": 1}]
    engine.feed("s", [(0, 2)])
    with pytest.raises(EvaluationError):
        engine.step()
    with pytest.warns(RuntimeWarning, match='the run of "a" has failed') as warned:
        assert engine.snapshot(["a", "b"])["b"].to_pylist() == [{"n": 1}]
    assert [Path(each.filename).name for each in warned] == [Path(__file__).name]
    with pytest.raises(StateError) as caught:
        engine.snapshot(["b"], strict=True)
    assert caught.value.code == "run-failed"


def test_rows_that_were_left_out(tmp_path: Path) -> None:
    engine = Engine(tmp_path, transport="local")
    engine.execute(STREAM)
    a = engine.query("SELECT k, 10 / k AS x FROM s [RANGE 1 HOUR]", name="a")
    b = engine.query("SELECT COUNT(*) AS n FROM s [RANGE 1 HOUR]", name="b")
    engine.start(a, b, name="p")
    engine.feed("s", [(0, 1)])
    engine.step()
    assert engine.snapshot(["b"], strict=True)["b"].to_pylist() == [{"n": 1}]
    with pytest.raises(QueryError) as caught:
        engine.snapshot(["b", "a"], strict=True)
    assert caught.value.code == "rows-left-out"
