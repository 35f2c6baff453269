"""The sources of the package, parsed, for tests that read them instead of running them."""

import ast
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Module:
    """A module of the package: its dotted name, and its tree."""

    name: str
    path: Path
    tree: ast.Module

    @property
    def part(self) -> str:
        """The layer that it is of: `core` for `ebbtide.core.change`, empty for `ebbtide`."""
        return ".".join(self.name.split(".")[1:2])


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's directory."""
    return Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def modules(root: Path) -> list[Module]:
    """Every module of the package, in order."""
    src = root / "src"
    return [
        Module(
            ".".join(path.relative_to(src).with_suffix("").parts).removesuffix(".__init__"),
            path,
            ast.parse(path.read_text(encoding="utf-8"), str(path)),
        )
        for path in sorted(src.rglob("*.py"))
    ]
