"""The catalog: a value, with names that do not depend on case."""

import pytest

from ebbtide.core.declaration import Late
from ebbtide.core.time import DAY, SECOND
from ebbtide.errors import BindError, QueryError
from ebbtide.sql import parse
from ebbtide.sql.binder import execute
from ebbtide.sql.catalog import Catalog, FileSource, StreamEntry, TableEntry


def catalog(script: str) -> Catalog:
    known = Catalog()
    for statement in parse(script):
        known = execute(statement, known)
    return known


SCHEMA = """
CREATE STREAM bids (auction BIGINT, price DOUBLE, at TIMESTAMP, PRIMARY KEY (auction, at),
  PROGRESS FOR at AS at - INTERVAL 5 SECONDS)
FROM FILES 'data/bids' FORMAT json OPTIONS (multiLine 'true') RETAIN 1 DAY LATE QUARANTINE;
CREATE TABLE rates (id INT, rate DOUBLE, at TIMESTAMP, op STRING, PRIMARY KEY (id)) TIME at OP op;
CREATE TABLE kinds (id INT, name STRING);
CREATE VIEW dear AS SELECT * FROM bids WHERE price > 100;
CREATE VIEW dearest AS SELECT * FROM dear WHERE price > 1000;
"""


def refusal(script: str, known: Catalog) -> QueryError:
    (statement,) = parse(script)
    with pytest.raises(QueryError) as caught:
        execute(statement, known)
    return caught.value


def test_a_declaration_keeps_what_was_said() -> None:
    entry = catalog(SCHEMA).get("BIDS")
    assert isinstance(entry, StreamEntry)
    declaration = entry.declaration
    assert (declaration.name, declaration.key, declaration.time) == (
        "bids",
        ("auction", "at"),
        "at",
    )
    assert declaration.promises[0].delay_us == 5 * SECOND
    assert (declaration.retain_us, declaration.late) == (DAY, Late.QUARANTINE)
    assert entry.files == FileSource("data/bids", "json", (("multiLine", "true"),))


def test_tables_are_static_or_change() -> None:
    known = catalog(SCHEMA)
    rates, kinds = known.get("rates"), known.get("kinds")
    assert isinstance(rates, TableEntry)
    assert isinstance(kinds, TableEntry)
    assert (rates.declaration.static, rates.declaration.row_schema.names) == (
        False,
        ("id", "rate", "at"),
    )
    assert kinds.declaration.static


def test_a_stream_without_a_key_is_append_only() -> None:
    entry = catalog("CREATE STREAM s (a INT)").get("s")
    assert isinstance(entry, StreamEntry)
    assert entry.declaration.append_only


def test_names() -> None:
    known = catalog(SCHEMA)
    assert known.names("VIEW") == ("dear", "dearest")
    assert "Rates" in known
    assert "nothing" not in known
    assert [entry.name for entry in known] == ["bids", "rates", "kinds", "dear", "dearest"]


def test_adding_and_dropping_leave_the_catalog_as_it_was() -> None:
    known = catalog(SCHEMA)
    less = execute(parse("DROP TABLE KINDS")[0], known)
    assert "kinds" in known
    assert "kinds" not in less
    assert execute(parse("DROP TABLE IF EXISTS nothing")[0], less) == less


def test_unknown_names_have_near_ones() -> None:
    error = refusal("DROP STREAM bidz", catalog(SCHEMA))
    assert (error.code, error.hint) == ("unknown-name", "did you mean bids?")
    assert refusal("DROP STREAM x", Catalog()).detail == "nothing is declared yet"


def test_one_set_of_names() -> None:
    known = catalog(SCHEMA)
    assert refusal("CREATE TABLE Bids (a INT)", known).code == "duplicate-name"
    assert refusal("CREATE OR REPLACE TABLE bids (a INT)", known).code == "duplicate-name"
    same = execute(parse("CREATE TABLE IF NOT EXISTS bids (a INT)")[0], known)
    assert same == known


def test_what_views_depend_on_stays() -> None:
    known = catalog(SCHEMA)
    assert known.dependents("bids") == ("dear", "dearest")
    error = refusal("DROP STREAM bids", known)
    assert (error.code, error.detail) == ("in-use", "it is read by dear, dearest")
    assert error.hint == "first DROP VIEW dearest"
    replaced = "CREATE OR REPLACE VIEW dear AS SELECT 1 AS one"
    assert refusal(replaced, known).code == "in-use"
    assert "bids" not in catalog(f"{SCHEMA} DROP VIEW dearest; DROP VIEW dear; DROP STREAM bids")


def test_a_view_that_nothing_depends_on_is_replaced() -> None:
    known = catalog(f"{SCHEMA} CREATE OR REPLACE VIEW dearest AS SELECT 1 AS one")
    assert known.get("dearest").relation.schema.names == ("one",)
    assert known.names("VIEW") == ("dear", "dearest")


def test_only_declarations_are_executed() -> None:
    with pytest.raises(BindError, match="no-declaration"):
        execute(parse("SELECT 1")[0], Catalog())
