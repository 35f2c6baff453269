"""What a checkpoint knows of its sources: names, or an order that stays."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.errors import StateError
from ebbtide.spark.checkpoint import HEARTBEAT_NAME, CheckpointSources, Names, agreed, source_name
from ebbtide.store.files import sealed

FILES: dict[str, Names] = {"l": ("l",), "r": ("r",)}
MIXED: dict[str, Names] = {"l": ("l",), "events": (None,)}


def begun(root: Path) -> str:
    (root / "checkpoint/offsets").mkdir(parents=True)
    return str(root)


def refused(root: Path, wanted: dict[str, Names]) -> StateError:
    with pytest.raises(StateError) as caught:
        agreed(str(root), "q", wanted)
    return caught.value


@given(st.text(min_size=1), st.text(min_size=1))
def test_names_are_plain_and_tell_sources_apart(one: str, other: str) -> None:
    name = source_name(one)
    assert name.isascii()
    assert name.replace("_", "a").isalnum()
    assert (name == source_name(other)) == (one.casefold() == other.casefold())
    assert HEARTBEAT_NAME not in (name, source_name(HEARTBEAT_NAME))


@given(st.lists(st.text("_x20 5f", min_size=1, max_size=6), unique=True))
def test_names_that_look_like_escapes_are_told_apart(names: list[str]) -> None:
    assert len({source_name(name) for name in names}) == len(names)


def test_named_sources_change_places_and_come_and_go(tmp_path: Path) -> None:
    assert agreed(str(tmp_path), "q", FILES) == CheckpointSources(True, FILES)
    root = begun(tmp_path)
    swapped = dict(reversed(FILES.items()))
    assert list(agreed(root, "q", swapped).sources) == ["r", "l"]
    more = {"new": ("n",), **FILES}
    assert agreed(root, "q", more) == CheckpointSources(True, more)
    assert agreed(root, "q", {"new": ("n",)}).named


def test_a_source_without_a_name_freezes_the_set(tmp_path: Path) -> None:
    assert not agreed(str(tmp_path), "q", MIXED).named
    begun(tmp_path)
    swapped = dict(reversed(MIXED.items()))
    assert list(agreed(str(tmp_path), "q", swapped).sources) == ["l", "events"]
    # A name that comes later cannot be used any more, and does no harm.
    assert agreed(str(tmp_path), "q", {"l": ("l",), "events": ("e",)}) == CheckpointSources(
        False, {"l": ("l",), "events": ("e",)}
    )


@pytest.mark.parametrize(
    "wanted",
    [{**MIXED, "r": ("r",)}, {"l": ("l",)}, {"l": ("l",), "events": (None, None)}],
)
def test_a_frozen_set_gets_and_loses_no_source(tmp_path: Path, wanted: dict[str, Names]) -> None:
    agreed(str(tmp_path), "q", MIXED)
    begun(tmp_path)
    error = refused(tmp_path, wanted)
    assert error.code == "sources-frozen"
    assert error.message == 'no source can be added to "q", and none removed'
    assert "events without a name" in (error.detail or "")
    assert "the order of l, events" in (error.detail or "")


@pytest.mark.parametrize("now", [("f",), (None,), ("l",)])
def test_a_name_stays(tmp_path: Path, now: Names) -> None:
    agreed(str(tmp_path), "q", {"l": ("l",), "events": ("e",)})
    begun(tmp_path)
    error = refused(tmp_path, {"l": ("l",), "events": now})
    assert error.code == "source-renamed"
    assert error.hint == 'spark.readStream.name("e")'


def test_one_name_for_two_freezes_or_is_refused(tmp_path: Path) -> None:
    both: dict[str, Names] = {"a": ("e",), "b": ("e",)}
    assert not agreed(str(tmp_path), "q", both).named
    begun(tmp_path / "named")
    text = sealed({"named": True, "sources": {"a": ["e"]}})
    (tmp_path / "named/sources.json").write_text(text)
    assert refused(tmp_path / "named", both).code == "source-renamed"


def test_before_the_first_step_nothing_is_settled(tmp_path: Path) -> None:
    assert not agreed(str(tmp_path), "q", MIXED).named
    assert agreed(str(tmp_path), "q", FILES).named


def test_a_checkpoint_older_than_names_goes_by_order(tmp_path: Path) -> None:
    assert agreed(begun(tmp_path), "q", FILES) == CheckpointSources(False, FILES)
    assert refused(tmp_path, {**FILES, "more": ("m",)}).code == "sources-frozen"


def test_a_damaged_record_is_told(tmp_path: Path) -> None:
    begun(tmp_path)
    for text in (sealed({"named": True, "sources": ["l"]}), '{"named": true, "sources": {}}', "["):
        (tmp_path / "sources.json").write_text(text, encoding="utf-8")
        assert refused(tmp_path, FILES).code == "damaged-program"
