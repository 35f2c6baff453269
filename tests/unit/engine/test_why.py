"""Why a row is there: through the engine, with what was said before, and what is refused."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from ebbtide import Engine
from ebbtide.core.time import SECOND
from ebbtide.engine.accepted_input import accepted_input
from ebbtide.engine.rollback import rollback
from ebbtide.errors import EbbtideError
from ebbtide.store.program import root_of_program

SOURCES = """
    CREATE STREAM bids (auction INT, price INT, at TIMESTAMP, PROGRESS FOR at AS at)
      RETAIN 1 MINUTE;
    CREATE TABLE owners (auction INT, name STRING, at TIMESTAMP, op STRING,
      PRIMARY KEY (auction), PROGRESS FOR at AS at) TIME at OP op RETAIN 1 MINUTE;
"""
HIGHEST = """
    SELECT o.name, MAX(b.price) AS price FROM bids [RANGE 10 SECONDS] b
    JOIN owners o ON o.auction = b.auction GROUP BY o.name
"""


def started(path: Path, sql: str = HIGHEST) -> tuple[Engine, Any]:
    engine = Engine(path, transport="local")
    engine.execute(SOURCES)
    query = engine.query(sql, name="q")
    query.start()
    return engine, query


def rows(explanation: Any) -> list[tuple[Any, ...]]:
    return [(c.source, c.role.value, *c.change.row) for c in explanation.lineage.causes]


def test_a_row_comes_from_both_sides_of_a_join_and_from_all_of_its_group(tmp_path: Path) -> None:
    engine, query = started(tmp_path)
    engine.feed("owners", [(1, "ann", SECOND), (2, "bob", SECOND)])
    engine.feed("bids", [(1, 5, SECOND), (1, 7, 2 * SECOND), (2, 9, 2 * SECOND)])
    engine.step()
    found = query.why({"name": "ann"})
    assert found.row == ("ann", 7)
    assert rows(found) == [
        ("bids", "source", 1, 5, SECOND),
        ("bids", "source", 1, 7, 2 * SECOND),
        ("owners", "source", 1, "ann", SECOND),
    ]
    (_, _, owner) = found.inputs
    assert (owner["valid_from"].second, owner["valid_to"], owner["copies"]) == (1, None, 1)
    assert query.why(("bob", 9)).lineage.causes[0].change.row == (2, 9, 2 * SECOND)


def test_before_has_the_version_that_a_revision_changed(tmp_path: Path) -> None:
    engine, query = started(tmp_path)
    engine.feed("owners", [(1, "ann", SECOND)])
    engine.feed("bids", [(1, 5, SECOND)])
    engine.step()
    engine.feed("bids", [(1, 8, SECOND)])
    engine.step()
    found = query.why({"name": "ann"}, at=SECOND, before=True)
    assert (found.row, found.since, found.reason) == (("ann", 8), 1, "revision")
    (before,) = found.before
    assert (before.row, before.step, before.since) == (("ann", 5), 0, 0)
    assert [(name, change.row) for name, change in found.changed] == [("bids", (1, 8, SECOND))]
    assert query.why({"name": "ann"}, at=SECOND, as_of=0).row == ("ann", 5)


def test_what_is_accepted_is_read_from_the_logs_as_of_every_step(tmp_path: Path) -> None:
    """Deletes, ends, late rows and a rollback among them."""
    engine, query = started(tmp_path, "SELECT o.name, o.auction FROM owners o")
    random = Random(3)
    for second in range(12):
        op = random.choice(("upsert", "upsert", "end", "delete"))
        at = max(0, second - random.choice((0, 0, 4))) * SECOND
        engine.feed("owners", [(random.randrange(3), random.choice("abc"), at)], op=op)
        engine.step()
    said = {step: query.view.snapshot(8 * SECOND, step) for step in range(12)}
    engine.stop()
    rollback(str(tmp_path), "q", 10, leave_unused=True)
    (owners,) = (e.declaration for e in engine.definitions.catalog if e.name == "owners")
    root = root_of_program(str(tmp_path), "q")
    for step in [*range(12), 12]:
        changes = accepted_input(str(tmp_path), root, [owners], step).changes["owners"]
        there = sorted(
            (c.row[1], c.row[0]) for c in changes if c.valid_from <= 8 * SECOND < c.valid_to
        )
        assert there == sorted(said[10 if step == 12 else step])


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"row": {"name": "zoe"}}, "no-such-row"),
        ({}, "several-rows"),
        ({"row": 5}, "wrong-type"),
        ({"row": {"nane": "ann"}}, "unknown-column"),
        ({"where": "nane = 'ann'"}, "unknown-column"),
        ({"row": {"name": "ann"}, "at": 60 * SECOND}, "after-now"),
        ({"row": {"name": "ann"}, "as_of": 7}, "no-step"),
    ],
)
def test_what_is_asked_wrongly_is_refused(tmp_path: Path, asked: dict[str, Any], code: str) -> None:
    engine, query = started(tmp_path)
    engine.feed("owners", [(1, "ann", SECOND), (2, "bob", SECOND)])
    engine.feed("bids", [(1, 5, SECOND), (2, 7, SECOND)])
    engine.step()
    with pytest.raises(EbbtideError) as caught:
        query.why(**asked)
    assert caught.value.code == code


def test_it_says_where_inputs_are_not_kept(tmp_path: Path) -> None:
    engine, query = started(tmp_path, "SELECT price FROM bids [RANGE 10 SECONDS]")
    engine.feed("bids", [(1, 5, SECOND)])
    engine.step()
    (log,) = (tmp_path / "feed").glob("bids.jsonl")
    text = log.read_bytes()
    engine.log_of(engine.definitions.source("bids").declaration).cut(len(text))
    with pytest.raises(EbbtideError, match='the rows of "bids" are not kept') as caught:
        query.why({"price": 5})
    assert caught.value.code == "input-not-kept"


FAILING = {
    "a projection": "SELECT auction, 10 DIV price AS x FROM bids [RANGE 10 SECONDS]",
    "a condition": "SELECT auction FROM bids [RANGE 10 SECONDS] WHERE 10 DIV price > 1",
    "a condition of a join": """
        SELECT o.name, b.price FROM bids [RANGE 10 SECONDS] b
        JOIN owners o ON o.auction = b.auction AND 10 DIV b.price > o.auction - 2
    """,
    "what a join is by": """
        SELECT o.name, b.price FROM bids [RANGE 10 SECONDS] b
        JOIN owners o ON o.auction = b.auction + 0 * (10 DIV b.price)
    """,
    "an outer join": """
        SELECT o.name, b.price FROM bids [RANGE 10 SECONDS] b
        LEFT JOIN owners o ON o.auction = b.auction AND 10 DIV b.price > o.auction - 2
    """,
    "an aggregate": """
        SELECT auction, SUM(10 DIV price) AS x FROM bids [RANGE 10 SECONDS] GROUP BY auction
    """,
    "a group": """
        SELECT auction, COUNT(*) AS n FROM bids [RANGE 10 SECONDS]
        GROUP BY auction HAVING 10 DIV MIN(price) > 1
    """,
    "a subquery": """
        SELECT o.name, (SELECT SUM(10 DIV b.price) FROM bids [RANGE 10 SECONDS] b
          WHERE b.auction = o.auction) AS x FROM owners o
    """,
    "an order": "SELECT auction FROM bids [RANGE 10 SECONDS] ORDER BY 10 DIV price LIMIT 1",
}


@pytest.mark.parametrize("place", FAILING)
def test_a_sound_row_is_explained_beside_rows_on_which_the_query_fails(
    tmp_path: Path, place: str
) -> None:
    """Whatever fails was an error of the question, too."""
    engine, query = started(tmp_path, FAILING[place])
    engine.feed("owners", [(1, "ann", SECOND), (2, "bob", SECOND)])
    engine.feed("bids", [(1, 5, SECOND), (2, 0, SECOND)])
    engine.step()
    assert len(query.errors()) > 0
    (found,) = query.snapshot().to_pylist()
    assert ("bids", "source", 1, 5, SECOND) in rows(query.why(found))
    with pytest.raises(EbbtideError, match="no such row") as caught:
        query.why({next(iter(found)): "bob" if "name" in found else 2})
    assert (caught.value.code, caught.value.hint) == (
        "no-such-row",
        "snapshot(at=...) shows the rows of an instant, errors(at=...) those that it leaves out",
    )
    assert "expressions fail on" in (caught.value.detail or "")


def test_a_row_is_explained_that_would_fail_without_its_inputs(tmp_path: Path) -> None:
    """What is there without the inputs that are named is asked for, and it divides by zero."""
    sql = "SELECT SUM(price) DIV COUNT(*) AS mean FROM bids [RANGE 10 SECONDS]"
    engine, query = started(tmp_path, sql)
    engine.feed("bids", [(1, 5, SECOND), (2, 7, SECOND)])
    engine.step()
    assert len(rows(query.why({"mean": 6}))) == 2
