"""Spark's classes are stored for the next start, and taken only if they are whole and ours."""

import os
from pathlib import Path

import pytest

from ebbtide.cli import preparation
from ebbtide.errors import UnsupportedError
from ebbtide.spark import class_archive
from ebbtide.spark.class_archive import archive_file, is_archive, reading, writing

WHOLE = (0xF00BABA8).to_bytes(4, "little") + b"classes"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of our own, a Java and jars."""
    program, jars = tmp_path / "java", tmp_path / "jars"
    program.touch()
    jars.mkdir()
    monkeypatch.setenv("EBBTIDE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(class_archive, "find_program", lambda: str(program))
    monkeypatch.setattr(class_archive, "jars_directory", lambda: str(jars))
    return tmp_path / "cache"


def known() -> str:
    file = archive_file()
    assert file is not None
    return file


def test_what_is_not_there_or_cut_off_is_not_read(cache: Path) -> None:
    assert reading(known()) == ""
    Path(known()).write_bytes(bytes(4) + b"classes")  # the first bytes are written last
    assert reading(known()) == ""
    Path(known()).write_bytes(WHOLE)
    assert reading(known()).startswith(f"-XX:SharedArchiveFile={cache}/spark-")
    assert writing(known()).startswith(f"-XX:ArchiveClassesAtExit={cache}/spark-")


def test_another_java_or_other_jars_have_another_archive(cache: Path) -> None:
    before = known()
    os.utime(cache.parent / "jars", (1, 1))
    assert known() != before


def test_a_directory_that_others_can_write_is_not_used(cache: Path) -> None:
    known()
    cache.chmod(0o777)
    assert archive_file() is None


def test_nothing_is_stored_if_that_is_off(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EBBTIDE_CACHE", "off")
    assert archive_file() is None
    assert reading(None) == ""
    with pytest.raises(UnsupportedError, match="no-cache"):
        preparation.prepared()


@pytest.mark.parametrize("written", [WHOLE, b"", None])
def test_only_a_whole_archive_takes_its_place(
    cache: Path, monkeypatch: pytest.MonkeyPatch, written: bytes | None
) -> None:
    def run(directory: str, archive: str) -> None:
        if written is not None:
            Path(archive).write_bytes(written)

    monkeypatch.setattr(preparation, "_run", run)
    if written == WHOLE:
        assert preparation.prepared() == known()
        assert is_archive(known())
    else:
        with pytest.raises(UnsupportedError, match="classes-not-stored"):
            preparation.prepared()
    assert os.listdir(cache) == ([os.path.basename(known())] if written == WHOLE else [])
