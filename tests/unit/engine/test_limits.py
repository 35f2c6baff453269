"""What is small to write and large to run has a limit, a code and a setting."""

from __future__ import annotations

import gzip
import time
from pathlib import Path

import pytest

from ebbtide import Engine
from ebbtide.config import Config, Limits
from ebbtide.core.schema import schema
from ebbtide.core.types import BIGINT
from ebbtide.errors import EbbtideError, EvaluationError, UnsupportedError
from ebbtide.files import HowToRead

STREAM = "CREATE STREAM s (k BIGINT, t STRING, at TIMESTAMP, PROGRESS FOR at AS at)"


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    engine = Engine(tmp_path, transport="local")
    engine.execute(STREAM)
    return engine


@pytest.mark.parametrize(
    "windows",
    ["HOP(s, at, 1 MICROSECOND, 1 DAY)", "CUMULATE(s, at, 1 MILLISECOND, 1 DAY)"],
)
def test_windows_of_a_row(engine: Engine, windows: str) -> None:
    query = f"SELECT window_end, COUNT(*) AS n FROM {windows} GROUP BY window_end EMIT FINAL"
    with pytest.raises(EbbtideError) as caught:
        engine.query(query)
    assert caught.value.code == "too-many-windows"
    engine.limits = Limits(windows=10**12)
    engine.query(query)


def test_as_many_windows_as_are_allowed(engine: Engine) -> None:
    engine.limits = Limits(windows=60)
    engine.query("SELECT k, window_end FROM HOP(s, at, 1 MINUTE, 1 HOUR)")
    with pytest.raises(EbbtideError, match="61 windows"):
        engine.query("SELECT k, window_end FROM HOP(s, at, 1 MINUTE, 61 MINUTES)")


@pytest.mark.parametrize(
    "made",
    [
        "REPEAT(t, 100000000)",
        "REPEAT(t, CAST(k AS INT))",
        "LPAD(t, 70000)",
        "RPAD(t, 70000, 'ab')",
        "REPLACE(t, 'x', REPEAT('y', 65536))",
        "REPLACE(t, t, REPEAT(t, 65536))",
    ],
)
def test_texts_that_functions_make(engine: Engine, made: str) -> None:
    query = engine.query(f"SELECT {made} AS made FROM s [NOW] ON ERROR FAIL")
    query.start()
    engine.feed("s", [(100_000_000, "xxx", 1)])
    with pytest.raises(EvaluationError) as caught:
        engine.step()
    assert caught.value.code == "text-too-long"


def test_texts_within_the_limit(engine: Engine) -> None:
    query = engine.query(
        "SELECT LENGTH(REPEAT(t, 32768)) AS a, LENGTH(RPAD(t, 65536)) AS b, REPEAT(t, -1) AS c, "
        "LENGTH(REPLACE(t, 'x', REPEAT('y', 32768))) AS d FROM s [NOW]"
    )
    query.start()
    engine.feed("s", [(1, "xx", 1), (2, None, 1)])
    engine.step()
    found = sorted(tuple(row.values()) for row in query.snapshot().to_pylist() if row["a"])
    assert found == [(65536, 65536, "", 65536)]


def test_long_statements(engine: Engine) -> None:
    engine.limits = Limits(statement=100)
    engine.execute(f"SHOW STREAMS;\n{' ' * 200}\nSHOW STREAMS")  # each by itself is short
    with pytest.raises(EbbtideError) as caught:
        engine.query(f"SELECT {' + '.join(['k'] * 40)} AS x FROM s [NOW]")
    assert caught.value.code == "statement-too-long"


def test_a_long_list_is_bound_soon(engine: Engine) -> None:
    began = time.process_time()
    values = ", ".join(map(str, range(0, 100_000, 2)))
    query = engine.query(f"SELECT k FROM s [RANGE 1 HOUR] WHERE k IN ({values})")
    query.start()
    engine.feed("s", [(k, "", 1) for k in range(5)])
    engine.step()
    assert sorted(query.snapshot().column("k").to_pylist()) == [0, 2, 4]
    assert time.process_time() - began < 20, "it took a quadratic time before"


