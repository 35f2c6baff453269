"""Files are offered again once, if they can be read now and nothing of them was counted."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from ebbtide import Engine
from ebbtide.cli.app import ebbtide
from ebbtide.core.admission import FILE
from ebbtide.engine.retrying import name_beside, offered_again, retry
from ebbtide.engine.verification import verify
from ebbtide.errors import EbbtideError
from ebbtide.files import told_of_file
from ebbtide.store.feed_log import FedRow


def readable(place: str) -> str | None:
    return None if Path(place).read_bytes() == b"good" else "it is bad"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    (tmp_path / "root").mkdir()
    place = tmp_path / "in/a.csv"
    place.write_bytes(b"good")
    return place


def offered(place: Path, dry_run: bool = False) -> tuple[str | None, str | None]:
    return offered_again(str(place.parent.parent / "root"), str(place), 3, readable, dry_run)


def names(place: Path) -> list[str]:
    return sorted(path.name for path in place.parent.iterdir())


def test_it_is_offered_once(place: Path) -> None:
    beside = place.with_name("a.again-3.csv")
    assert offered(place, dry_run=True) == (str(beside), None)
    assert names(place) == ["a.csv"]
    assert offered(place) == (str(beside), None)
    assert beside.read_bytes() == b"good"
    assert offered(place) == (None, f"it was offered before, as {beside}")
    beside.unlink()
    assert str(offered(place)[1]).endswith("which is not there any more")
    assert names(place) == ["a.csv"]


def test_what_is_still_bad_or_gone_is_not_offered(place: Path) -> None:
    place.write_bytes(b"bad")
    assert offered(place) == offered(place, dry_run=True) == (None, "it is bad")
    assert names(place) == ["a.csv"]
    place.unlink()
    assert offered(place) == (None, "it is not there any more")


def test_nothing_is_written_over(place: Path) -> None:
    place.with_name("a.again-3.csv").write_bytes(b"of somebody else")
    assert offered(place) == (None, "there is a file a.again-3.csv already")


def test_the_end_of_the_name_says_how_it_is_read() -> None:
    assert name_beside("a.json.gz", 7) == "a.again-7.json.gz"


def test_a_damaged_note_is_told(place: Path) -> None:
    (place.parent.parent / "root/offered.json").write_text('{"files": []}')
    with pytest.raises(EbbtideError, match="damaged-offers"):
        offered(place)


@pytest.mark.parametrize("rows", [0, 1200])
def test_only_files_of_streams_and_only_whole_ones(rows: int, tmp_path: Path) -> None:
    engine = Engine(tmp_path, transport="local")
    engine.execute("CREATE STREAM s (a BIGINT, at TIMESTAMP, PROGRESS FOR at AS at)")
    query = engine.query("SELECT a FROM s [RANGE 1 HOUR]", "q")
    query.start()
    text = f"/in/a.csv: unreadable after {rows:,} rows: why"
    assert told_of_file(text) == ("/in/a.csv", rows, "why")
    log = engine.log_of(engine.definitions.source("s").declaration)
    log.append([FedRow(FILE, (None, None), text), FedRow("insert", (None, None), text)])
    engine.step()
    (one,) = engine.retry("q")
    assert one.offered is None
    assert str(one.why).startswith("1,200 of its rows" if rows else "its source is read once")
    assert sorted(engine.late("s")["reason"].to_pylist()) == ["malformed", "unreadable"]
    command = ["retry", "--location", str(tmp_path)]
    said = CliRunner().invoke(ebbtide, command, standalone_mode=False).output
    assert said.startswith("q: /in/a.csv (step 0): ")
    assert said.endswith("0 files offered again\n")
    with pytest.raises(EbbtideError, match="unknown-source"):
        retry(str(tmp_path), source="t")
    engine.stop()


def test_verify_reads_the_note(tmp_path: Path) -> None:
    engine = Engine(tmp_path, transport="local")
    engine.execute("CREATE STREAM s (a BIGINT, at TIMESTAMP, PROGRESS FOR at AS at)")
    engine.query("SELECT a FROM s [RANGE 1 HOUR]", "q").start()
    engine.step()
    engine.stop()
    (tmp_path / "programs/q/offered.json").write_text("{}")
    codes = [error.code for part in verify(str(tmp_path)) for error in part.wrong]
    assert codes == ["damaged-offers"]
