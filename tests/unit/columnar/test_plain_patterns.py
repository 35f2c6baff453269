"""What Arrow extracts and splits is what is extracted and split value by value."""

from __future__ import annotations

from datetime import UTC

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysed import World
from ebbtide.algebra.failing import can_fail
from ebbtide.algebra.relation import Map
from ebbtide.columnar.patterns import _extract, _extracts, _named_groups
from ebbtide.columnar.signature import Context
from ebbtide.columnar.text import _split_part, _split_parts
from ebbtide.core.types import INT, STRING

PIECES = ("a", "b", "&", "(", ")", "|", "^", "[^&]", "[ab]", "a*", "b+", "[^a]*", "(a|b)", "(^|&)")
CONTEXT = Context((STRING, STRING, INT), STRING, UTC)
texts = st.lists(st.none() | st.text("ab&c\nü", max_size=8), min_size=1, max_size=8)


@given(texts=texts, pieces=st.lists(st.sampled_from(PIECES), min_size=1), group=st.integers(0, 2))
def test_what_is_extracted(texts: list[str | None], pieces: list[str], group: int) -> None:
    pattern = "".join(pieces)
    named = _named_groups(pattern)
    if named is None or group > named[1]:
        return
    column, number = pa.array(texts, pa.string()), pa.scalar(group, pa.int32())
    found = _extracts(CONTEXT, column, pa.scalar(pattern), number)
    expected = [None if text is None else _extract(text, pattern, group) for text in texts]
    assert found.to_pylist() == expected


@given(texts=texts, separator=st.sampled_from(["a", "ab", "ü", "bb"]), number=st.integers(-3, 3))
def test_what_is_split(texts: list[str | None], separator: str, number: int) -> None:
    column, place = pa.array(texts, pa.string()), pa.scalar(number or 1, pa.int32())
    found = _split_parts(CONTEXT, column, pa.scalar(separator), place)
    expected = [
        None if text is None else _split_part(text, separator, number or 1) for text in texts
    ]
    assert found.to_pylist() == expected


@pytest.mark.parametrize("pattern", [r"\\d", "a.b", "a$", "(a)*", "a*+", "a{2}", "(?i)a", "[a&&b]"])
def test_other_patterns_are_left_to_others(pattern: str) -> None:
    assert _named_groups(pattern) is None


def test_the_pattern_of_nexmark_is_plain() -> None:
    assert _named_groups("(&|^)channel_id=([^&]*)") is not None


@pytest.mark.parametrize(
    ("text", "fails"),
    [
        ("SPLIT_PART(url, '/', 4)", False),
        ("SPLIT_PART(url, '/', 0)", True),
        ("SPLIT_PART(url, '/', n)", True),
        ("REGEXP_EXTRACT(url, '(&|^)id=([^&]*)', 2)", False),
        ("REGEXP_EXTRACT(url, '(&|^)id=([^&]*)', 3)", True),
        ("REGEXP_EXTRACT(url, 'id', 0)", False),
        ("REGEXP_EXTRACT(url, 'id.*', 0)", True),
        ("REGEXP_EXTRACT(url, url, 0)", True),
    ],
)
def test_what_can_fail(text: str, fails: bool) -> None:
    world = World("CREATE STREAM s (url STRING, n INT, at TIMESTAMP, PROGRESS FOR at AS at)")
    plan = world.bound(f"SELECT {text} AS x FROM s").plan
    assert isinstance(plan, Map)
    assert can_fail(plan.columns[0].expression) is fails
