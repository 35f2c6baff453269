"""JSON in text: the reference, the columns and DuckDB read random documents alike.

DuckDB writes numbers and escapes anew, so it is asked about whole numbers and plain texts; of the
rest, and of text that is not JSON, the reference and the columns agree.
"""

import json
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.algebra.expression import Ref
from ebbtide.core.schema import Schema, schema
from ebbtide.reference.scalar import evaluate
from scalars import f
from scalars.columns import check

R: Schema = schema(s="STRING")
S = Ref(R.column("s"))
NAMES = st.sampled_from("abc")
PLAIN = st.none() | st.booleans() | st.integers(-1000, 1000) | st.text("xyz é", max_size=3)
CONNECTION = duckdb.connect(config={"threads": 1})
ANY = PLAIN | st.floats() | st.text(max_size=4) | st.integers()


def documents(leaves: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
        max_leaves=6,
    )


STEPS = st.lists(NAMES.map(lambda n: f".{n}") | st.integers(0, 2).map(lambda n: f"[{n}]"))
PATHS = STEPS.map(lambda steps: "$" + "".join(steps[:3]))
KEYS = NAMES | st.integers(-2, 2)

THEIRS = {
    "GET_JSON_OBJECT": "json_extract_string(s, p)",
    "JSON_EXISTS": "json_exists(s, p)",
    "JSON_VALUE": "CASE WHEN json_type(s, p) NOT IN ('OBJECT', 'ARRAY', 'NULL') "
    "THEN json_extract_string(s, p) END",
    "JSON_QUERY": "CASE WHEN json_type(s, p) IN ('OBJECT', 'ARRAY') "
    "THEN CAST(json_extract(s, p) AS VARCHAR) END",
}


def of_duckdb(expression: str, *values: object) -> object:
    names = ", ".join(f"? AS {name}" for name in "sp"[: len(values)])
    asked = f"SELECT {expression} FROM (SELECT {names})"
    [(found,)] = CONNECTION.execute(asked, list(values)).fetchall()
    return found


@pytest.mark.parametrize("name", THEIRS)
@given(document=documents(PLAIN), path=PATHS)
def test_a_path_leads_where_it_leads_in_duckdb(name: str, document: Any, path: str) -> None:
    text = json.dumps(document, ensure_ascii=False)
    expression = f(name, S, path)
    check(expression, R, [(text,)])
    assert evaluate(expression, R, (text,)) == of_duckdb(THEIRS[name], text, path)


@pytest.mark.parametrize(("name", "sign"), [("JSON_GET", "->"), ("JSON_GET_TEXT", "->>")])
@given(document=documents(PLAIN), key=KEYS)
def test_a_key_leads_where_it_leads_in_duckdb(
    name: str, sign: str, document: Any, key: Any
) -> None:
    text = json.dumps(document, ensure_ascii=False)
    expression = f(name, S, key)
    check(expression, R, [(text,)])
    theirs = of_duckdb(f"CAST(s::JSON {sign} p AS VARCHAR)", text, key)
    assert evaluate(expression, R, (text,)) == theirs


@given(st.data(), documents(ANY), KEYS, PATHS)
def test_damaged_and_unusual_text(data: st.DataObject, document: Any, key: Any, path: str) -> None:
    text = json.dumps(document, ensure_ascii=data.draw(st.booleans()), indent=data.draw(INDENTS))
    start, end = sorted((data.draw(PLACES), data.draw(PLACES)))
    damaged = text[:start] + data.draw(st.text('"\\{}[]:,0u1e-.x \x00', max_size=2)) + text[end:]
    rows = [(each,) for each in (text, damaged, None) if each is None or storable(each)]
    for name in ("JSON_GET", "JSON_GET_TEXT"):
        check(f(name, S, key), R, rows)
    for name in THEIRS:
        check(f(name, S, path), R, rows)
    for name in ("JSON_ITEMS", "JSON_ITEMS_TEXT"):
        check(f(name, S), R, rows)


PLACES = st.integers(0, 12)
INDENTS = st.none() | st.integers(0, 1)


def storable(text: str) -> bool:
    """Whether a text has no half of a pair of surrogates."""
    return not any("\ud800" <= each <= "\udfff" for each in text)
