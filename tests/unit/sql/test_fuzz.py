"""Whatever the text is, the parser answers: with statements, or with an error that points at it.

What is tried: texts of random characters, of random words, statements of the corpus cut short, with
characters changed, words doubled, dropped or shuffled, and two statements spliced together.
"""

import random
import re
import time
from collections.abc import Callable

import pytest

from corpus import bad_statements, good_statements
from ebbtide.config import Config
from ebbtide.errors import QueryError, UnsupportedError
from ebbtide.sql import parse, sql
from ebbtide.sql.dialect import Ebbtide
from ebbtide.sql.words import KEYWORDS

TRIES = {"quick": 1_000, "ci": 1_200, "long": 100_000}[Config.from_environment().profile]
SLOWEST = 2.0


STATEMENTS = good_statements() + [bad.text for bad in bad_statements("parse.sql")]
NAMES = "ISTREAM RSTREAM EVERY EMIT FINAL FIXED SLIDE NOW UNBOUNDED MINUTES a b t 5 1.5 'x'"
SIGNS = "( ) [ ] , ; . * + - / % < > = ' \" ` : ? { } | & ^ ~ ! @ # $ \\ -- /* */"
WORDS = [*KEYWORDS, *NAMES.split(), *SIGNS.split()]
CHARACTERS = "abtSELECT0195 \n\t()[],;.*'\"`-+/<>=_%é\u2028\x00𝄞"
CLOSINGS = {
    "(": ")",
    "f(": ")",
    "a[": "]",
    "STRUCT(": ")",
    "ARRAY(": ")",
    "MAP(": ")",
    "DATE(": ")",
    "(1, ": ")",
    "CASE WHEN ": " THEN 1 END",
    "CASE ": " WHEN 1 THEN 2 END",
    "CAST(": " AS INT)",
    "CAST(1 AS ARRAY<": ">)",
    "FLOOR(": " TO HOUR)",
    "TRIM(": " FROM x)",
    "1 IN (": ")",
    "(SELECT ": ")",
    "EXISTS (SELECT ": ")",
    "1 FROM (": ")",
    "1 FROM (SELECT ": ")",
    "1 FROM ISTREAM(SELECT ": ")",
    "1 FROM TUMBLE(": ", at, 1 HOUR)",
    "1 FROM (a JOIN ": " ON x)",
    "SUM(": ") OVER (ORDER BY a)",
    "COUNT(DISTINCT ": ")",
    "a -> ": "",
    "INTERVAL ": " DAYS",
    "NOT ": "",
    "- ": "",
}
OPENINGS = list(CLOSINGS)
TOKEN = re.compile(r"\w+|\s+|.", re.DOTALL)


def random_characters(rng: random.Random) -> str:
    return "".join(rng.choices(CHARACTERS, k=rng.randint(0, 60)))


def random_words(rng: random.Random) -> str:
    return " ".join(rng.choices(WORDS, k=rng.randint(1, 30)))


def cut_short(rng: random.Random) -> str:
    text = rng.choice(STATEMENTS)
    return text[: rng.randrange(len(text) + 1)]


def changed(rng: random.Random) -> str:
    text = list(rng.choice(STATEMENTS))
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(text))
        text[place] = rng.choice(["", rng.choice(CHARACTERS), text[place] * 2])
    return "".join(text)


def shuffled(rng: random.Random) -> str:
    words = TOKEN.findall(rng.choice(STATEMENTS))
    for _ in range(rng.randint(1, 4)):
        i, j = rng.randrange(len(words)), rng.randrange(len(words))
        match rng.randrange(4):
            case 0:
                words[i], words[j] = words[j], words[i]
            case 1:
                words[i] = ""
            case 2:
                words.insert(i, words[j])
            case _:
                words.insert(i, f" {rng.choice(WORDS)} ")
    return "".join(words)


def spliced(rng: random.Random) -> str:
    one, two = TOKEN.findall(rng.choice(STATEMENTS)), TOKEN.findall(rng.choice(STATEMENTS))
    return "".join(one[: rng.randrange(len(one))] + two[rng.randrange(len(two)) :])


# Words that may be left out without changing what is said, and signs that change nothing.
OPTIONAL = {"AS", "INTERVAL", "ASC", "OUTER", "INNER", "ALL", "DISTINCT", "BOTH", "TABLE"}
OPTIONAL |= {"PRECISION", "VARYING", "LOCAL", "MATERIALIZED", "LATERAL"}
OPTIONAL |= {"+", ":", "="}


def nested(rng: random.Random) -> str:
    depth = rng.randint(1, 30)
    openings = rng.choices(OPENINGS, k=depth)
    closings = [")", "]", " END", " THEN 1 END", ">", ""]
    inner = "".join(openings) + rng.choice(["a", "1", "SELECT 1", "t", ""])
    return (
        "SELECT " + inner + "".join(CLOSINGS.get(o, rng.choice(closings)) for o in openings[::-1])
    )


MAKERS = [random_characters, random_words, cut_short, changed, shuffled, spliced, nested]


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_every_text_has_an_answer(make: Callable[[random.Random], str]) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")  # noqa: T201
    rng = random.Random(seed)
    for _ in range(TRIES // len(MAKERS) + 1):
        text = make(rng)
        started = time.perf_counter()
        answer(text)
        assert time.perf_counter() - started < SLOWEST, text


def test_nothing_is_ignored() -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")  # noqa: T201
    good = good_statements()
    for text in random.Random(seed).sample(good, min(len(good), TRIES // 100)):
        for token in Ebbtide().tokenize(text):
            without = f"{text[: token.start]} {text[token.end + 1 :]}"
            if token.text.upper() not in OPTIONAL and accepted(without):
                assert parse(without) != parse(text), (without, token.text)


def accepted(text: str) -> bool:
    """Whether the text is a script."""
    try:
        return parse(text) is not None
    except (QueryError, UnsupportedError):
        return False


def answer(text: str) -> None:
    """Parses a text; anything but statements or an error of the user's fails."""
    try:
        statements = parse(text)
    except (QueryError, UnsupportedError) as refusal:
        error = refusal
    else:
        for statement in statements:
            assert parse(sql(statement)) == (statement,), text
        return
    assert error.span is not None, text
    assert error.span.source == text
    assert str(error)
