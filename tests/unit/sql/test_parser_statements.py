"""What the parser makes of declarations and the other statements."""

import pytest

from ebbtide.core.declaration import Late, Way
from ebbtide.core.time import DAY, HOUR, INF, MINUTE, SECOND
from ebbtide.core.types import BIGINT, DOUBLE, INT, STRING, TIMESTAMP, ArrayType, StructType
from ebbtide.errors import Span
from ebbtide.sql import parse, sql
from ebbtide.sql.syntax import (
    ArchiveClause,
    ColumnDefinition,
    CreateStream,
    CreateTable,
    CreateView,
    Drop,
    Emit,
    EntryKind,
    Explain,
    FilesClause,
    HistogramClause,
    InsertInto,
    Name,
    Period,
    Progress,
    Query,
    SampleClause,
    Show,
)

NOWHERE = Span("", 0, 0)


def name(text: str) -> Name:
    return Name(text, NOWHERE)


def period(us: int) -> Period:
    return Period(us, NOWHERE)


def column(text, type_, nullable=True, comment=None) -> ColumnDefinition:
    return ColumnDefinition(name(text), type_, nullable, comment, NOWHERE)


def stream(**changes) -> CreateStream:
    fields = {
        "name": name("s"),
        "columns": (column("a", INT),),
        "key": (),
        "progress": (),
        "files": None,
        "op": None,
        "append_only": False,
        "archive": None,
        "revise": None,
        "replay": None,
        "lifetime": None,
        "retain": None,
        "late": None,
        "idle_after": None,
        "not_beyond": None,
        "or_replace": False,
        "if_not_exists": False,
        "span": NOWHERE,
    }
    return CreateStream(**(fields | changes))


def table(**changes) -> CreateTable:
    fields = {
        "name": name("t"),
        "columns": (column("a", INT),),
        "key": (),
        "progress": (),
        "files": None,
        "time": None,
        "op": None,
        "sequence": None,
        "lifetime": None,
        "encoding": None,
        "retain": None,
        "late": None,
        "idle_after": None,
        "not_beyond": None,
        "or_replace": False,
        "if_not_exists": False,
        "span": NOWHERE,
    }
    return CreateTable(**(fields | changes))


def test_the_stream_of_the_design() -> None:
    (found,) = parse(
        """
        CREATE STREAM bids (auction BIGINT, bidder BIGINT, price DOUBLE, at TIMESTAMP,
          PRIMARY KEY (auction, bidder, at),
          PROGRESS FOR at AS at - INTERVAL 5 SECONDS)
        FROM FILES 'data/bids' FORMAT json RETAIN 1 DAY
        """
    )
    assert found == stream(
        name=name("bids"),
        columns=(
            column("auction", BIGINT),
            column("bidder", BIGINT),
            column("price", DOUBLE),
            column("at", TIMESTAMP),
        ),
        key=(name("auction"), name("bidder"), name("at")),
        progress=(Progress(name("at"), 5 * SECOND, NOWHERE),),
        files=FilesClause("data/bids", Name("json", NOWHERE), (), NOWHERE),
        retain=period(DAY),
    )


STREAM_CLAUSES = {
    "": {},
    "RETAIN 1 DAY": {"retain": period(DAY)},
    "LATE REVISE": {"late": Late.REVISE},
    "LATE QUARANTINE": {"late": Late.QUARANTINE},
    "IDLE AFTER 5 MINUTES": {"idle_after": period(5 * MINUTE)},
    "NOT BEYOND INTERVAL '1' HOUR": {"not_beyond": period(HOUR)},
    "OP a": {"op": name("a")},
    "APPEND ONLY": {"append_only": True},
    "ARCHIVE 30 DAYS": {"archive": ArchiveClause(period(30 * DAY))},
    "ARCHIVE 30 DAYS SAMPLE 12.5 PERCENT BY IMPACT OF a SEED 7": {
        "archive": ArchiveClause(
            period(30 * DAY), SampleClause(125_000, True, name("a"), 7, NOWHERE)
        )
    },
    "ARCHIVE 30 DAYS AS HISTOGRAM OF a EVERY 1 HOUR": {
        "archive": ArchiveClause(
            period(30 * DAY), HistogramClause((name("a"),), period(HOUR), NOWHERE)
        )
    },
    "REVISE EVERY 2 DAYS": {"revise": period(2 * DAY)},
    "REVISE ON DEMAND": {"revise": period(INF)},
    "REPLAY MINIMAL": {"replay": Way.MINIMAL},
    "REPLAY ALL": {"replay": Way.ALL},
    "REPLAY DIRECT": {"replay": Way.DIRECT},
    "PROGRESS FOR a AS a": {"progress": (Progress(name("a"), 0, NOWHERE),)},
    "PROGRESS FOR a": {"progress": (Progress(name("a"), 0, NOWHERE),)},
    "FROM FILES 'x' FORMAT CSV OPTIONS (header 'true', 'a.b' = 'c')": {
        "files": FilesClause("x", Name("csv", NOWHERE), (("header", "true"), ("a.b", "c")), NOWHERE)
    },
}


