"""The page on configuration names what the code reads and sets."""

import inspect
import re

from docs import ROOT
from ebbtide import config
from ebbtide.engine import starting
from ebbtide.engine.engine import Engine
from ebbtide.spark import session

PAGE = (ROOT / "docs/reference/configuration.md").read_text(encoding="utf-8")


def rows(heading: str) -> str:
    """The part of the page below a heading."""
    return re.split(r"^#+ ", PAGE.partition(f"# {heading}\n")[2], flags=re.MULTILINE)[0]


def test_the_environment_is_there() -> None:
    read = re.findall(r"^    ([A-Z_]+) ", config.__doc__ or "", re.MULTILINE)
    assert len(read) >= 3
    assert [name for name in read if f"| `{name}` |" not in rows("The environment")] == []


def test_what_sessions_and_steps_set_is_there() -> None:
    for heading, settings in (
        ("A session that the engine starts", session._SETTINGS),
        ("What a step sets", session.STEP_SETTINGS),
        ("What a query on streams sets", {session._NAMED: "true", **session._LISTED_HERE}),
    ):
        told = rows(heading)
        assert [name for name in settings if f"`{name}`" not in told] == []
        assert [value for value in settings.values() if f"`{value}`" not in told] == []


def test_arguments_are_there() -> None:
    engine = set(inspect.signature(Engine).parameters)
    assert set(re.findall(r"^\| `(\w+)` \|", rows("The engine"), re.MULTILINE)) == engine
    options = set(inspect.signature(starting.started).parameters) - {"engine", "queries"}
    found = set(re.findall(r"^\| `(\w+)` \|", rows("The start of a query"), re.MULTILINE))
    assert found == options
