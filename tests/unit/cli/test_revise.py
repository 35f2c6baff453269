"""``ebbtide revise``: a program that is asked from outside."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from ebbtide import Engine
from ebbtide.cli.app import ebbtide
from ebbtide.core.time import SECOND


def test_a_program_replays_what_waits_once_it_is_asked(tmp_path: Path) -> None:
    engine = Engine(tmp_path, transport="local")
    engine.execute(
        "CREATE STREAM s (x INT, at TIMESTAMP, PROGRESS FOR at AS at)"
        " ARCHIVE 1 MINUTE REVISE ON DEMAND"
    )
    total = engine.query("SELECT SUM(x) AS total FROM s [UNBOUNDED]", name="total")
    total.start()
    for row in ((1, 10 * SECOND), (1, 20 * SECOND), (100, 5 * SECOND)):
        engine.feed("s", [row])
        engine.step()
    assert total.view.snapshot() == [(2,)]
    asked = CliRunner().invoke(ebbtide, ["revise", "total", "--location", str(tmp_path)])
    assert (asked.exit_code, asked.output) == (0, "total replays what waits in its next step\n")
    engine.step()
    assert total.view.snapshot() == [(102,)]