@pytest.mark.parametrize(("clause", "fields"), STREAM_CLAUSES.items(), ids=STREAM_CLAUSES)
def test_clauses_of_a_stream(clause: str, fields: dict) -> None:
    assert parse(f"CREATE STREAM s (a INT) {clause}") == (stream(**fields),)


def test_clauses_stand_in_any_order() -> None:
    clauses = ["RETAIN 1 DAY", "LATE REVISE", "OP a", "FROM FILES 'x' FORMAT json"]
    forward = parse(f"CREATE STREAM s (a INT) {' '.join(clauses)}")
    assert parse(f"CREATE STREAM s (a INT) {' '.join(reversed(clauses))}") == forward


TABLE_CLAUSES = {
    "TIME a": {"time": name("a")},
    "OP a": {"op": name("a")},
    "SEQUENCE a": {"sequence": name("a")},
    "LIFETIME 30 DAYS": {"lifetime": period(30 * DAY)},
    "LIFETIME UNTIL a": {"lifetime": name("a")},
    "ENCODING upsert": {"encoding": name("upsert")},
    "TIME a RETAIN 1 HOUR": {"time": name("a"), "retain": period(HOUR)},
}


@pytest.mark.parametrize(("clause", "fields"), TABLE_CLAUSES.items(), ids=TABLE_CLAUSES)
def test_clauses_of_a_table(clause: str, fields: dict) -> None:
    assert parse(f"CREATE TABLE t (a INT) {clause}") == (table(**fields),)


def test_columns() -> None:
    (found,) = parse(
        "CREATE STREAM s (a INT NOT NULL, `b c` STRING COMMENT 'x', "
        "d ARRAY<INT> COMMENT 'y' NOT NULL, e STRUCT<f: INT, `g h`: STRING>)"
    )
    assert found.columns == (
        column("a", INT, nullable=False),
        column("b c", STRING, comment="x"),
        column("d", ArrayType(INT), nullable=False, comment="y"),
        column("e", StructType((("f", INT), ("g h", STRING)))),
    )


def test_names_keep_their_case_and_lose_their_quotes() -> None:
    (found,) = parse("DROP TABLE `My Table`")
    assert found == Drop(EntryKind.TABLE, name("My Table"), False, NOWHERE)
    assert sql(found) == "DROP TABLE `My Table`"


def test_views() -> None:
    (plain,) = parse("CREATE VIEW v AS SELECT 1")
    assert isinstance(plain, CreateView)
    assert (plain.columns, plain.progress) == (None, None)
    (full,) = parse("CREATE OR REPLACE VIEW IF NOT EXISTS v (a, PROGRESS FOR a) AS SELECT 1")
    assert (full.columns, full.progress) == ((name("a"),), (name("a"),))
    assert full.or_replace
    assert full.if_not_exists
    (kept,) = parse("CREATE VIEW v (a) KEEP CHANGES 30 DAYS AS SELECT 1")
    assert isinstance(kept, CreateView)
    assert kept.keep is not None
    assert kept.keep.us == 30 * 24 * 3600 * 1_000_000
    assert plain.keep is None


def test_the_other_statements() -> None:
    insert, explain, show, drop = parse(
        "INSERT INTO t (a, b) SELECT 1, 2 EMIT FINAL; EXPLAIN JSON SELECT 1; "
        "SHOW QUERIES; DROP VIEW IF EXISTS v"
    )
    assert isinstance(insert, InsertInto)
    assert (insert.target, insert.columns) == (name("t"), (name("a"), name("b")))
    assert insert.query.answer.emit is Emit.FINAL
    assert isinstance(explain, Explain)
    assert explain.json
    assert isinstance(explain.query, Query)
    assert show == Show(EntryKind.QUERY, NOWHERE)
    assert drop == Drop(EntryKind.VIEW, name("v"), True, NOWHERE)


def test_spans_of_declarations() -> None:
    script = "SHOW VIEWS;\nCREATE STREAM s (a INT, PROGRESS FOR a AS a) RETAIN 1 DAY"
    _, found = parse(script)
    assert isinstance(found, CreateStream)
    assert found.retain is not None
    assert found.span.text == script.split("\n")[1]
    assert found.columns[0].span.text == "a INT"
    assert found.progress[0].span.text == "PROGRESS FOR a AS a"
    assert (found.name.span.text, found.retain.span.text) == ("s", "1 DAY")


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("CREATE STREAM s (a INT PRIMARY KEY)", "CREATE STREAM s (a INT, PRIMARY KEY (a))"),
        (
            "CREATE STREAM s (at TIMESTAMP(3), WATERMARK FOR at AS at - INTERVAL '5' SECOND)",
            "CREATE STREAM s (at TIMESTAMP, PROGRESS FOR at AS at - INTERVAL 5 SECONDS)",
        ),
        ("CREATE MATERIALIZED VIEW v AS SELECT 1", "CREATE VIEW v AS SELECT 1"),
        ("CREATE TABLE t (a VARCHAR(9), b REAL)", "CREATE TABLE t (a STRING, b DOUBLE)"),
    ],
)
def test_words_of_other_systems_say_the_same(text: str, same: str) -> None:
    assert parse(text) == parse(same)
