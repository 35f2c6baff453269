"""What SQL may read and sinks may write, if that is limited; no JVM."""

from __future__ import annotations

from pathlib import Path

import pytest

from ebbtide import Engine
from ebbtide.engine.allowed_paths import AllowedPaths
from ebbtide.errors import QueryError, SourceError
from ebbtide.sinks.files import Files
from ebbtide.sinks.sqlite import Sqlite


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two directories, one of them allowed, and links from it."""
    monkeypatch.chdir(tmp_path)
    for name in ("data/in", "data/deep", "data-too", "secret/in"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "secret/key.json").write_text("{}")
    (tmp_path / "data/in/a.json").write_text("{}")
    return tmp_path / "data"


ALLOWED = [
    "data",
    "data/",
    "data/in",
    "./data/in",
    "data/in/a.json",
    "data/../data/in",
    "data/later",
    "{here}/data/in",
    "file:{here}/data/in",
    "file://{here}/data/in",
    "data/*",
    "data/i?/*.json",
    "data/[ia]n",
    "s3://bucket/in/a",
    "s3://bucket/in",
]
FORBIDDEN = [
    "secret",
    "secret/key.json",
    "data-too",
    ".",
    "/",
    "/etc/passwd",
    "data/..",
    "data/../secret",
    "data/in/../../secret/key.json",
    "file:{here}/secret",
    "file://{here}/secret",
    "file:///etc/passwd",
    "file:{here}/data/in?/../../secret",
    "file://{here}/data#/../../secret",
    "*",
    "data/*/../../secret",
    "data/{{in,../secret}}",
    "{{data,/etc}}/x",
    "{{,/}}etc/passwd",
    "data/\\.\\./secret",
    "da*/in",
    "s3://bucket/other",
    "s3://bucket/in/../other",
    "s3://bucket/in*",
    "s3://bucket/inner",
    "hdfs://data/in",
    "jar:file:data/in",
]


@pytest.mark.parametrize("path", ALLOWED)
def test_what_is_below_is_allowed(data: Path, path: str) -> None:
    AllowedPaths.of(["data", "s3://bucket/in/"]).check(path.format(here=data.parent), "s")


@pytest.mark.parametrize("path", FORBIDDEN)
def test_what_is_not_below_is_refused(data: Path, path: str) -> None:
    with pytest.raises(SourceError) as caught:
        AllowedPaths.of(["data", "s3://bucket/in/"]).check(path.format(here=data.parent), "s")
    assert caught.value.code == "forbidden-path"


def test_links_are_followed(data: Path) -> None:
    allowed = AllowedPaths.of([data])
    (data / "deep/out").symlink_to(data.parent / "secret")
    (data / "inside").symlink_to(data / "in")
    allowed.check("data/inside", "s")
    for path in ("data/deep/out", "data/deep/out/key.json", "data/deep", "data", "data/*/out"):
        with pytest.raises(SourceError):
            allowed.check(path, "s")
    (data / "in/by-way").symlink_to(data / "deep")
    with pytest.raises(SourceError):
        allowed.check("data/in", "s")


def test_an_allowed_directory_may_lie_behind_a_link(data: Path) -> None:
    (data.parent / "link").symlink_to(data)
    AllowedPaths.of(["link"]).check("data/in", "s")
    AllowedPaths.of(["data"]).check("link/in", "s")


def test_each_list_has_to_allow_a_path(data: Path) -> None:
    both = AllowedPaths.of(["data"], ["data/in", "secret"])
    both.check("data/in", "s")
    for path in ("data/deep", "secret"):
        with pytest.raises(SourceError):
            both.check(path, "s")
    AllowedPaths.of(None, None).check("/etc", "s")
    with pytest.raises(SourceError):
        AllowedPaths.of([]).check("data", "s")


def declare(engine: Engine, path: str) -> None:
    engine.execute(f"CREATE STREAM s (line STRING) FROM FILES '{path}' FORMAT json")


def test_a_declaration_outside_is_underlined(data: Path) -> None:
    engine = Engine("here", transport="local", paths=["data"])
    declare(engine, "data/in")
    with pytest.raises(SourceError) as caught:
        engine.execute("CREATE TABLE t (a INT) FROM FILES 'secret' FORMAT json")
    assert caught.value.code == "forbidden-path"
    assert caught.value.span is not None
    assert "secret" in caught.value.span.text
    assert "t" not in engine.catalog


def test_the_environment_limits_all_engines(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EBBTIDE_ALLOWED_PATHS", f"{data}:/nowhere")
    for engine in (Engine("here"), Engine("here", paths=["data", "secret"])):
        declare(engine, "data/in")
        with pytest.raises(SourceError):
            engine.execute("CREATE TABLE t (a INT) FROM FILES 'secret' FORMAT json")


@pytest.mark.parametrize("kind", [Files, Sqlite])
def test_sinks_write_where_they_may(data: Path, kind: type) -> None:
    engine = Engine("here", transport="local", paths=["data"])
    engine.execute("CREATE STREAM s (k BIGINT, at TIMESTAMP, PROGRESS FOR at AS at)")
    query = engine.query("SELECT k FROM s [NOW]", name="q")
    with pytest.raises(SourceError) as caught:
        query.start(sink=kind("secret/out"))
    assert caught.value.code == "forbidden-path"
    assert not Path("here").exists()
    query.start(sink=[kind("data/out")])
    engine.feed("s", [(1, "2026-01-01 00:00:00")])
    engine.step()
    engine.stop()
    assert (data / "out").exists()


def test_a_link_that_came_after_the_declaration(data: Path) -> None:
    engine = Engine("here", transport="local", paths=["data"])
    engine.execute(
        "CREATE STREAM s (k BIGINT, at TIMESTAMP, PROGRESS FOR at AS at)"
        " FROM FILES 'data/in' FORMAT json"
    )
    query = engine.query("SELECT k, at FROM s [NOW]", name="q")
    (data / "in/key.json").symlink_to(data.parent / "secret/key.json")
    with pytest.raises(SourceError) as caught:
        query.start()
    assert caught.value.code == "forbidden-path"


def test_a_password_in_a_path_is_refused_and_not_shown(tmp_path: Path) -> None:
    engine = Engine(tmp_path, transport="local")
    with pytest.raises(QueryError) as refused:
        engine.execute("CREATE STREAM s (a INT) FROM FILES 's3a://me:hush@b/in' FORMAT csv")
    assert refused.value.code == "secret-in-path"
    assert "hush" not in str(refused.value)
    assert not any(b"hush" in each.read_bytes() for each in tmp_path.rglob("*") if each.is_file())
