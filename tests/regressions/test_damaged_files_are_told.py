"""Damage to a file was read as another answer, as gigabytes of memory, or as a raw exception.

The checksum stands in the name of an output file, and was not compared; entries of the journal, the
feed log and small files beside them had none.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.faults.byte_fuzz import Session, feed, made

from ebbtide.engine.location import Location
from ebbtide.errors import EbbtideError, QueryError, StateError
from ebbtide.state.batch import DIFF
from ebbtide.state.store import forget_all
from ebbtide.store.archive import Archive
from ebbtide.store.journal import Journal
from ebbtide.store.manifest import Manifest, Manifests
from ebbtide.store.record import StepRecord, WrittenFile


@pytest.fixture
def location(tmp_path: Path) -> Path:
    made(str(tmp_path))
    forget_all()
    return tmp_path


def going_on(location: Path) -> None:
    session = Session(str(location))
    try:
        session.start()
        session.engine.step()
    finally:
        session.engine.stop()


def reading(location: Path) -> None:
    for query in Location(str(location)).queries():
        query.view.snapshot()
        list(query.view.changes())


def refused(call: Callable[[Path], None], location: Path) -> EbbtideError:
    with pytest.raises(EbbtideError) as caught:
        call(location)
    assert caught.value.hint
    return caught.value


def first(location: Path, pattern: str) -> Path:
    return min(location.glob(pattern))


@pytest.mark.parametrize("place", range(4, 1000, 83))
def test_a_flipped_bit_of_the_output(location: Path, place: int) -> None:
    path = first(location, "programs/shop/output/sums/*")
    content = bytearray(path.read_bytes())
    content[place % len(content)] ^= 16
    path.write_bytes(content)
    error = refused(reading, location)
    assert error.code == "damaged-output"
    assert path.name in error.message


def test_a_count_of_rows_that_no_list_can_hold(tmp_path: Path) -> None:
    made(str(tmp_path))
    (query, *_) = Location(str(tmp_path)).queries()
    file = query.view.parts()[0].file
    table = pq.ParquetFile(Archive(query.root).path(file)).read()
    place = table.column_names.index(DIFF)
    huge = table.set_column(place, table.schema.field(DIFF), pa.array([1 << 40] * table.num_rows))
    named = Archive(query.root).write("output/seen", 0, 0, huge)
    root = str(tmp_path / "other")
    record = StepRecord(0, {"seen": 0}, {"seen": (WrittenFile(named, 1),)})
    Manifests(_store(root)).commit(Manifest(0, 1, record=record))
    (Path(root) / "output/seen").mkdir(parents=True)
    (Path(root) / named).write_bytes((Path(query.root) / named).read_bytes())
    view = type(query.view)(root, "seen", query.view.schema)
    with pytest.raises(QueryError) as caught:
        view.snapshot(at=table.column("valid_from")[0].as_py())
    assert caught.value.code == "too-many-rows"


def _store(root: str):  # type: ignore[no-untyped-def]
    from ebbtide.state.store import DirectoryStore

    return DirectoryStore(f"{root}/state")


@pytest.mark.parametrize(
    ("file", "code"),
    [
        ("programs/shop/program.json", "damaged-program"),
        ("programs/shop/journal/000000000001.json", "damaged-journal"),
        ("programs/shop/state/manifest-000000000003.json", "damaged-manifest"),
        ("programs/shop/delivered/sums", "damaged-delivery"),
        ("feed/orders.jsonl", "damaged-feed"),
        ("feed/orders.end", "damaged-feed"),
    ],
)
@pytest.mark.parametrize("how", ["cut", "emptied", "not text", "other JSON"])
def test_a_damaged_file_is_named_when_the_program_goes_on(
    location: Path, file: str, code: str, how: str
) -> None:
    path = location / file
    content = path.read_bytes()
    changed = {
        "cut": content[: len(content) // 2],
        "emptied": b"",
        "not text": content[:-2] + b"\xff\n",
        "other JSON": b'{"checksum": "0", "format": 3, "version": 3}\n',
    }[how]
    path.write_bytes(changed)
    error = refused(going_on, location)
    assert error.code == code
    assert path.name.partition(".")[0] in f"{error.message} {error.detail}"


@pytest.mark.parametrize(
    "file", ["lock", "delivered/sums", "program.json", "program.sql", "journal/000000000001.json"]
)
def test_a_directory_in_the_place_of_a_file(location: Path, file: str) -> None:
    path = location / "programs/shop" / file
    path.unlink()
    path.mkdir()
    assert isinstance(refused(going_on, location), StateError)


@pytest.mark.parametrize("directory", ["journal", "state", "output", "delivered"])
def test_a_file_in_the_place_of_a_directory(location: Path, directory: str) -> None:
    path = location / "programs/shop" / directory
    path.rename(location / "elsewhere")
    path.write_bytes(b"")
    assert isinstance(refused(going_on, location), StateError)


def test_an_older_damaged_manifest_is_not_needed(location: Path) -> None:
    (location / "programs/shop/state/manifest-000000000002.json").write_bytes(b"{")
    going_on(location)
    reading(location)


def test_entries_that_changed_places(location: Path) -> None:
    journal = location / "programs/shop/journal"
    one, two = (journal / f"00000000000{i}.json" for i in (1, 2))
    kept = one.read_bytes()
    one.write_bytes(two.read_bytes())
    two.write_bytes(kept)
    assert refused(reading, location).code == "damaged-journal"


def test_an_entry_of_another_history(location: Path, tmp_path_factory: pytest.TempPathFactory):
    """A whole entry, by its own checksum, that stood at this place in another program."""
    other = tmp_path_factory.mktemp("other")
    session = Session(str(other))
    session.start()
    for number in (0, 2, 1, 3):
        session.step(number)
    session.engine.stop()
    entry = "programs/shop/journal/000000000001.json"
    (location / entry).write_bytes((other / entry).read_bytes())
    assert refused(reading, location).code == "damaged-journal"


def test_a_lost_manifest_does_not_set_the_state_back(location: Path) -> None:
    (location / "programs/shop/state/manifest-000000000003.json").unlink()
    for call in (reading, going_on):
        assert refused(call, location).code == "missing-version"


def test_a_state_that_is_older_than_what_the_sinks_have(location: Path) -> None:
    for file in ("state/manifest-000000000003.json", "journal/000000000003.json"):
        (location / "programs/shop" / file).unlink()
    for path in (location / "programs/shop").glob("*/*/0-3-*"):
        path.unlink()
    for path in (location / "programs/shop/state").glob("*-0-3-*"):
        path.unlink()
    assert refused(going_on, location).code == "delivery-ahead"


def test_a_lost_description_of_the_program(location: Path) -> None:
    (location / "programs/shop/program.json").unlink()
    assert refused(going_on, location).code == "damaged-program"


def test_a_program_of_an_older_format_is_not_called_damaged(location: Path) -> None:
    path = location / "programs/shop/program.json"
    path.write_text('{"format": 2, "views": {}, "sources": {}, "shards": 1}', encoding="utf-8")
    for call in (going_on, reading):
        assert refused(call, location).code == "other-format"


def test_a_lost_note_of_the_delivery_gives_the_last_step_again(location: Path) -> None:
    (location / "programs/shop/delivered/sums").unlink()
    session = Session(str(location))
    session.start()
    session.engine.stop()
    assert list(session.memory.steps) == [3]


def test_a_lost_script_is_written_anew(location: Path) -> None:
    (location / "programs/shop/program.sql").unlink()
    assert refused(reading, location).code == "damaged-script"
    going_on(location)
    reading(location)


@pytest.mark.parametrize("kept", ["nothing", "what was taken", "half"])
def test_a_feed_log_that_lost_rows(location: Path, kept: str) -> None:
    log = location / "feed/orders.jsonl"
    content = log.read_bytes()
    latest = Journal(str(location / "programs/shop")).latest()
    assert latest is not None
    taken = latest.record.positions["orders"]
    assert 0 < taken < len(content)
    if kept == "nothing":
        log.unlink()
    else:
        log.write_bytes(content[: taken if kept == "what was taken" else taken // 2])
    assert refused(going_on, location).code == "damaged-feed"
    with pytest.raises(StateError) as caught:
        feed(Session(str(location)).engine, 9)
    assert caught.value.code == "damaged-feed"


def test_a_row_that_was_changed_before_a_step_took_it(location: Path) -> None:
    log = location / "feed/orders.jsonl"
    head, digit, tail = log.read_bytes().rpartition(b"25")
    log.write_bytes(head + b"75" + tail)
    assert digit
    assert refused(going_on, location).code == "damaged-feed"


def test_the_end_of_a_feed_log_is_written_anew(location: Path) -> None:
    (location / "feed/orders.end").unlink()
    going_on(location)
    feed(Session(str(location)).engine, 9)
    going_on(location)
    assert (location / "feed/orders.end").exists()
