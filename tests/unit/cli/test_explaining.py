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
    assert answer.out.startswith("fresh    a row is shown in the step")
    assert "Aggregate" not in answer.out
    verbose = command("explain", "highway.sql", "--verbose").out
    assert verbose.startswith(answer.out)
    assert "\nfinality by progress of traffic.at" in verbose
    assert "Aggregate AVG(traffic.speed) by section" in verbose


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
    assert answer.code == 2
    assert 'keeps    every row of "traffic", for ever' in answer.out
    assert answer.err.startswith("error[unbounded-state]")
    assert "hint: add AND b.at BETWEEN a.at AND a.at + INTERVAL 1 HOUR" in answer.err
    only = command("explain", "highway.sql", "-q", f"EXPLAIN {pairs}")
    assert (only.code, only.err) == (0, "")


BAD = """
CREATE VIEW wrong AS SELECT sped FROM traffic [NOW];
CREATE VIEW upon AS SELECT * FROM wrong;
CREATE VIEW sessions AS SELECT * FROM SESSION(traffic, at, 10 SECONDS) [RANGE 1 HOUR ON at];
"""


def test_a_bad_view_does_not_end_the_others(script: Path, command: Command) -> None:
    script.write_text(script.read_text(encoding="utf-8") + BAD, encoding="utf-8")
    answer = command("explain", "highway.sql")
    assert answer.code == 2
    assert "-- means\n" in answer.out
    assert "-- wrong\n" not in answer.out
    assert [line for line in answer.err.splitlines() if line.startswith("error")] == [
        'error[unknown-column]: there is no column "sped"',
        'error[unknown-name]: there is no stream, table or view "wrong"',
        'error[computed-time]: a window on the computed time "at", which does not progress, '
        "cannot be run yet",
    ]
    assert "detail: its declaration is refused, too" in answer.err
    assert "highway.sql:" in answer.err


def test_rates_say_how_much_is_kept(script: Path, command: Command) -> None:
    bare = command("explain", "highway.sql").out
    assert 'keeps    rows of "traffic" for 16 min 5 s\n' in bare
    rated = command("explain", "highway.sql", "--rate", "traffic=100").out
    # 965 s at 100 rows/s, and of the last 65 s two segments for each row
    assert "about 109,500 rows" in rated
    assert "memory   " in rated
    assert command("explain", "highway.sql", "--rate", "traffic").code == 2


def test_rates_are_those_of_the_run(location: Path, command: Command) -> None:
    found = json.loads(command("explain", "highway.sql", "--json").out)["means"]["outlook"]
    # Four readings were accepted, in ten minutes.
    assert found["rates"] == {"traffic": 4 / 600}
    assert found["keeps"][0]["seconds"] == 965.0


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


def test_a_view_is_explained_as_it_is_given(script: Path, command: Command) -> None:
    text = script.read_text("utf-8").replace("GROUP BY section;", "GROUP BY section EMIT FINAL;")
    script.write_text(text, "utf-8")
    answer = command("explain", "highway.sql")
    assert answer.out.startswith("fresh    a row is shown when it is final, and not before\n")
