"""What the binder passes over is an error, and not a query that means something else."""

import pytest

from ebbtide.errors import InternalError
from ebbtide.sql import parse, parse_query
from ebbtide.sql.binder import bind_query, execute
from ebbtide.sql.binding import clauses
from ebbtide.sql.binding.selection import Block
from ebbtide.sql.catalog import Catalog

TABLE = "CREATE TABLE t (a INT, b INT)"


@pytest.mark.parametrize("lost", ["a > b", "ABS(a) = 1", "a IN (SELECT b FROM t)"])
def test_a_condition_that_no_clause_reads_is_not_dropped(
    lost: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = execute(parse(TABLE)[0], Catalog())
    query = parse_query(f"SELECT a FROM t WHERE b = 1 AND {lost}")
    assert bind_query(query, catalog)
    monkeypatch.setattr(
        "ebbtide.sql.binding.selection.and_parts",
        lambda node: list(clauses.and_parts(node))[:1],
    )
    with pytest.raises(InternalError) as error:
        bind_query(query, catalog)
    assert error.value.code == "not-bound"
    assert error.value.span is not None


def test_a_term_on_the_query_around_is_not_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    catalog = execute(parse(TABLE)[0], Catalog())
    query = parse_query("SELECT a FROM t WHERE b = 1")
    monkeypatch.setattr(Block, "_joining", lambda self: list(self.where.terms))
    original = Block.__init__

    def correlated(self, *args, **kwargs):  # type: ignore[no-untyped-def]
        original(self, *args, **{**kwargs, "correlated": True})

    monkeypatch.setattr(Block, "__init__", correlated)
    with pytest.raises(InternalError) as error:
        bind_query(query, catalog)
    assert error.value.code == "not-bound"
