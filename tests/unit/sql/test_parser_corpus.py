"""Every statement of the corpus is read, printed, and read again as the same statement."""

import pytest
from sqlglot import exp

from corpus import good_statements, statements
from ebbtide.sql import nodes, parse, sql
from ebbtide.sql.allowed import ALLOWED
from ebbtide.sql.syntax import CreateView, Explain, InsertInto, Query, Statement

GOOD = good_statements()


def trees(statement: Statement) -> list[exp.Expr]:
    match statement:
        case Query() | CreateView():
            return [statement.body]
        case InsertInto() | Explain():
            return [statement.query.body]
        case _:
            return []


@pytest.mark.parametrize("text", GOOD)
def test_round_trip(text: str) -> None:
    (statement,) = parse(text)
    printed = sql(statement)
    (again,) = parse(printed)
    assert again == statement
    assert repr(again) == repr(statement)
    assert sql(again) == printed


def test_the_corpus_is_large() -> None:
    assert len(statements("statements.sql")) >= 200
    assert len([path for path in GOOD if path]) >= 300


def test_the_corpus_has_every_node_of_the_language() -> None:
    seen = {type(n) for text in GOOD for s in parse(text) for t in trees(s) for n in t.walk()}
    assert set(ALLOWED) - seen == set()
    assert {getattr(nodes, name) for name in nodes.__all__} - seen == {
        nodes.TableFunction,
        nodes.StreamOperator,
        nodes.Quantifier,
    }


def test_a_whole_file_is_a_script() -> None:
    script = ";\n\n".join(GOOD)
    assert parse(script) == tuple(parse(text)[0] for text in GOOD)
