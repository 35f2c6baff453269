"""The drawings of the documentation are what the code draws."""

from docs import ROOT
from docs.scripts import script

DRAWINGS = script("drawings")


def test_the_drawings_of_operators_are_current() -> None:
    made = {f"{name.lower()}.svg": drawn for name, drawn in DRAWINGS.drawings().items()}
    there = {
        path.name: path.read_text(encoding="utf-8") for path in DRAWINGS.DRAWINGS.glob("*.svg")
    }
    assert sorted(there) == sorted(made)
    changed = [name for name in made if made[name] != there[name]]
    assert changed == [], "make drawings"


def test_every_drawing_is_on_its_page() -> None:
    page = (ROOT / "docs/reference/operators.md").read_text(encoding="utf-8")
    assert [p.name for p in DRAWINGS.DRAWINGS.iterdir() if f"drawings/{p.name})" not in page] == []
