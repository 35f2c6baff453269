"""The reference of functions says what the library has.

`python tests/unit/algebra/test_function_reference.py` writes its lists anew.
"""

import re
from itertools import groupby
from pathlib import Path

from ebbtide.algebra.functions import ALIASES, FORMS, FUNCTIONS

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "functions.md"
BEGIN, END = "<!-- the library: begin -->", "<!-- the library: end -->"


def lists() -> str:
    """The lists of the page: a line for each function, a list for each family."""
    entries = sorted((*FUNCTIONS.values(), *FORMS.values()), key=lambda entry: entry.family.lower())
    families = groupby(entries, key=lambda entry: entry.family.lower())
    parts = []
    for family, members in families:
        lines = [
            f"- `{entry.usage}`: {entry.summary}{_also(entry.name)}"
            for entry in sorted(members, key=lambda entry: entry.name)
        ]
        parts.append(f"### {family[0].upper()}{family[1:]}\n\n" + "\n".join(lines))
    return "\n\n".join(parts)


def _also(name: str) -> str:
    others = [f"`{alias}`" for alias, known in ALIASES.items() if known == name]
    return f" (also {', '.join(others)})" if others else ""


def with_lists(page: str) -> str:
    """The page with the lists as they should be."""
    pattern = re.compile(f"{re.escape(BEGIN)}.*{re.escape(END)}", re.DOTALL)
    return pattern.sub(lambda _: f"{BEGIN}\n\n{lists()}\n\n{END}", page)


def test_the_page_has_every_function() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == with_lists(page)


def test_a_summary_is_one_sentence() -> None:
    for entry in (*FUNCTIONS.values(), *FORMS.values()):
        assert re.fullmatch(r"[^.]*(`[^`]*`[^.]*|\d\.\d[^.]*)*\.", entry.summary), entry.summary
        assert entry.usage.startswith(f"{entry.name}(")


if __name__ == "__main__":
    PAGE.write_text(with_lists(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
