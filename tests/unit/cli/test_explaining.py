"""``ebbtide explain``: as text, JSON and a drawing; and what may not run is explained too."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from commands import Command
from ebbtide import Engine


def test_a_script_is_explained(script: Path, command: Command) -> None:
    answer = command("explain", "highway.sql")
    assert answer.code == 0
    assert answer.out.startswith("finality by progress of traffic.at")
    assert "Aggregate AVG(traffic.speed) by section" in answer.out


def test_a_query_on_what_a_script_declares(script: Path, command: Command) -> None:
    query = "SELECT COUNT(*) AS n FROM traffic [RANGE 1 HOUR]"
    engine = Engine()
    engine.execute(script.read_text(encoding="utf-8"))
    answer = command("explain", "highway.sql", "-q", query)
    assert answer.out.rstrip("\n") == engine.query(query).explain()


def test_json_is_by_query(script: Path, command: Command) -> None:
    with script.open("a", encoding="utf-8") as file:
        file.write("SELECT speed FROM traffic [NOW]; SELECT section FROM traffic [NOW];")
    found = json.loads(command("explain", "highway.sql", "--json").out)
    assert list(found) == ["query0", "query1", "means"]
    assert found["query1"]["verdict"]["state"]["size"] == "none"
    text = command("explain", "highway.sql").out
    assert [line for line in text.splitlines() if line.startswith("-- ")] == [
        "-- query0",
        "-- query1",
        "-- means",
    ]
    one = command("explain", "highway.sql", "--view", "means", "--json")
    assert list(json.loads(one.out)) == ["means"]


def test_a_plan_is_drawn(script: Path, command: Command) -> None:
    assert command("explain", "highway.sql", "--svg").out.startswith("<svg")
    assert command("explain", "highway.sql", "--svg", "-o", "plan.svg").out == ""
    assert Path("plan.svg").read_text(encoding="utf-8").startswith("<svg")


def test_a_query_that_may_not_run_is_explained(script: Path, command: Command) -> None:
    pairs = "SELECT a.speed FROM traffic a JOIN traffic b ON a.speed = b.speed"
    answer = command("explain", "highway.sql", "-q", pairs)
    assert answer.code == 0
    assert "state    unbounded" in answer.out


QUICK = """
import sys
from ebbtide.cli.app import ebbtide
from ebbtide.cli.error_display import told
for words in ("--version", "--help", "run --help", "explain highway.sql"):
    assert told(ebbtide, words.split()) == 0, words
heavy = ("numba", "numpy", "pandas", "pyarrow", "pyspark")
print(*[name for name in heavy if name in sys.modules], file=sys.stderr)
"""


def test_what_needs_no_data_loads_nothing_heavy(script: Path) -> None:
    answer = subprocess.run(
        [sys.executable, "-c", QUICK], capture_output=True, text=True, check=True
    )
    assert answer.stderr.split() == []
    assert answer.stdout.startswith("ebbtide 0.1.0 (")
