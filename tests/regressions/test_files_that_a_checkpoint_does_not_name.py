"""A batch whose files only the checkpoint knows is refused if that does not name them all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ebbtide.errors import StateError
from ebbtide.spark.batch_files import named_files

OFFSETS = 'v2\n{"batchWatermarkMs":0}\ns:{"logOffset":LAST}\n'


def batch_of_two(root: Path) -> Path:
    """A program whose batch 1 has two entries of a log, each with a file; where the log is."""
    log = root / "checkpoint/sources/s"
    log.mkdir(parents=True)
    (root / "checkpoint/offsets").mkdir()
    for batch, last in ((0, 0), (1, 2)):
        text = OFFSETS.replace("LAST", str(last))
        (root / f"checkpoint/offsets/{batch}").write_text(text, encoding="utf-8")
    for entry in range(3):
        file = root / f"file{entry}"
        file.write_text("x", encoding="utf-8")
        logged = {"path": f"file://{file}", "timestamp": 1, "batchId": entry}
        (log / str(entry)).write_text(f"v1\n{json.dumps(logged)}\n", encoding="utf-8")
    return log


def test_all_entries_of_a_batch_are_read(tmp_path: Path) -> None:
    batch_of_two(tmp_path)
    found = named_files(str(tmp_path), 1, {"s": 0}, {0: "how"})
    assert [file.place for file in found] == [f"{tmp_path}/file1", f"{tmp_path}/file2"]


def test_an_entry_that_is_empty_or_gone_is_missed(tmp_path: Path) -> None:
    log = batch_of_two(tmp_path)
    (log / "2").write_text("", encoding="utf-8")
    with pytest.raises(StateError, match="checkpoint-behind"):
        named_files(str(tmp_path), 1, {"s": 0}, {0: "how"})
    (log / "2").unlink()
    with pytest.raises(StateError, match="checkpoint-behind"):
        named_files(str(tmp_path), 1, {"s": 0}, {0: "how"})


@pytest.mark.parametrize("text", ["", OFFSETS.replace("LAST", "-1")])
def test_offsets_that_say_nothing_are_missed(tmp_path: Path, text: str) -> None:
    batch_of_two(tmp_path)
    (tmp_path / "checkpoint/offsets/1").write_text(text, encoding="utf-8")
    with pytest.raises(StateError, match="checkpoint-behind"):
        named_files(str(tmp_path), 1, {"s": 0}, {0: "how"})
