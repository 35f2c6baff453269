"""Paths and disks that fail, as errors of ours."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from ebbtide.errors import SourceError
from ebbtide.spark.errors import disk_full, is_full, translated
from ebbtide.spark.paths import check_path, spark_path

JAVA = "java.io.IOException: No space left on device\n\tat java.base/java.io.FileOutputStream"


def test_a_full_disk_is_known_by_its_words() -> None:
    assert is_full(JAVA)
    assert is_full(str(OSError(errno.ENOSPC, "No space left on device")))
    assert not is_full("java.io.IOException: Permission denied")
    assert disk_full("q", JAVA).detail == "java.io.IOException: No space left on device"


def test_an_error_of_the_system_is_told_only_if_the_disk_is_full() -> None:
    with pytest.raises(SourceError, match="disk-full"), translated("q"):
        raise OSError(errno.ENOSPC, "No space left on device", "/disk/manifest.tmp")
    with pytest.raises(PermissionError), translated("q"):
        raise PermissionError(errno.EACCES, "Permission denied")


@pytest.mark.parametrize("path", ["s3a://bucket/bids", "hdfs:///bids", "data/*/bids", "no/{a,b}"])
def test_a_path_that_only_spark_can_look_at_is_left_to_it(path: str) -> None:
    check_path("bids", path, directory=True)


def test_paths_of_this_machine_are_looked_at(tmp_path: Path) -> None:
    check_path("bids", str(tmp_path), directory=True)
    check_path("bids", tmp_path.as_uri(), directory=True)
    (tmp_path / "names.csv").write_text("id", encoding="utf-8")
    check_path("names", str(tmp_path / "names.csv"), directory=False)
    with pytest.raises(SourceError, match="not-a-directory"):
        check_path("names", (tmp_path / "names.csv").as_uri(), directory=True)
    with pytest.raises(SourceError, match="missing-path"):
        check_path("bids", (tmp_path / "bids").as_uri(), directory=True)


def test_a_pattern_with_a_colon_is_refused_before_spark_starts() -> None:
    with pytest.raises(SourceError, match="colon-in-pattern"):
        check_path("bids", "data/2026-01-01T00:*", directory=True)
    check_path("bids", "s3a://bucket/*/bids", directory=True)


def test_a_directory_that_is_there_is_not_a_pattern(tmp_path: Path) -> None:
    (tmp_path / "{b}[c]").mkdir()
    assert spark_path(f"{tmp_path}/{{b}}[c]") == f"{tmp_path}/\\{{b\\}}\\[c\\]"
    assert spark_path("data/*/{b,c}") == "data/*/{b,c}"
