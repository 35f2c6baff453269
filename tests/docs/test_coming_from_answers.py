"""What is "the same" on the page for users of other systems goes on giving the same answers.

All such queries run in one program over a few rows; `coming_from_answers.txt` has what each said
when it was written down and read through.
"""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from docs import blocks
from docs.test_coming_from_page import PAGE, STATEMENTS, code
from ebbtide import Engine
from ebbtide.sql import parse
from ebbtide.sql.syntax import Query

ANSWERS = Path(__file__).with_name("coming_from_answers.txt")
DAY = "2026-01-01"
JSON = '{"a": {"b": "c"}, "price": 1.5}'
ROWS = {
    "events": [
        (1, "a", 10.0, 1000, ["x", "y"], f"{DAY} 12:00:00"),
        (2, "b", 20.0, 2000, ["x"], f"{DAY} 12:04:00"),
        (1, "a", 5.0, 3000, [], f"{DAY} 12:11:00"),
        (3, JSON, 7.0, 4000, None, f"{DAY} 12:12:00"),
    ],
    "clicks": [(1, "home", f"{DAY} 12:01:00"), (2, "cart", f"{DAY} 12:03:00")],
    "users": [(1, "ada", f"{DAY} 11:00:00"), (2, "bob", f"{DAY} 11:30:00")],
}


def queries() -> list[str]:
    """The queries that users of other systems write as they stand."""
    same = [code(row[1]) for row in STATEMENTS if row[2] == "the same"]
    return [text for text in same if isinstance(parse(text)[0], Query)]


def expected() -> dict[str, list[str]]:
    """The rows of each query, as text."""
    found: dict[str, list[str]] = {}
    for line in ANSWERS.read_text(encoding="utf-8").splitlines():
        if line.startswith("    "):
            found[next(reversed(found))].append(line.strip())
        elif line:
            found[line] = []
    return found


def shown(value: Any) -> str:
    match value:
        case datetime():
            return value.strftime("%H:%M:%S")
        case timedelta() | float() | int() | None:
            return str(value)
        case dict():
            return f"({', '.join(map(shown, value.values()))})"
        case list():
            return f"[{', '.join(map(shown, value))}]"
        case _:
            return repr(value)


def rows(query: Any) -> list[str]:
    """The rows of a query now, in order."""
    listed = query.snapshot().to_pylist()
    return sorted(" | ".join(map(shown, row.values())) for row in listed)


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    engine = Engine(tmp_path_factory.mktemp("coming"), transport="local")
    (declared,) = [block for block in blocks(PAGE) if block.language == "sql"]
    engine.execute(declared.text)
    asked = {text: engine.query(text) for text in queries()}
    engine.start(*asked.values(), name="all")
    for name, told in ROWS.items():
        engine.feed(name, told)
        engine.advance(name, f"{DAY} 12:12:00")
    engine.step()
    found = {text: rows(query) for text, query in asked.items()}
    engine.stop()
    return found


def test_every_query_has_an_answer() -> None:
    assert set(expected()) == set(queries())
    assert len(expected()) >= 55


@pytest.mark.parametrize("text", expected())
def test_the_answer_is_right(text: str, answers: dict[str, list[str]]) -> None:
    assert answers[text] == expected()[text]
