"""Documentation pages: one sentence per line, and links that lead somewhere."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])

SECOND_SENTENCE = re.compile(r"[.!?][)*_\"]* +[A-Z]")
LABEL = re.compile(r"^(- )?\*\*[^*]+\*\*")  # **Context.** A label may stand before its sentence.
LINK = re.compile(r"\]\(([^)#\s]+)(#[^)]*)?\)")


def prose(page: str) -> list[str]:
    """The lines of a page outside code, tables and headings, without their inline code."""
    lines: list[str] = []
    in_code = False
    for line in page.splitlines():
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif not in_code and not line.startswith(("|", "#")):
            lines.append(re.sub(r"`[^`]*`", "``", line))
    return lines


def crowded(page: str) -> list[str]:
    """The lines that hold more than one sentence."""
    return [line for line in prose(page) if SECOND_SENTENCE.search(LABEL.sub("", line))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_line_holds_one_sentence(page: Path) -> None:
    assert crowded(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_within_the_project_lead_somewhere(page: Path) -> None:
    targets = [target for target, _ in LINK.findall(page.read_text(encoding="utf-8"))]
    inside = [target for target in targets if "://" not in target]
    assert [target for target in inside if not (page.parent / target).exists()] == []


def test_a_crowded_line_is_recognised() -> None:
    assert crowded("One. Two.\n") == ["One. Two."]
    assert crowded("One.\nTwo `a. B`.\n**Label.** Three.\n| a. B |\n```\nA. B\n```\n") == []
