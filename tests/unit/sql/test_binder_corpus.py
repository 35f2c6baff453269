"""Every query of the corpus is bound, printed, and bound again to the same plan."""

from functools import cache

import pytest

from corpus import NEXMARK_SCRIPT, statements
from ebbtide.algebra.relation import Relation
from ebbtide.core.tree import find
from ebbtide.plan_text.plan_sql import plan_sql
from ebbtide.plan_text.plan_tree import plan_tree
from ebbtide.sql import parse, parse_query
from ebbtide.sql.binder import bind, bind_query
from ebbtide.sql.bound import BoundExplain, BoundInsert, BoundQuery, Declared
from ebbtide.sql.catalog import Catalog

SCRIPTS = {
    "statements": ("schema.sql", "statements.sql"),
    "papers": ("papers.sql",),
    "plain": ("plain.sql",),
    "nexmark": NEXMARK_SCRIPT,
}


@cache
def queries(script: str) -> list[tuple[str, Catalog, BoundQuery]]:
    """The queries of a script, each with the catalog as it was before."""
    found = []
    catalog = Catalog()
    for text in statements(*SCRIPTS[script]):
        match bind(parse(text)[0], catalog):
            case Declared(catalog=later):
                catalog = later
            case BoundQuery() as query:
                found.append((text, catalog, query))
            case BoundInsert(query=query) | BoundExplain(query=query):
                found.append((text, catalog, query))
            case _:
                pass
    return found


ALL = [pytest.param(*case, id=case[0]) for script in SCRIPTS for case in queries(script)]


@pytest.mark.parametrize(("text", "catalog", "query"), ALL)
def test_a_plan_prints_as_sql_of_the_same_plan(
    text: str, catalog: Catalog, query: BoundQuery
) -> None:
    again = bind_query(parse_query(query.sql), catalog)
    assert again == query
    assert again.sql == query.sql
    assert again.schema == query.schema


@pytest.mark.parametrize(("text", "catalog", "query"), ALL)
def test_the_parts_of_a_plan_print_too(text: str, catalog: Catalog, query: BoundQuery) -> None:
    for part in find(query.plan, Relation):
        if part.schema:  # SQL has no relation without columns
            again = bind_query(parse_query(plan_sql(part)), catalog)
            assert len(again.schema) >= len(part.schema)
        assert len(plan_tree(part).splitlines()) == len(list(find(part, Relation)))


def test_there_are_many() -> None:
    assert len(ALL) >= 200
