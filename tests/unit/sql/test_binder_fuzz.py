"""Statements put together from parts of others are bound or refused; nothing else happens."""

import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus import statements
from ebbtide.errors import EbbtideError, QueryError, UnsupportedError
from ebbtide.sql import parse
from ebbtide.sql.binder import bind, execute
from ebbtide.sql.bound import Bound, BoundQuery
from ebbtide.sql.catalog import Catalog
from ebbtide.sql.syntax import Statement

TEXTS = statements("statements.sql")
WORD = re.compile(r"\w+|\s+|`[^`]*`|'[^']*'|.", re.DOTALL)
NAMES = re.compile(r"[a-z_]\w*")
TRIES = 20


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    known = Catalog()
    for text in statements("schema.sql"):
        known = execute(parse(text)[0], known)
    return known


def mutant(dice: Random) -> str:
    """A statement with some of its words replaced, dropped, doubled, or taken from another."""
    words = WORD.findall(dice.choice(TEXTS))
    others = WORD.findall(dice.choice(TEXTS))
    for _ in range(dice.randint(1, 3)):
        place = dice.randrange(len(words))
        match dice.randrange(4):
            case 0:
                names = [word for word in others if NAMES.fullmatch(word)] or ["x"]
                places = [i for i, word in enumerate(words) if NAMES.fullmatch(word)] or [place]
                words[dice.choice(places)] = dice.choice(names)
            case 1:
                start = dice.randrange(len(others))
                words[place : place + 3] = others[start : start + dice.randint(1, 8)]
            case 2:
                del words[place]
                words = words or ["SELECT"]
            case _:
                words[place:place] = [words[place], " "]
    return "".join(words)


def read(text: str) -> tuple[Statement, ...]:
    try:
        return parse(text)
    except EbbtideError:
        return ()


def outcome(statement: Statement, catalog: Catalog) -> Bound | QueryError | UnsupportedError:
    try:
        return bind(statement, catalog)
    except (QueryError, UnsupportedError) as error:
        return error


@given(st.integers(0, 2**32))
def test_bound_or_refused_at_a_place(catalog: Catalog, seed: int) -> None:
    dice = Random(seed)
    for _ in range(TRIES):
        text = mutant(dice)
        for statement in read(text):
            match outcome(statement, catalog):
                case BoundQuery() as query:
                    assert bind(parse(query.sql)[0], catalog) == query, text
                case QueryError(span=span) | UnsupportedError(span=span):
                    assert span is not None, text
                    assert span.source == text
