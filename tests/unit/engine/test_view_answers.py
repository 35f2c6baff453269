"""How the answer of a view is given, and what queries on it take over from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ebbtide import Engine
from ebbtide.algebra.emission import Emit
from ebbtide.algebra.quarantine import OnError
from ebbtide.engine.script import read_script
from ebbtide.errors import EbbtideError

SCRIPT = """
CREATE STREAM bids (auction BIGINT, price DOUBLE, at TIMESTAMP NOT NULL, PROGRESS FOR at AS at);
CREATE VIEW done AS SELECT window_end, auction, COUNT(*) AS n FROM TUMBLE(bids, at, 1 MINUTE)
GROUP BY window_end, auction EMIT ON WINDOW CLOSE;
CREATE VIEW early AS SELECT * FROM done EMIT CHANGES;
CREATE VIEW told AS SELECT window_end, n FROM early EMIT CHANGES WITH FINALITY;
CREATE VIEW plain AS SELECT window_end, auction FROM done;
CREATE VIEW strict AS SELECT auction, 1 / price AS x FROM bids [RANGE 1 HOUR] ON ERROR FAIL;
CREATE VIEW ever AS SELECT a.price FROM bids a JOIN bids b ON a.auction = b.auction
ALLOW UNBOUNDED STATE;
"""
DAY = "2026-01-01"


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    made = Engine(tmp_path, transport="local")
    made.execute(SCRIPT)
    return made


@pytest.mark.parametrize(
    ("text", "emit"),
    [
        ("SELECT * FROM done", Emit.FINAL),
        ("SELECT * FROM done EMIT CHANGES", Emit.CHANGES),
        ("SELECT * FROM plain", Emit.FINAL),
        ("SELECT * FROM early", Emit.CHANGES),
        ("SELECT * FROM told", Emit.CHANGES_WITH_FINALITY),
        ("SELECT window_end FROM told UNION ALL SELECT window_end FROM done", Emit.FINAL),
        ("SELECT d.window_end FROM done d JOIN early e ON d.window_end = e.window_end", Emit.FINAL),
        ("SELECT auction FROM bids", Emit.CHANGES),
    ],
)
def test_a_query_takes_over_what_it_does_not_say(engine: Engine, text: str, emit: Emit) -> None:
    query = engine.query(text)
    assert query.bound.emit is emit
    assert engine.query(query.sql).bound == query.bound


def test_so_it_does_with_errors_and_with_state(engine: Engine) -> None:
    assert engine.query("SELECT * FROM strict").bound.on_error is OnError.FAIL
    said = engine.query("SELECT * FROM strict ON ERROR QUARANTINE")
    assert said.bound.on_error is OnError.QUARANTINE
    assert engine.query(said.sql).bound == said.bound
    assert engine.query("SELECT * FROM ever").bound.allow_unbounded


def test_what_is_not_final_is_not_shown(engine: Engine) -> None:
    final, early = (
        engine.query("SELECT * FROM done", name="done"),
        engine.query("SELECT * FROM early", name="early"),
    )
    engine.start(final, early, name="both")
    engine.feed("bids", [(1, 2.0, f"{DAY} 12:00:10"), (1, 3.0, f"{DAY} 12:01:10")])
    engine.step()
    rows = {name: table.to_pylist() for name, table in engine.snapshot(["done", "early"]).items()}
    assert [row["n"] for row in rows["done"]] == [1]
    assert len(rows["early"]) == 2
    _, stored = read_script(engine.root_of("done"))
    assert (stored["done"].emit, stored["early"].emit) == (Emit.FINAL, Emit.CHANGES)


@pytest.mark.parametrize(
    ("statement", "code", "hint"),
    [
        (
            "CREATE VIEW w AS SELECT auction, COUNT(*) AS n FROM bids GROUP BY auction EMIT FINAL",
            "never-final",
            "GROUP BY FLOOR(bids.at TO 1 HOUR) too, and select it",
        ),
        (
            "SELECT COUNT(*) AS n FROM done",
            "never-final",
            "write EMIT CHANGES, or GROUP BY FLOOR(done.window_end TO 1 HOUR) too, and select it",
        ),
        (
            "CREATE VIEW w AS SELECT a.price FROM bids a JOIN bids b ON a.auction = b.auction "
            "EMIT CHANGES",
            "unbounded-state",
            None,
        ),
        (
            "CREATE VIEW w AS SELECT auction AS is_final, at FROM bids EMIT CHANGES WITH FINALITY",
            "duplicate-column",
            "give it another name with AS",
        ),
        (
            "CREATE STREAM s (window_end TIMESTAMP, auction BIGINT, n BIGINT, "
            "PROGRESS FOR window_end AS window_end); INSERT INTO s SELECT * FROM done",
            "insert-emit",
            "write EMIT CHANGES in its place, or behind a query that reads such a view; "
            "whoever reads the stream may ask for more",
        ),
    ],
)
def test_what_cannot_be_given_is_refused_at_once(
    engine: Engine, statement: str, code: str, hint: str | None
) -> None:
    with pytest.raises(EbbtideError) as caught:
        engine.execute(statement)
    assert caught.value.code == code
    assert caught.value.span is not None
    assert hint is None or caught.value.hint == hint
    assert "w" not in engine.catalog


def test_a_stream_is_fed_by_all_that_a_final_view_says(engine: Engine) -> None:
    engine.execute("""
        CREATE STREAM s (window_end TIMESTAMP, auction BIGINT, n BIGINT,
          PROGRESS FOR window_end AS window_end);
        INSERT INTO s SELECT * FROM done EMIT CHANGES;
    """)
    assert engine.query("SELECT * FROM s").bound.emit is Emit.CHANGES
