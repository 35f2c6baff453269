"""The meaning of a function is for the reference: what it judges computes by itself."""

import ast
from pathlib import Path

SOURCES = Path(__file__).parents[2] / "src" / "ebbtide"


def test_nothing_but_the_reference_asks_for_a_meaning() -> None:
    asking = {
        path.relative_to(SOURCES).parts[0]
        for path in SOURCES.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr == "meaning"
    }
    assert asking == {"reference"}


def test_families_are_imported_by_the_library_alone() -> None:
    library = "ebbtide.algebra.function_library"
    allowed = {f"{library}.signature", library}
    for path in SOURCES.rglob("*.py"):
        if path.parent.name == "function_library":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(library):
                assert node.module in allowed, path
