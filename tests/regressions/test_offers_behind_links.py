"""A file that was offered again was written through a link that somebody had put in its place.

Whoever may write to the directory of a source could have any file of the program's user written
over; and a file that others must not read could be read by all while it was copied.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from ebbtide.engine.retrying import offered_again


def test_nothing_is_written_behind_a_link(tmp_path: Path) -> None:
    program, incoming, secret = tmp_path / "program", tmp_path / "incoming", tmp_path / "secret"
    program.mkdir()
    incoming.mkdir()
    secret.write_text("mine")
    (incoming / "a.csv").write_text("v\n1\n")
    (incoming / ".a.again-3.csv").symlink_to(secret)
    offered, why = offered_again(str(program), str(incoming / "a.csv"), 3, lambda _: None)
    assert (offered, why) == (str(incoming / "a.again-3.csv"), None)
    assert secret.read_text() == "mine"
    assert not (incoming / "a.again-3.csv").is_symlink()
    assert (incoming / "a.again-3.csv").read_text() == "v\n1\n"


def test_nobody_else_reads_what_is_being_copied(tmp_path: Path) -> None:
    place = tmp_path / "a.csv"
    place.write_text("v\n1\n")
    place.chmod(0o640)
    modes = []

    def check(hidden: str) -> None:
        modes.append(stat.S_IMODE(os.stat(hidden).st_mode))

    before = os.umask(0)
    try:
        offered, _ = offered_again(str(tmp_path), str(place), 0, check)
    finally:
        os.umask(before)
    assert modes == [0o640]
    assert offered is not None
    assert stat.S_IMODE(os.stat(offered).st_mode) == 0o640