def test_a_file_that_unpacks_to_too_much(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv.gz"
    file.write_bytes(gzip.compress(b"k\n" + b"1\n" * 10_000_000))
    reader = HowToRead("csv", "UTC", (), unpacked=10_000_000).reader(schema(k=BIGINT))
    batches = list(reader.rows(str(file)))
    told = batches[-1].column(1).to_pylist()[-1]
    assert "unpacks to more than 10,000,000 bytes" in told
    assert sum(batch.num_rows for batch in batches) <= 5_000_001
    whole = HowToRead("csv", "UTC", (), unpacked=20_000_002).reader(schema(k=BIGINT))
    assert sum(batch.num_rows for batch in whole.rows(str(file))) == 10_000_000
    assert HowToRead.of(HowToRead("csv", "UTC", (), unpacked=7).text).unpacked == 7


@pytest.mark.parametrize("t", [-62_135_596_800_000_001, 253_402_300_800_000_000, 2**62])
def test_a_time_that_no_calendar_has_is_malformed(engine: Engine, t: int) -> None:
    query = engine.query("SELECT k FROM s [RANGE 1 HOUR]")
    query.start()
    engine.feed("s", [(1, "", 5), (2, "", t)])
    engine.step()
    assert query.snapshot().column("k").to_pylist() == [1]
    assert engine.late("s").column("reason").to_pylist() == ["malformed"]


def test_settings() -> None:
    found = Config.from_environment({"EBBTIDE_MAX_WINDOWS": "7", "EBBTIDE_MAX_UNPACKED": ""})
    assert found.limits == Limits(windows=7)
    for wrong in ("0", "-1", "many", "1.5", "²"):
        with pytest.raises(UnsupportedError, match="EBBTIDE_MAX_STATEMENT"):
            Config.from_environment({"EBBTIDE_MAX_STATEMENT": wrong})


def _links(count: int) -> list[tuple[str, str]]:
    """Queries, each of which names the one before twice."""
    links = [("c0", "SELECT k FROM s [NOW]")]
    for n in range(1, count):
        links.append((f"c{n}", f"SELECT a.k FROM c{n - 1} a JOIN c{n - 1} b ON a.k = b.k"))
    return links


def test_a_chain_of_queries_that_doubles(engine: Engine) -> None:
    parts = ", ".join(f"{name} AS ({text})" for name, text in _links(40))
    began = time.process_time()
    with pytest.raises(EbbtideError) as caught:
        engine.query(f"WITH {parts} SELECT k FROM c39")
    assert caught.value.code == "plan-too-large"
    assert time.process_time() - began < 20, "it would take for ever"
    assert caught.value.span is not None
    assert caught.value.span.text == "c7 a"


@pytest.mark.parametrize("kind", ["VIEW", "MATERIALIZED VIEW"])
def test_a_chain_of_views_that_doubles(engine: Engine, kind: str) -> None:
    refused = []
    for name, text in _links(12):
        try:
            engine.execute(f"CREATE {kind} {name} AS {text}")
        except EbbtideError as error:
            refused.append(error.code)
    assert refused[0] == "plan-too-large"
    assert len(refused) in (3, 4)


def test_as_many_operators_as_are_allowed(engine: Engine) -> None:
    engine.execute("CREATE VIEW v AS SELECT k FROM s [NOW]")
    twice = "SELECT a.k FROM v a JOIN v b ON a.k = b.k"
    engine.limits = Limits(operators=10)  # a view, its projection, alias, window and stream: twice
    engine.query(twice)
    engine.limits = Limits(operators=9)
    with pytest.raises(EbbtideError, match="more than 9 operators") as caught:
        engine.query(twice)
    assert caught.value.hint is not None
    assert caught.value.hint.endswith("set EBBTIDE_MAX_OPERATORS to more than 10")
    engine.query("SELECT k FROM v")
