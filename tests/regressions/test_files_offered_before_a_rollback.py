"""After a rollback a file that had been offered again counted twice: it and its copy were read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ebbtide import Engine
from ebbtide.engine.retrying import offered_again
from ebbtide.engine.rollback import rollback
from ebbtide.errors import UnsupportedError


def test_the_copy_has_to_be_empty(tmp_path: Path) -> None:
    location, incoming = tmp_path / "location", tmp_path / "in coming"
    engine = Engine(location, transport="local")
    engine.execute("CREATE STREAM s (k BIGINT, at TIMESTAMP, PROGRESS FOR at AS at)")
    engine.query("SELECT k FROM s [UNBOUNDED]", name="q").start(keep_versions=9)
    for number in range(4):
        engine.feed("s", [(number, number)])
        engine.step()
    engine.stop()
    incoming.mkdir()
    (incoming / "a.csv").write_text("k,at\n7,1970-01-01\n")
    root = f"{location}/programs/q"
    copy, _ = offered_again(root, str(incoming / "a.csv"), 2, lambda _: None)
    with pytest.raises(UnsupportedError) as caught:
        rollback(str(location), "q", 1, dry_run=True)
    assert caught.value.code == "offered-since"
    assert rollback(str(location), "q", 2, dry_run=True).step == 4
    assert caught.value.hint is not None
    assert os.system(caught.value.hint.rpartition(": ")[2]) == 0
    assert copy is not None
    assert os.path.getsize(copy) == 0
    assert rollback(str(location), "q", 1).step == 4
