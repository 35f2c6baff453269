"""Every statement with a wrong name, type or time is refused with its code, at its place."""

import re

import pytest

from corpus import BadStatement, bad_statements, statements
from ebbtide.errors import EbbtideError, QueryError, UnsupportedError
from ebbtide.sql import parse
from ebbtide.sql.binder import bind, execute
from ebbtide.sql.bound import Bound
from ebbtide.sql.catalog import Catalog

BAD = bad_statements("bind.sql")


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    known = Catalog()
    for text in statements("schema.sql"):
        known = execute(parse(text)[0], known)
    return known


def bound(text: str, catalog: Catalog) -> Bound:
    (statement,) = parse(text)
    return bind(statement, catalog)


def refusal(text: str, catalog: Catalog) -> EbbtideError:
    with pytest.raises(EbbtideError) as caught:
        bound(text, catalog)
    return caught.value


CLAIM = re.compile(r"(add|write|did you mean) (.*?)\??")
MENDABLE = [bad for bad in BAD if bad.hint and CLAIM.fullmatch(bad.hint)]


def mended(text: str, error: EbbtideError) -> str:
    """The statement as its hint says."""
    assert error.span is not None
    claim = CLAIM.fullmatch(error.hint or "")
    assert claim is not None
    if claim[1] == "add":
        return f"{text} {claim[2]}"
    return text[: error.span.start] + claim[2] + text[error.span.end :]


@pytest.mark.parametrize("bad", BAD, ids=str)
def test_refused(bad: BadStatement, catalog: Catalog) -> None:
    error = refusal(bad.text, catalog)
    assert isinstance(error, QueryError | UnsupportedError)
    assert error.span is not None
    assert error.span.source == bad.text
    assert (error.code, error.span.text, error.hint) == (bad.code, bad.span, bad.hint)


@pytest.mark.parametrize("bad", MENDABLE, ids=str)
def test_what_a_hint_says_puts_the_statement_right(bad: BadStatement, catalog: Catalog) -> None:
    assert bound(mended(bad.text, refusal(bad.text, catalog)), catalog)


def test_there_are_many() -> None:
    assert len(BAD) >= 90
    assert len(MENDABLE) >= 40
    assert len({bad.code for bad in BAD}) >= 30


def test_an_error_reads_well(catalog: Catalog) -> None:
    text = "SELECT b.price FROM bids [RANGE 5 MINUTES] AS b JOIN auctions AS a ON a.id = b.auction"
    assert str(refusal(text, catalog)) == (
        'error[mixed-block]: "auctions" has no window, but "bids" changes with time\n'
        "  SELECT b.price FROM bids [RANGE 5 MINUTES] AS b JOIN auctions AS a ON ...\n"
        "                                                       ^^^^^^^^\n"
        "detail: a query is on streams alone, or on windows and tables that change\n"
        "hint: write auctions [RANGE 1 HOUR]"
    )


def test_several_bare_streams_are_all_named(catalog: Catalog) -> None:
    error = refusal(
        "SELECT b.price FROM bids AS b, auctions AS a, people [NOW] AS p WHERE a.id = b.auction",
        catalog,
    )
    assert error.hint == (
        "give each of bids, auctions a window, such as [RANGE 1 HOUR] or [UNBOUNDED]"
    )


@pytest.mark.parametrize("join", ["JOIN", "LEFT JOIN"])
@pytest.mark.parametrize(
    ("alias", "time"), [(" AS s", "b.at"), (" AS `a b`", "b.at"), ("", "b.at")]
)
def test_facts_joined_with_a_table_may_want_what_it_had_then(
    join: str, alias: str, time: str, catalog: Catalog
) -> None:
    text = f"SELECT b.price FROM bids AS b {join} sellers{alias} ON b.price > 1"
    hint = refusal(text, catalog).hint or ""
    joined, _, windowed = hint.partition(", or write ")
    assert joined == f"join sellers FOR SYSTEM_TIME AS OF b.at{alias}"
    typed = text.replace(f"sellers{alias}", joined.removeprefix("join "))
    assert bound(typed, catalog)
    assert windowed == "bids [RANGE 1 HOUR]"
    assert bound(text.replace("FROM bids", f"FROM {windowed}"), catalog)


def test_events_with_a_watermark_are_a_stream_or_change_by_their_key(catalog: Catalog) -> None:
    text = "CREATE TABLE t (id BIGINT PRIMARY KEY, at TIMESTAMP, WATERMARK FOR at AS at)"
    events, _, rows = (refusal(text, catalog).hint or "").partition("; ")
    assert bound(text.replace("CREATE TABLE t", events.removeprefix("for events write ")), catalog)
    assert bound(f"{text} {rows.rpartition('add ')[2]}", catalog)


def test_what_is_inserted_into_nothing_is_a_query_or_needs_a_stream(catalog: Catalog) -> None:
    text = "INSERT INTO results SELECT auction FROM bids"
    hint = refusal(text, catalog).hint or ""
    assert "leave out INSERT INTO results," in hint
    assert bound(text.removeprefix("INSERT INTO results "), catalog)
    declared = hint.rpartition(": ")[2].replace("...", "auction BIGINT")
    assert bound(text, execute(parse(declared)[0], catalog))


def test_an_end_of_a_window_is_grouped_by(catalog: Catalog) -> None:
    text = "SELECT window_end, COUNT(*) AS n FROM TUMBLE(bids, at, 1 HOUR) GROUP BY window_start"
    assert refusal(text, catalog).hint == "group by window_end as well"
    assert bound(f"{text}, window_end", catalog)
