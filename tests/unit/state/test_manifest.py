"""Manifests: a version exists wholly or not at all, and is never another one."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pyarrow as pa
import pytest

from ebbtide.errors import StateError
from ebbtide.state.area import SweepArea
from ebbtide.state.batch import batch_schema
from ebbtide.state.layout import Layout
from ebbtide.state.store import DirectoryStore, WriteScope
from ebbtide.store.manifest import Manifest, Manifests, name_of
from ebbtide.store.record import Came, OperatorCounts, SourceCounts, StepRecord, WrittenFile

SCHEMA = batch_schema([pa.int64()])
LAYOUT = Layout("input", SCHEMA, (0,))


def table(*values: int) -> pa.Table:
    n = len(values)
    return pa.Table.from_pydict(
        {"c0": list(values), "valid_from": [0] * n, "valid_to": [9] * n, "diff": [1] * n},
        schema=SCHEMA,
    )


@pytest.fixture
def manifests(tmp_path: Path) -> Manifests:
    return Manifests(DirectoryStore(str(tmp_path)))


def version(manifests: Manifests, number: int, *values: int) -> Manifest:
    """A version with one area that holds some values."""
    area = SweepArea(LAYOUT, WriteScope(manifests.store, "join", 0, number)).insert(table(*values))
    return Manifest(number, 1, {"join": (((area.describe()),),)}, frontiers={"now": 5}, clock=7)


def test_a_version_comes_back_as_it_was(manifests: Manifests) -> None:
    assert manifests.latest() is None
    manifest = version(manifests, 3, 1, 2)
    manifests.commit(manifest)
    loaded = manifests.load(3)
    assert loaded == manifest == manifests.latest()
    area = SweepArea.restore(LAYOUT, loaded.areas["join"][0][0], WriteScope(manifests.store))
    assert area.query(None).column("c0").to_pylist() in ([1, 2], [2, 1])


def test_the_same_version_may_be_committed_again_but_not_another(manifests: Manifests) -> None:
    manifest = version(manifests, 0, 1)
    manifests.commit(manifest)
    manifests.commit(manifest)
    with pytest.raises(StateError, match="version 0") as caught:
        manifests.commit(version(manifests, 0, 2))
    assert caught.value.code == "version-exists"
    assert manifests.load(0) == manifest


def test_segments_go_when_the_next_version_but_one_starts(manifests: Manifests) -> None:
    old, new = version(manifests, 0, 1), version(manifests, 1, 2)
    manifests.start(0)
    manifests.commit(old)
    manifests.start(1)
    manifests.commit(new)
    # Version 1 dropped the segment of 0; its batch may still be repeated from version 0.
    assert not manifests.missing(old)
    manifests.start(1)
    assert not manifests.missing(old)
    manifests.start(2)
    assert manifests.missing(old) == old.segments()
    assert not manifests.missing(new)
    assert manifests.versions() == [1]


def test_a_segment_that_is_still_used_stays(manifests: Manifests) -> None:
    shared = version(manifests, 0, 1)
    for number in range(4):
        manifests.start(number)
        manifests.commit(Manifest(number, 1, shared.areas))
    manifests.start(4)
    assert not manifests.missing(manifests.load(3))


def test_orphans_are_swept_and_nothing_else(manifests: Manifests) -> None:
    manifests.commit(version(manifests, 0, 1))
    orphan = version(manifests, 1, 2).segments()
    half = f"{'0a' * 16}.tmp"
    (Path(manifests.store.root) / half).write_bytes(b"half")
    assert manifests.sweep() == orphan | {half}
    assert manifests.sweep() == set()
    assert not manifests.missing(manifests.load(0))


def test_what_no_step_would_have_made_is_left_alone(manifests: Manifests) -> None:
    manifests.commit(version(manifests, 5, 1))
    proof = "0a" * 16
    strange = {"notes.txt", "0123.tmp", f"other-0-6-{proof}", "join-0-6-0a"}
    released = {f"join-0-4-{proof}"}
    for name in strange | released:
        (Path(manifests.store.root) / name).write_bytes(b"some")
    (Path(manifests.store.root) / f"join-0-6-{'0b' * 16}").symlink_to("notes.txt")
    assert manifests.sweep() == set()
    assert strange | released <= manifests.store.names()


def test_segments_of_a_later_version_are_not_removed(manifests: Manifests) -> None:
    manifests.commit(version(manifests, 0, 1))
    lost = version(manifests, 2, 3)
    with pytest.raises(StateError, match="no version 1") as caught:
        manifests.sweep()
    assert caught.value.code == "missing-version"
    assert not manifests.missing(lost)


def test_an_older_damaged_manifest_stops_nothing_and_loses_nothing(manifests: Manifests) -> None:
    first, second, third = (version(manifests, number, number) for number in range(3))
    for manifest in (first, second, third):
        manifests.commit(manifest)
    (Path(manifests.store.root) / name_of(0)).write_bytes(b"{}")
    manifests.start(3)
    manifests.sweep()
    assert manifests.latest() == third
    assert not manifests.missing(first)
    assert manifests.missing(second) == second.segments()


@pytest.mark.parametrize("place", [0, 20, 120, -3])
def test_a_damaged_manifest_is_found(manifests: Manifests, place: int) -> None:
    manifests.commit(version(manifests, 0, 1))
    path = Path(manifests.store.root) / name_of(0)
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)
    with pytest.raises(StateError, match="manifest-0") as caught:
        manifests.load(0)
    assert caught.value.code == "damaged-manifest"


def test_a_version_that_is_not_there_is_named(manifests: Manifests) -> None:
    with pytest.raises(StateError, match="version 5"):
        manifests.load(5)


def test_what_a_step_did_comes_back_as_it_was(manifests: Manifests) -> None:
    record = StepRecord(
        version=0,
        nows={"means": 5},
        output={"means": (WrittenFile("output/means/0-0-ab.parquet", 3), WrittenFile(None, 2))},
        unused=(WrittenFile("unused/0-0-cd.parquet", 1),),
        positions={"s": 17},
        places={"s": 3},
        came={"s": Came(4, 1, -2)},
        operators={"join": OperatorCounts(1, 2, 3, 4, 5, 6, 0.5, 0.25)},
        sources={"s": SourceCounts(4, 1, {"late": 1})},
        seconds=1.5,
    )
    manifests.commit(Manifest(0, 2, record=record))
    assert manifests.load(0).record == record


def test_a_manifest_of_another_format_is_told_so(manifests: Manifests) -> None:
    text = Manifest(0, 2).to_json()
    with pytest.raises(StateError, match="is of format 1") as caught:
        Manifest.from_json(_of_format(text, 1), "manifest-0")
    assert caught.value.code == "other-format"


def _of_format(text: str, number: int) -> str:
    body = json.loads(json.loads(text)["manifest"])
    changed = json.dumps({**body, "format": number}, sort_keys=True, separators=(",", ":"))
    return json.dumps({"checksum": sha256(changed.encode()).hexdigest(), "manifest": changed})
