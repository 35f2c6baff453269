"""Every bad statement is refused with its code, at its place, with its hint."""

import pytest

from corpus import BadStatement, bad_statements
from ebbtide.errors import EbbtideError, ParseError, UnsupportedError
from ebbtide.sql import parse, parse_query
from ebbtide.sql.checks import MAX_DEPTH
from ebbtide.sql.parser import MAX_NESTING

BAD = bad_statements("parse.sql")
OUT = "leave it out"
TYPED = [bad for bad in BAD if bad.hint and (bad.hint.startswith("write ") or bad.hint == OUT)]


def refusal(text: str) -> EbbtideError:
    with pytest.raises((ParseError, UnsupportedError)) as caught:
        parse(text)
    return caught.value


@pytest.mark.parametrize("bad", BAD, ids=str)
def test_refused(bad: BadStatement) -> None:
    error = refusal(bad.text)
    assert error.span is not None
    assert (error.code, error.span.text, error.hint) == (bad.code, bad.span, bad.hint)


@pytest.mark.parametrize("bad", TYPED, ids=str)
def test_a_hint_to_write_something_makes_the_statement_good(bad: BadStatement) -> None:
    error = refusal(bad.text)
    assert error.span is not None
    assert error.hint is not None
    before, after = bad.text[: error.span.start], bad.text[error.span.end :]
    typed = "" if error.hint == OUT else error.hint.removeprefix("write ")
    assert parse(before + typed + after) or error.span.text == bad.text


def test_there_are_many() -> None:
    assert len(BAD) >= 60
    assert len(TYPED) >= 35


def test_the_place_is_in_the_whole_script() -> None:
    script = "SELECT 1;\n\nSELECT 2;\nSELECT 3 FORM t"
    error = refusal(script)
    assert error.span is not None
    assert (error.span.source, error.span.start) == (script, script.index("FORM"))


def test_the_message_underlines_the_place() -> None:
    assert str(refusal("SELECT * FROM bids [RANGE 15]")) == (
        "error[bad-duration]: RANGE needs a unit of time after 15\n"
        "  SELECT * FROM bids [RANGE 15]\n"
        "                            ^^\n"
        "hint: write 15 MINUTES"
    )


@pytest.mark.parametrize("text", ["", "  \n", "-- nothing", "/* nothing */", ";;", " ; \n;"])
def test_an_empty_script_has_no_statements(text: str) -> None:
    assert parse(text) == ()
    with pytest.raises(ParseError, match="empty-statement"):
        parse_query(text)


def test_a_query_is_one_query() -> None:
    with pytest.raises(ParseError) as caught:
        parse_query("SELECT 1; SELECT 2")
    assert caught.value.code == "one-query"
    assert caught.value.span is not None
    assert caught.value.span.text == "SELECT 2"
    with pytest.raises(ParseError):
        parse_query("SHOW VIEWS")
    assert parse_query("SELECT 1;") == parse("SELECT 1")[0]


NESTED = {
    "parentheses": lambda n: "SELECT " + "(" * n + "1" + ")" * n,
    "calls": lambda n: "SELECT " + "f(" * n + "1" + ")" * n,
    "type names": lambda n: "SELECT " + "STRUCT(" * n + "1" + ")" * n,
    "cases": lambda n: "SELECT " + "CASE WHEN " * n + "a" + " THEN 1 END" * n,
    "subqueries": lambda n: "SELECT * FROM " + "(SELECT * FROM " * n + "t" + ")" * n,
    "joins": lambda n: "SELECT * FROM " + "(a CROSS JOIN " * n + "b" + ")" * n,
    "items": lambda n: "SELECT " + "a[" * n + "0" + "]" * n,
}


@pytest.mark.parametrize("nest", NESTED.values(), ids=NESTED)
def test_nesting_has_a_limit(nest) -> None:
    assert parse(nest(MAX_NESTING))
    assert refusal(nest(MAX_NESTING + 1)).code == "too-deep"
    assert refusal(nest(5000)).code == "too-deep"


@pytest.mark.parametrize("operator", ["AND", "OR", "+", "||", "UNION ALL SELECT"])
def test_chains_have_a_limit(operator: str) -> None:
    assert parse("SELECT " + f" {operator} ".join("a" * (MAX_DEPTH - 10)))
    assert refusal("SELECT " + f" {operator} ".join("a" * 3000)).code == "too-deep"


@pytest.mark.parametrize("prefix", ["NOT ", "- ", "~ "])
def test_signs_have_a_limit(prefix: str) -> None:
    assert refusal("SELECT " + prefix * 5000 + "a").code == "too-deep"
