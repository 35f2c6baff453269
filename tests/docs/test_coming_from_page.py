"""What the page for users of other systems says of each word is what happens when it is typed."""

import re
from functools import cache

import pytest

from docs import ROOT, blocks
from ebbtide.analysis import check
from ebbtide.errors import EbbtideError
from ebbtide.optimizer import prepared
from ebbtide.sql import parse
from ebbtide.sql.binder import bind, execute
from ebbtide.sql.bound import BoundQuery
from ebbtide.sql.catalog import Catalog
from ebbtide.sql.elsewhere import ABSENT, INSTEAD

PAGE = ROOT / "docs/reference/coming-from.md"
TEXT = PAGE.read_text(encoding="utf-8")
SYSTEMS = {"Flink", "Spark", "Materialize", "KSQL", "RisingWave"}
MENDED = re.compile(r"(write|did you mean) (?P<text>.*?)\??|leave it out", re.DOTALL)
ADDED = re.compile(r"add (?P<text>.*)", re.DOTALL)
GROUPED = re.compile(r"group by (?P<text>.*) as well")
LEFT_OUT = re.compile(r"(?:.*: )?leave out (?P<text>.*?), and .*")
AS_STREAM = re.compile(r"for events write CREATE STREAM (?P<text>\w+);.*")
IN_PLACE = re.compile(r"write (?P<text>.*) in place of (?P<old>.*)")
JOINED = re.compile(r"join (?P<text>(?P<table>\w+) .* AS (?P<alias>\w+)), or write .*")
MOVED = re.compile(r"leave it out, and write (?P<text>LIMIT \d+) behind .*")


def rows(heading: str) -> list[list[str]]:
    """The cells of the table below a heading."""
    part = re.split(r"^## ", TEXT.partition(f"## {heading}\n")[2], flags=re.MULTILINE)[0]
    lines = [line for line in part.splitlines() if line.startswith("| ")][1:]
    return [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines]


STATEMENTS = rows("Statements")
FUNCTIONS = rows("Functions")


@cache
def catalog() -> Catalog:
    known = Catalog()
    (declared,) = [block for block in blocks(PAGE) if block.language == "sql"]
    for statement in parse(declared.text):
        known = execute(statement, known)
    return known


def bound(text: str) -> None:
    """Binds a statement; a query has to pass the compiler, too."""
    for statement in parse(text):
        known = bind(statement, catalog())
        if isinstance(known, BoundQuery):
            check(prepared(known.plan, known.on_error).plan, known.emit, known.allow_unbounded)


def refusal(text: str) -> EbbtideError:
    with pytest.raises(EbbtideError) as caught:
        bound(text)
    return caught.value


def mended(text: str) -> str | None:
    """The statement as hints put it right; None if a hint is advice and not a text to type."""
    for _ in range(5):
        error = problem(text)
        if error is None:
            return text
        added = ADDED.fullmatch(error.hint or "")
        if added is not None:
            text = f"{text} {added['text']}"
            continue
        grouped = GROUPED.fullmatch(error.hint or "")
        if grouped is not None:
            text = f"{text}, {grouped['text']}"
            continue
        moved = MOVED.fullmatch(error.hint or "")
        if moved is not None and error.span is not None:
            text = f"{text[: error.span.start]}{text[error.span.end :]} {moved['text']}"
            continue
        said = worded(text, error.hint or "")
        if said is not None:
            text = said
            continue
        claim = MENDED.fullmatch(error.hint or "")
        if claim is None or error.span is None:
            return None
        text = text[: error.span.start] + (claim["text"] or "") + text[error.span.end :]
    raise AssertionError(f"hints lead nowhere: {text}")


def worded(text: str, hint: str) -> str | None:
    """The statement as a hint in words puts it right."""
    if (out := LEFT_OUT.fullmatch(hint)) and out["text"] in text:
        return text.replace(out["text"], "").strip()
    if stream := AS_STREAM.fullmatch(hint):
        return text.replace(f"CREATE TABLE {stream['text']}", f"CREATE STREAM {stream['text']}")
    if placed := IN_PLACE.fullmatch(hint):
        old = re.sub(r"\b\w+\.(?=\w)", "", placed["old"])  # as it was typed
        return text.replace(old, placed["text"])
    if joined := JOINED.fullmatch(hint):
        return re.sub(rf"{joined['table']} (AS )?{joined['alias']}\b", joined["text"], text)
    return None


def problem(text: str) -> EbbtideError | None:
    try:
        bound(text)
    except EbbtideError as error:
        return error
    return None


def code(cell: str) -> str:
    assert cell[0] == cell[-1] == "`", cell
    return cell[1:-1]


def in_query(call: str) -> str:
    """A call in a query that allows it."""
    window = re.match(r"(TUMBLE|HOP|SESSION)_(?:ROWTIME|END)\((.*?)\)", call)
    if window:
        return f"SELECT {call} AS x FROM events GROUP BY {window[1]}({window[2]})"
    return f"SELECT {call} AS x FROM events [RANGE 1 HOUR]"


@pytest.mark.parametrize(("typed", "here"), [row[1:] for row in STATEMENTS])
def test_a_statement_is_the_same_or_its_hint_leads_to_one(typed: str, here: str) -> None:
    if here == "the same":
        bound(code(typed))
        return
    error = refusal(code(typed))
    assert error.hint, error
    mended(code(typed))
    bound(code(here))


@pytest.mark.parametrize(("typed", "here"), FUNCTIONS)
def test_the_hint_for_a_function_is_what_the_page_says(typed: str, here: str) -> None:
    assert mended(in_query(code(typed))) == in_query(code(here))


def test_every_function_is_on_the_page() -> None:
    shown = {code(typed).partition("(")[0] for typed, _ in FUNCTIONS}
    assert shown == {name for name, _ in INSTEAD}
    advice = {name: row[1] for row in rows("Functions that are not here") for name in names(row[0])}
    assert advice == ABSENT


def names(cell: str) -> list[str]:
    return re.findall(r"`(\w+)`", cell)


@pytest.mark.parametrize("name", ABSENT)
def test_a_function_that_is_not_here_is_no_misspelt_one(name: str) -> None:
    error = refusal(f"SELECT {name}(price) AS x FROM events [NOW]")
    assert error.hint == ABSENT[name]


def test_there_are_many_words_of_each_system() -> None:
    assert {row[0] for row in STATEMENTS} == SYSTEMS
    assert all(sum(row[0] == system for row in STATEMENTS) >= 20 for system in SYSTEMS)
    assert len(STATEMENTS) >= 120
    assert len(FUNCTIONS) >= 50


def test_most_hints_can_be_typed() -> None:
    typed = [code(row[1]) for row in STATEMENTS if row[2] != "the same"]
    assert sum(mended(text) is not None for text in typed) >= 0.8 * len(typed)
