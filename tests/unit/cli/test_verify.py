"""``ebbtide verify``: it reads everything, tells all that is damaged, and changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import Command
from ebbtide.state.store import forget_all
from ebbtide.store.journal import Journal

KINDS = [
    "programs/means/program.json",
    "programs/means/program.sql",
    "programs/means/journal/000000000000.json",
    "programs/means/state/manifest-000000000001.json",
    "segment",
    "programs/means/output/means/*",
    "programs/means/unused/*",
    "feed/traffic.jsonl",
    "feed/traffic.end",
]


def contents(location: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in location.rglob("*") if path.is_file()}


def test_a_whole_location_is_whole(location: Path, command: Command) -> None:
    before = contents(location)
    for arguments in ([], ["means"], ["MEANS"]):
        answer = command("verify", *arguments)
        assert answer.code == 0
        assert answer.out.endswith("all is whole\n")
        assert "ok    means: journal, 2 files" in answer.out
    assert contents(location) == before


def segment(location: Path) -> Path:
    latest = Journal(str(location / "programs/means")).latest()
    assert latest is not None
    return location / "programs/means/state" / min(latest.segments())


@pytest.mark.parametrize("pattern", KINDS)
@pytest.mark.parametrize("how", ["changed", "lost"])
def test_any_damage_is_told(location: Path, command: Command, pattern: str, how: str) -> None:
    path = segment(location) if pattern == "segment" else min(location.glob(pattern))
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.unlink()
    if how == "changed":
        path.write_bytes(content)
    forget_all()
    answer = command("verify")
    if (pattern, how) == ("feed/traffic.end", "lost"):
        assert answer.code == 0  # the log proves itself, and the next rows write it anew
        return
    assert answer.code == 1
    assert "FAIL" in answer.out
    assert "      -> " in answer.out


def test_all_damage_is_told_at_once(location: Path, command: Command) -> None:
    damaged = [*location.glob("programs/means/output/means/*"), location / "feed/traffic.jsonl"]
    for path in damaged:
        path.write_bytes(b"nothing")
    answer = command("verify")
    assert answer.code == 1
    assert answer.out.endswith(f"{len(damaged)} damaged or lost\n")
    assert [path.name for path in damaged if path.name not in answer.out] == []


def test_what_is_not_there_cannot_be_verified(location: Path, command: Command) -> None:
    assert "did you mean means?" in command("verify", "meens").err
    assert "empty-location" in command("verify", "-l", "elsewhere").err
