"""Names that say nothing, and traces of the machine on which something was made."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

EMPTY_NAMES = {"utils", "util", "helpers", "helper", "common", "base", "manager", "misc"}

# Directories under which people and machines keep their own things. A path in a message or in an
# example may start with a slash; it does not start with one of these.
OF_A_MACHINE = re.compile(r"(?<![\w.)}/-])/(?:work|home|root|Users|opt|mnt|builds?)/[\w.]")

# What tools make; the same as in .gitignore.
MADE = {".git", ".venv", ".hypothesis", "__pycache__", "build", "dist", "spark-warehouse"}


def project_files(directory: Path) -> Iterator[Path]:
    """The files that people write: everything but what tools make."""
    for path in sorted(directory.iterdir()):
        if path.name in MADE or path.name.endswith(("_cache", ".egg-info", ".pyc", ".log")):
            continue
        if path.is_dir():
            yield from project_files(path)
        else:
            yield path


def test_every_module_is_named_after_what_it_is_for(modules) -> None:
    assert [m.name for m in modules if EMPTY_NAMES & set(m.name.split("."))] == []


def test_no_file_names_a_place_of_some_machine(root: Path) -> None:
    found = [
        f"{path.relative_to(root)}:{number}: {line.strip()}"
        for path in project_files(root)
        for number, line in enumerate(
            path.read_text(encoding="utf-8", errors="replace").splitlines(), 1
        )
        if OF_A_MACHINE.search(line)
    ]
    assert found == []


@pytest.mark.parametrize("place", ["work", "home", "root", "opt"])
def test_a_place_of_some_machine_is_recognised(place: str) -> None:
    assert OF_A_MACHINE.search(f'open("/{place}/x")')
    assert OF_A_MACHINE.search(f"cd /{place}/x")
    assert not OF_A_MACHINE.search(f"src/{place}/x")
    assert not OF_A_MACHINE.search(f"./{place}/x")
