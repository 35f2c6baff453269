"""Errors: their one rendering, the underlining of the source, and what survives a copy."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.errors import (
    BindError,
    EbbtideError,
    EvaluationError,
    InternalError,
    ParseError,
    QueryError,
    SourceError,
    Span,
    StateError,
    TemporalError,
    UnsupportedError,
)


def span_of(source: str, text: str) -> Span:
    start = source.index(text)
    return Span(source, start, start + len(text))


def test_an_error_reads_as_the_house_style_shows() -> None:
    sql = (
        "SELECT o.id, o.placed_at, o.customer, p.paid_at, p.amount, p.currency FROM orders o "
        "JOIN payments p ON o.id = p.order_id"
    )
    error = TemporalError(
        "unbounded-state",
        'join of "orders" and "payments" would keep every row for ever',
        detail="no condition bounds p.paid_at by o.placed_at",
        hint="add AND p.paid_at BETWEEN o.placed_at AND o.placed_at + INTERVAL 1 HOUR",
        span=span_of(sql, "JOIN"),
    )
    assert str(error) == (
        'error[unbounded-state]: join of "orders" and "payments" would keep every row for ever\n'
        "  ... FROM orders o JOIN payments p ON o.id = p.order_id\n"
        "                    ^^^^\n"
        "detail: no condition bounds p.paid_at by o.placed_at\n"
        "hint: add AND p.paid_at BETWEEN o.placed_at AND o.placed_at + INTERVAL 1 HOUR"
    )


def test_only_what_is_known_is_shown() -> None:
    assert str(StateError("torn-segment", "segment 7 is damaged")) == (
        "error[torn-segment]: segment 7 is damaged"
    )
    assert str(SourceError("no-such-file", "no bids", hint="make bids")) == (
        "error[no-such-file]: no bids\nhint: make bids"
    )


def test_the_families() -> None:
    for member in (ParseError, BindError, TemporalError, EvaluationError):
        assert issubclass(member, QueryError)
    for family in (QueryError, UnsupportedError, SourceError, StateError, InternalError):
        assert family.__bases__ == (EbbtideError,)


@pytest.mark.parametrize("code", ["", "Unknown", "unknown_column", "-x", "x-", "x--y", "7", "a b"])
def test_codes_are_kebab_case(code: str) -> None:
    with pytest.raises(ValueError, match="kebab"):
        QueryError(code, "message")


# --- the underlined line ---


def test_the_line_in_which_the_span_starts_is_shown() -> None:
    sql = "SELECT a\nFROM bids [RANGE -1 SECOND]\nGROUP BY a"
    assert span_of(sql, "-1 SECOND").underlined() == (
        "FROM bids [RANGE -1 SECOND]\n                 ^^^^^^^^^"
    )


def test_a_span_over_several_lines_is_underlined_to_the_end_of_the_first() -> None:
    sql = "SELECT (1 +\n  2)"
    assert span_of(sql, "(1 +\n  2)").underlined() == "SELECT (1 +\n       ^^^^"


@pytest.mark.parametrize("sql", ["SELECT", "SELECT  ", "SELECT\n", "SELECT\r\n"])
def test_a_place_after_the_last_word_has_one_caret(sql: str) -> None:
    assert Span(sql, 6, 6).underlined() == "SELECT\n      ^"


def test_an_empty_source_has_one_caret() -> None:
    assert Span("", 0, 0).underlined() == "\n^"
    assert str(ParseError("empty-query", "there is no query", span=Span("", 0, 0))) == (
        "error[empty-query]: there is no query\n  \n  ^"
    )


def test_a_tab_takes_one_column() -> None:
    assert span_of("\tSELECT\tx", "x").underlined() == " SELECT x\n        ^"


def test_a_long_line_is_cut_between_words_on_both_sides() -> None:
    words = [f"word{n}" for n in range(40)]
    assert span_of(" ".join(words), "word20").underlined() == (
        "... word18 word19 word20 word21 word22 word23 word24 word25 word26 ...\n"
        "                  ^^^^^^"
    )


def test_a_long_line_is_cut_on_the_right_only_where_the_span_is_near_its_beginning() -> None:
    words = [f"word{n}" for n in range(40)]
    shown, carets = span_of(" ".join(words), "word3").underlined().splitlines()
    assert shown.startswith("word0 word1 ")
    assert shown.endswith(" ...")
    assert carets == " " * 18 + "^" * 5


@given(st.data())
def test_the_carets_stand_under_the_span_and_everything_fits(data: st.DataObject) -> None:
    source = data.draw(st.text(st.sampled_from("ab .\t\n"), max_size=300))
    start = data.draw(st.integers(0, len(source)))
    end = data.draw(st.integers(start, len(source)))
    shown, carets = Span(source, start, end).underlined().split("\n")
    column, count = carets.count(" "), carets.count("^")
    assert carets == " " * column + "^" * count
    assert count >= 1
    assert max(len(shown), column + 1) <= 77
    if start < end and source[start] not in " \t\n":
        under = shown[column : column + count]
        assert under == source[start : start + count].replace("\t", " ")
        wanted = source[start:end].split("\n")[0]
        assert len(wanted.rstrip()) <= count <= len(wanted) or shown.endswith(" ...")


def test_a_span_lies_within_its_source() -> None:
    for start, end in [(-1, 2), (2, 1), (0, 4)]:
        with pytest.raises(ValueError, match="not within 3 characters"):
            Span("abc", start, end)


# --- copies ---


def test_an_error_without_a_place_takes_one() -> None:
    span = Span("SELECT x", 7, 8)
    with pytest.raises(BindError) as caught:
        raise BindError("unknown-column", "no x", detail="d", hint="h") from KeyError("x")
    placed = caught.value.with_span(span)
    assert caught.value.span is None
    assert type(placed) is BindError
    assert (placed.code, placed.message, placed.detail, placed.hint, placed.span) == (
        "unknown-column",
        "no x",
        "d",
        "h",
        span,
    )
    assert isinstance(placed.__cause__, KeyError)


def test_an_error_keeps_the_place_that_it_has() -> None:
    error = BindError("unknown-column", "no x", span=Span("SELECT x", 7, 8))
    assert error.with_span(Span("other", 0, 1)) is error


def test_an_error_survives_pickling() -> None:
    error = EvaluationError("overflow", "too large", detail="d", hint="h", span=Span("1 + 2", 2, 3))
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is EvaluationError
    assert str(again) == str(error)
    assert vars(again) == vars(error)
