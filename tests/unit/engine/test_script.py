"""The text of a started query: what was declared in Python is read back as it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from ebbtide import Engine
from ebbtide.core.declaration import (
    Declaration,
    Late,
    Promise,
    StreamDeclaration,
    TableDeclaration,
)
from ebbtide.core.schema import Column, Schema
from ebbtide.core.time import MINUTE, SECOND
from ebbtide.core.types import BIGINT, STRING, TIMESTAMP, ArrayType, DecimalType, StructType
from ebbtide.engine.script import FILE, declared_text, read_script, write_script
from ebbtide.errors import StateError
from ebbtide.store.program import Identity

ODD = Schema(
    (
        Column("select", BIGINT, False),
        Column("two words", ArrayType(StructType((("from", DecimalType(9, 2)),)))),
        Column("at", TIMESTAMP),
    )
)


@pytest.mark.parametrize(
    "declaration",
    [
        StreamDeclaration("bids", ODD),
        StreamDeclaration("order", ODD, ("select",), (Promise("at", 5 * SECOND),), MINUTE),
        StreamDeclaration("b", ODD, (), (Promise("at"),), MINUTE, Late.QUARANTINE),
        TableDeclaration("names", Schema((Column("id", BIGINT), Column("name", STRING))), ("id",)),
    ],
    ids=lambda declaration: declaration.name,
)
def test_a_declaration_is_the_same_again(declaration: Declaration, tmp_path: Path) -> None:
    write_script(str(tmp_path), [declared_text(declaration)], ["SELECT 1 AS one"])
    Identity({"q": "SELECT 1 AS one"}, {}, 1).write(str(tmp_path))
    catalog, _ = read_script(str(tmp_path))
    assert catalog.get(declaration.name).declaration == declaration


def test_a_query_is_the_same_again(tmp_path: Path) -> None:
    engine = Engine(tmp_path)
    engine.execute("""
        -- A comment; with a semicolon.
        CREATE STREAM s (a INT, at TIMESTAMP, PROGRESS FOR at AS at);
        CREATE OR REPLACE VIEW v AS SELECT a FROM s [RANGE 1 HOUR];
        CREATE VIEW gone AS SELECT a FROM v;
        DROP VIEW gone;
    """)
    query = engine.query("SELECT a, COUNT(*) AS n FROM v GROUP BY a;", name="counts")
    for _ in range(2):
        write_script(str(tmp_path), engine.definitions.texts, [query.text])
    Identity({"counts": query.sql}, {}, 1).write(str(tmp_path))
    catalog, views = read_script(str(tmp_path))
    assert catalog == engine.catalog
    assert views["counts"].plan == query.bound.plan


def test_a_script_without_a_query_is_damaged(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("SHOW VIEWS;\n", encoding="utf-8")
    with pytest.raises(StateError, match="damaged-script"):
        read_script(str(tmp_path))
