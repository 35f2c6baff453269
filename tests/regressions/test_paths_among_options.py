"""Paths among OPTIONS were not limited, and secrets in the parameters of a URL were stored."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ebbtide import Engine
from ebbtide.engine.allowed_paths import PATH_OPTIONS
from ebbtide.errors import QueryError, SourceError
from ebbtide.spark.sources import formats, source_of

NO_PATHS = {"pathglobfilter"}
"""Options that have such a name and are no paths."""


def declared(path: str, more: str = "", format_: str = "csv") -> str:
    quoted = path.replace("'", "''")
    return f"CREATE STREAM s (a INT) FROM FILES '{quoted}' FORMAT {format_} {more}"


@pytest.mark.parametrize(
    ("option", "format_"),
    [("sourceArchiveDir", "csv"), ("SOURCEARCHIVEDIR", "json"), ("rowValidationXSDPath", "xml")],
)
def test_they_are_limited_like_others(
    tmp_path: Path, option: str, format_: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    engine = Engine("here", transport="local", paths=["data"])
    with pytest.raises(SourceError) as caught:
        engine.execute(
            declared("data", f"OPTIONS (rowTag 'r', {option} '/anywhere')", format_)
            if format_ == "xml"
            else declared("data", f"OPTIONS (cleanSource 'archive', {option} '/anywhere')", format_)
        )
    assert caught.value.code == "forbidden-path"
    assert "/anywhere" in str(caught.value)
    engine.execute(declared("data", "OPTIONS (cleanSource 'archive', sourceArchiveDir 'data/old')"))


def test_no_option_that_is_a_path_is_forgotten() -> None:
    options = {option.casefold() for word in formats() for option in source_of(word).options}
    like_paths = {o for o in options if re.search(r"path|dir$|url|uri|location|file$", o)}
    assert like_paths - NO_PATHS == PATH_OPTIONS


@pytest.mark.parametrize(
    "path",
    [
        "https://h/x?token=hush77",
        "https://h/x?a=b&X-Amz-Signature=hush77&c=d",
        "https://h/x?X%2DAmz%2DSecurity%2DToken=hush77",
        "abfss://c@h.net/x?sv=2020&sig=hush77",
        "s3a://b/x?secret=hush77",
        "s3a://b/x?accessKey=hush'77",
        "https://h/x#access_token=hush77",
    ],
)
def test_secrets_in_parameters_are_refused_and_not_shown(tmp_path: Path, path: str) -> None:
    engine = Engine(tmp_path, transport="local")
    with pytest.raises(QueryError) as refused:
        engine.execute(declared(path))
    assert refused.value.code == "secret-in-path"
    assert "hush" not in str(refused.value)
    with pytest.raises(QueryError) as refused:
        engine.execute(declared("data", f"OPTIONS (basePath '{path.replace(chr(39), '')}')"))
    assert refused.value.code == "secret-in-path"
    assert "hush" not in str(refused.value)


@pytest.mark.parametrize(
    "path",
    ["in/x?token=a", "in/202?/key=1", "s3a://b/202?/key=1/in", "https://h/x?page=2", "in/a?b#c"],
)
def test_patterns_stay(tmp_path: Path, path: str) -> None:
    Engine(tmp_path, transport="local").execute(declared(path))


@pytest.mark.parametrize("path", ["in\0x", ""])
@pytest.mark.parametrize("limited", [False, True])
def test_what_no_file_can_be_called(tmp_path: Path, path: str, limited: bool) -> None:
    engine = Engine(tmp_path, transport="local", paths=[tmp_path] if limited else None)
    with pytest.raises(QueryError) as refused:
        engine.execute(declared(path))
    assert refused.value.code == "not-a-path"
    assert refused.value.hint == "FROM FILES 'data/in'"
