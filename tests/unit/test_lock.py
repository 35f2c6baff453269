"""`requirements.lock` pins what `pyproject.toml` asks for, and nothing in it tells of a machine."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())

WANTED = [
    *PYPROJECT["project"]["dependencies"],
    *(each for group in PYPROJECT["dependency-groups"].values() for each in group),
    *PYPROJECT["build-system"]["requires"],
]


def pins() -> dict[str, str]:
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    pinned = [line for line in lines if not line.startswith("#")]
    for line in pinned:
        assert re.fullmatch(r"[a-z0-9-]+==[0-9][0-9a-z.+]*", line), line
    assert pinned == sorted(pinned)
    return dict(line.split("==") for line in pinned)


@pytest.mark.parametrize("requirement", sorted(set(WANTED)))
def test_the_lock_has_what_is_asked_for(requirement: str) -> None:
    wanted = Requirement(requirement)
    assert wanted.specifier.contains(pins()[wanted.name])
