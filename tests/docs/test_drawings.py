"""The drawings of the documentation are what the code draws."""

import re
from pathlib import Path

from docs import PAGES, ROOT
from docs.scripts import script

DRAWN: dict[Path, str] = script("drawings").drawings()


def test_the_drawings_are_current() -> None:
    there = {path for path in (ROOT / "docs").rglob("drawings/*.svg") if path.parent in PLACES}
    assert there == set(DRAWN)
    changed = [path.name for path, drawn in DRAWN.items() if path.read_text("utf-8") != drawn]
    assert changed == [], "make drawings"


PLACES = {path.parent for path in DRAWN}


def test_every_drawing_is_on_a_page() -> None:
    shown = {
        (page.parent / target).resolve()
        for page in PAGES
        for target in re.findall(r"\]\(([^)\s]+\.svg)\)", page.read_text(encoding="utf-8"))
    }
    assert set(DRAWN) - shown == set()
