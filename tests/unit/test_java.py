"""The Java that Spark would use is known without running it, where it says which it is."""

import os
from pathlib import Path

import pytest

from ebbtide.errors import UnsupportedError
from ebbtide.spark.java import check_java, find_java


def java(home: Path, says: str, release: str | None) -> None:
    """A Java that says a version when it is run, and has another in its file."""
    program = home / "bin" / "java"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{says}\"'\n", encoding="utf-8")
    program.chmod(0o755)
    if release is not None:
        (home / "release").write_text(release, encoding="utf-8")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    return tmp_path


def test_the_file_beside_it_is_asked_first(home: Path) -> None:
    java(home, "21.0.1", 'IMPLEMENTOR="Debian"\nJAVA_VERSION="17.0.15"\n')
    assert (check_java().version, check_java().major) == ("17.0.15", 17)
    assert find_java().version == "21.0.1"


@pytest.mark.parametrize("release", [None, "", 'IMPLEMENTOR="Debian"\n'])
def test_without_it_java_is_run(home: Path, release: str | None) -> None:
    java(home, "21.0.1", release)
    assert check_java().major == 21


@pytest.mark.parametrize("version", ["11.0.2", "1.8.0_402"])
def test_an_old_one_is_refused_either_way(home: Path, version: str) -> None:
    java(home, version, f'JAVA_VERSION="{version}"\n')
    for ask in (check_java, find_java):
        with pytest.raises(UnsupportedError, match="old-java"):
            ask()
    os.unlink(home / "release")
    with pytest.raises(UnsupportedError, match="old-java"):
        check_java()
