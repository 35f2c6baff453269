"""The metro station by the command: every rule on files, against its meaning in Python.

Only the alarm is left out: it goes by the clock of the machine, and there every report is late.
"""

from __future__ import annotations

from pathlib import Path

from tests.metro.meaning import MEANINGS
from tests.metro.test_metro import EVERY, LENGTH, counted
from tests.spark.test_command import run

from ebbtide.engine.location import Location
from ebbtide.metro import story
from ebbtide.metro.day import day

RULES = [name for name in MEANINGS if name != "alarms"]


def test_the_command_says_what_the_rules_mean(tmp_path: Path) -> None:
    told = day(3, EVERY, LENGTH)
    story.write_files(told, tmp_path / "station")
    asked = [word for name in RULES for word in ("--view", name)]
    done = run(tmp_path, "run", "station/metro.sql", *asked, "--until-caught-up")
    assert done.code == 0, done.err
    location = Location(str(tmp_path / "ebbtide"))
    for name in RULES:
        found = counted(location.query(name).view.snapshot())
        assert found == counted(MEANINGS[name](told, [])), name
