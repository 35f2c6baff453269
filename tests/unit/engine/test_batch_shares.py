"""The files of a batch are shared out among tasks, each once and evenly."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.spark import batch_shares
from ebbtide.spark.batch_shares import BatchShares, NamedFile


def shares_of(directory: Path, sizes: list[int], cores: int) -> BatchShares:
    files = []
    for number, size in enumerate(sizes):
        place = directory / f"{number:03}"
        place.write_bytes(b"x" * size)
        files.append(NamedFile(number % 2, str(place), "csv"))
    return BatchShares.of(files, cores, (None, 41))


@given(sizes=st.lists(st.integers(0, 50), max_size=12), cores=st.integers(1, 5))
def test_every_file_is_in_one_share_and_none_is_larger_than_it_must_be(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], cores: int
) -> None:
    directory = tmp_path_factory.mktemp("files")
    found = shares_of(directory, sizes, cores)
    assert sorted(file.place for file in found.files) == sorted(map(str, directory.iterdir()))
    assert len(found.shares) == max(1, min(cores, len(sizes)))
    total = [sum(Path(f.place).stat().st_size for f in share) for share in found.shares]
    assert max(total) <= sum(sizes) / len(found.shares) + max(sizes, default=0)
    assert found == shares_of(directory, sizes, cores)


def test_four_files_of_one_size_are_two_for_each_of_two_cores(tmp_path: Path) -> None:
    assert [len(share) for share in shares_of(tmp_path, [9, 9, 9, 9], 2).shares] == [2, 2]


def test_a_large_batch_has_more_tasks_than_cores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_shares, "_LARGEST", 10)
    assert len(shares_of(tmp_path, [10] * 6, 2).shares) == 6


def test_places_follow_those_before_and_those_of_other_tasks(tmp_path: Path) -> None:
    found = shares_of(tmp_path, [1, 1], 2)
    assert [found.first_place(0, task) for task in (0, 1)] == [None, None]
    assert [found.first_place(1, task) for task in (0, 1)] == [42, 42 + (1 << 33)]
