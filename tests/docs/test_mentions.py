"""Pages mention only commands, options and verbs that there are."""

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from docs import PAGES, ROOT, blocks
from ebbtide.cli.app import ebbtide

VERBS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
COMMAND = re.compile(r"(?:^|[\s`(])ebbtide ((?:--?)?[a-z][\w-]*)([^\n`|&;>]*)")
VERB = re.compile(r"(?:^|[\s`])make ([a-z-]+)")


def code(page: Path) -> Iterator[str]:
    """The code of a page: blocks for shells, and what stands between backquotes."""
    text = page.read_text(encoding="utf-8")
    yield from (block.text for block in blocks(page) if block.language == "sh")
    yield from re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))


def unknown(text: str) -> list[str]:
    """The commands and options in a text that there are not."""
    context = click.Context(ebbtide)
    found = []
    for name, rest in COMMAND.findall(text):
        command = ebbtide if name.startswith("-") else ebbtide.get_command(context, name)
        if command is None:
            found.append(name)
            continue
        known = {option for param in command.get_params(context) for option in param.opts}
        given = re.findall(r"(?<!\S)--[a-z][\w-]*", f"{name} {rest}")
        found += [f"{name} {option}" for option in given if option not in known]
    return found


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_commands_and_options_exist(page: Path) -> None:
    assert [one for text in code(page) for one in unknown(text)] == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_verbs_exist(page: Path) -> None:
    assert {verb for text in code(page) for verb in VERB.findall(text)} - VERBS == set()


def test_what_does_not_exist_is_found() -> None:
    assert unknown("ebbtide fly x.sql") == ["fly"]
    assert unknown("ebbtide run x.sql --until-caught-up --fast") == ["run --fast"]
    assert unknown("ebbtide snapshot means --at now") == []
    assert unknown("ebbtide --version") == []
