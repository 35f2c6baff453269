"""A regular expression whose ways to match are too many to try kept a step at work for ever."""

from __future__ import annotations

import multiprocessing
import re
from datetime import UTC
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from ebbtide.algebra.plain_patterns import linear_form
from ebbtide.columnar.patterns import PATTERNS, like
from ebbtide.columnar.regex import compiled
from ebbtide.columnar.signature import Context
from ebbtide.core.types import BOOLEAN, STRING, ArrayType

TEXT = "a" * 64 + "b"
PATTERN = "^(a+)+$"


def asked(name: str, result: Any, *operands: Any) -> Any:
    context = Context(tuple(STRING for _ in operands), result, UTC)
    found = PATTERNS[name](context, *operands)
    return getattr(found, "values", found)


def ask_all() -> None:
    texts, pattern = pa.array([TEXT, None, "aaa"]), pa.scalar(PATTERN)
    assert asked("RLIKE", BOOLEAN, texts, pattern).to_pylist() == [False, None, True]
    replaced = asked("REGEXP_REPLACE", STRING, texts, pattern, pa.scalar("x"))
    assert replaced.to_pylist() == [TEXT, None, "x"]
    extracted = asked("REGEXP_EXTRACT", STRING, texts, pattern)
    assert extracted.to_pylist() == ["", None, "aaa"]
    form = pa.array(["%a" * 20 + "%c"])
    assert like("\\", pa.array(["ab" * 5000]), form).values.to_pylist() == [False]
    parts = asked("SPLIT", ArrayType(STRING), pa.array([TEXT]), pattern)
    assert parts.to_pylist() == [[TEXT]]


def test_they_come_to_an_end() -> None:
    process = multiprocessing.get_context("fork").Process(target=ask_all)
    process.start()
    process.join(60)
    if process.is_alive():
        process.kill()
        pytest.fail("it goes on for ever")
    assert process.exitcode == 0


@pytest.mark.parametrize(
    "pattern",
    [
        "a.b",
        "(ab|a)*c$",
        "^(\\w+\\.)+x?$",
        "[^a\\d]+?b{2,3}",
        "(?:a|b){0,2}\\.",
        "\\s+a",
        "a|b$",
        "",
    ],
)
def test_they_match_what_they_matched(pattern: str) -> None:
    random = Random(pattern)
    form = linear_form(pattern)
    assert form is not None
    for _ in range(2000):
        text = "".join(random.choice("aabbc1. \n\v\té") for _ in range(random.randrange(7)))
        (found,) = asked("RLIKE", BOOLEAN, pa.array([text]), pa.scalar(pattern)).to_pylist()
        assert found == (compiled(pattern).search(text) is not None), text


@pytest.mark.parametrize(
    "pattern", ["(a)\\1", "a(?=b)", "a++", "a{,3}", "(?i)a", "(a$)[^b]", "a**", "\\p{Alpha}", "^*a"]
)
def test_others_are_left_to_python(pattern: str) -> None:
    assert linear_form(pattern) is None


def test_no_form_is_read_otherwise() -> None:
    random, tried = Random(5), 0
    parts = ["a", "b", ".", "\\d", "\\.", "[ab]", "[^a]", "(", "(?:", ")", "|", "^", "$"]
    parts += ["*", "+", "?", "{2}", "{1,2}", "{", "\\s", "\\"]
    while tried < 1500:
        pattern = "".join(random.choice(parts) for _ in range(random.randint(1, 6)))
        form = linear_form(pattern)
        if form is None:
            continue
        tried += 1
        text = "".join(random.choice("ab1.\n{") for _ in range(random.randrange(6)))
        (found,) = asked("RLIKE", BOOLEAN, pa.array([text]), pa.scalar(pattern)).to_pylist()
        assert found == (re.search(pattern, text, re.ASCII) is not None), (pattern, text)


def test_like_with_patterns_that_vary() -> None:
    random = Random(7)
    texts = [
        "".join(random.choice("ab\né") for _ in range(random.randrange(6))) for _ in range(3000)
    ]
    forms = ["".join(random.choice("ab%_") for _ in range(random.randrange(6))) for _ in texts]
    found = like("\\", pa.array(texts), pa.array(forms)).values.to_pylist()
    plain = [form.replace("%", ".*").replace("_", ".") for form in forms]
    expected = [
        re.fullmatch(form, text, re.DOTALL) is not None
        for form, text in zip(plain, texts, strict=True)
    ]
    assert found == expected
