"""The page of the command: its examples, about its script and its files, say what it says."""

from __future__ import annotations

import json
import shlex
from itertools import pairwise
from pathlib import Path

import click
import pytest

from cli_story import SCRIPT, STEPS
from commands import Command
from docs import ROOT, Block, blocks
from ebbtide.cli.app import ebbtide

PAGE = ROOT / "docs/reference/command.md"
ELSEWHERE = {"run", "demo", "why"}
"""What needs Spark is in tests/spark, and what needs rows that are fed in docs/how-to/why.md."""


def examples() -> list[tuple[Block, Block]]:
    """Commands, each with the text that stands behind it."""
    found = blocks(PAGE)
    return [
        (one, other)
        for one, other in pairwise(found)
        if one.language == "sh" and other.language == "text"
    ]


def test_the_page_tells_the_same_story_as_the_tests() -> None:
    found = blocks(PAGE)
    assert [block.text for block in found if block.language == "sql"] == [SCRIPT]
    rows = [
        [tuple(json.loads(line).values()) for line in block.text.splitlines()]
        for block in found
        if block.language == "json"
    ]
    dated = [[(*row[:2], f"2026-01-01 {row[2]}") for row in step] for step in STEPS]
    assert rows == dated


@pytest.mark.parametrize("example", examples(), ids=lambda pair: str(pair[0]))
def test_an_example_says_what_the_page_says(
    example: tuple[Block, Block],
    location: Path,
    command: Command,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked, said = example
    program, *arguments = shlex.split(asked.text)
    assert program == "ebbtide"
    if arguments[0] in ELSEWHERE:
        pytest.skip("it is run elsewhere")
    monkeypatch.setenv("COLUMNS", "80")
    answer = command(*arguments)
    assert answer.code == 0
    if arguments[0] == "explain":
        assert answer.out.startswith(said.text)
    else:
        assert answer.out == said.text


def test_every_subcommand_has_a_section() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    heads = {line[3:] for line in lines if line.startswith("## ")}
    assert heads - {"Everywhere"} == set(ebbtide.list_commands(click.Context(ebbtide)))


@pytest.mark.parametrize("words", ["late traffic --format csv"])
def test_the_others_run(words: str, location: Path, command: Command) -> None:
    assert f"ebbtide {words}\n" in PAGE.read_text(encoding="utf-8")
    assert command(*words.split()).code == 0
