"""``snapshot``, ``files``, ``changes``, ``late`` and ``timeline``: without a JVM."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from commands import Command
from ebbtide import Engine
from ebbtide.store import answer_files


def test_a_snapshot_is_what_holds_now_or_at_an_instant(location: Path, command: Command) -> None:
    assert command("snapshot", "means").out == (
        "section   mean\n──────────────\n      1   24.0\n      2   40.0\n2 rows\n"
    )
    before = command("snapshot", "MEANS", "--at", "2026-01-01 00:05:00", "--format", "csv")
    assert (before.code, before.out, before.err) == (0, "section,mean\n1,20.0\n", "")


def test_an_answer_is_json(location: Path, command: Command) -> None:
    answer = json.loads(command("snapshot", "means", "--format", "json").out)
    assert answer == [{"section": 1, "mean": 24.0}, {"section": 2, "mean": 40.0}]
    nothing = command("snapshot", "means", "--at", "2025-01-01", "--format", "json")
    assert json.loads(nothing.out) == []


def test_files_are_named_one_on_a_line(
    location: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answer_files, "FILE_ROWS", 1)
    said = command("files", "MEANS")
    assert (said.code, said.err) == (0, "")
    paths = said.out.splitlines()
    assert [Path(path).parent for path in paths] == [location / "programs/means/live/means"] * 2
    rows = [row for path in paths for row in pq.read_table(path).to_pylist()]
    assert {row["section"]: row["mean"] for row in rows} == {1: 24.0, 2: 40.0}
    assert command("files", "means").out == said.out
    assert command("files", "nothing").code == 2


def test_changes_show_what_was_taken_back(location: Path, command: Command) -> None:
    answer = command("changes", "means", "--since", "0", "--format", "csv")
    assert answer.out == (
        "section,mean,valid_from,valid_to,diff,step,reason\n"
        "1,20.0,2026-01-01 00:09:30,2026-01-01 00:10:00,-1,1,revision\n"
        "1,21.0,2026-01-01 00:09:30,2026-01-01 00:10:00,1,1,revision\n"
        "1,25.0,2026-01-01 00:10:00,2026-01-01 00:15:00,-1,1,revision\n"
        "1,24.0,2026-01-01 00:10:00,2026-01-01 00:15:00,1,1,revision\n"
    )
    all_of_them = command("changes", "means", "--format", "json").out
    assert {change["step"] for change in json.loads(all_of_them)} == {0, 1}


def test_changes_of_what_is_final_say_whether_they_revise(tmp_path: Path, command: Command) -> None:
    engine = Engine(tmp_path / "rooms", transport="local")
    engine.execute("""
        CREATE STREAM readings (room STRING, at TIMESTAMP NOT NULL, PROGRESS FOR at AS at)
          RETAIN 1 HOUR
    """)
    counts = """
        SELECT room, window_end, COUNT(*) AS n FROM TUMBLE(readings, at, 1 MINUTE)
        GROUP BY room, window_end
    """
    final = engine.query(f"{counts} EMIT FINAL", name="final")
    told = engine.query(f"{counts} EMIT CHANGES WITH FINALITY", name="told")
    engine.start(final, told, name="both")
    for seconds in ("00:10", "01:10", "00:20"):
        engine.feed("readings", [("a", f"2026-01-01 09:{seconds}")])
        engine.step()
    engine.stop()
    where = ("--location", str(tmp_path / "rooms"), "--format", "json")
    changes = json.loads(command("changes", "final", *where).out)
    assert [(c["n"], c["diff"], c["step"], c["revision"]) for c in changes] == [
        (1, 1, 1, False),
        (1, -1, 2, True),
        (2, 1, 2, True),
    ]
    rows = json.loads(command("snapshot", "told", *where).out)
    assert [(row["n"], row["is_final"]) for row in rows] == [(2, True), (1, False)]
    state = command("state", "final", "--location", str(tmp_path / "rooms")).out
    assert "keep while window_end > progress(readings.at) + 1 us" in state


def test_late_rows_have_their_reasons(location: Path, command: Command) -> None:
    (row,) = json.loads(command("late", "TRAFFIC", "--format", "json").out)
    assert (row["reason"], row["step"], row["query"]) == ("late", 1, "means")
    assert command("late", "means").code == 2
    unknown = command("late", "trafic")
    assert unknown.code == 2
    assert 'there is no stream, table or view "trafic"' in unknown.err


def test_operations_that_wait_are_shown_and_counted(tmp_path: Path, command: Command) -> None:
    engine = Engine(tmp_path, transport="local")
    engine.execute("""
        CREATE TABLE t (k BIGINT, at TIMESTAMP, PRIMARY KEY (k),
          PROGRESS FOR at AS at - INTERVAL 1 MINUTE) TIME at
    """)
    engine.query("SELECT k FROM t", "keys").start()
    engine.feed("t", [(7, 1_000_000)], op="end")
    engine.step()
    engine.stop()
    where = ("--location", str(tmp_path))
    (row,) = json.loads(command("late", "t", "--pending", "--format", "json", *where).out)
    assert (row["op"], row["query"]) == ("end", "keys")
    assert '"k":7' in row["row"]
    assert "1 operation on t waits for a row" in command("state", *where).out


def test_a_timeline_is_text_or_a_drawing(
    location: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = command("timeline", "means").out.splitlines()
    assert lines[0] == "section: mean"
    assert lines[1].split() == ["2026-01-01", "00:00:00", "2026-01-01", "00:25:00"]
    assert lines[2].startswith("1  ┣20.0━━━")
    assert "┣24.0━" in lines[2]
    assert "┠25.0┄" in lines[3]
    assert "━" not in lines[3]
    assert lines[4].lstrip().startswith("2")
    assert lines[-1].strip() == "▲ now 2026-01-01 00:10:00"
    assert command("timeline", "means", "-o", "means.svg").code == 0
    assert Path("means.svg").read_text(encoding="utf-8").startswith("<svg")
    refused = command("timeline", "means", "-o", "no/such/directory.svg")
    assert refused.code == 1
    assert "directory.svg" in refused.err


def test_a_timeline_can_be_narrowed(
    location: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    first = command("timeline", "means", "--where", "section = 1", "--since", "2026-01-01 00:12")
    assert "40.0" not in first.out
    assert first.out.splitlines()[1].split()[:2] == ["2026-01-01", "00:10:00"]  # now
    assert "24.0" in first.out
    assert "20.0" not in first.out
    until = command("timeline", "means", "--until", "2026-01-01 00:05").out
    assert "24.0" not in until
    assert command("timeline", "means", "--by", "mean").out.startswith("mean: section\n")
    fewer = command("timeline", "means", "--lanes", "1").out
    assert "1 lane left out: --lanes, --where" in fewer
    for wrong in (["--where", "sectio = 1"], ["--by", "speed"]):
        refused = command("timeline", "means", *wrong)
        assert (refused.code, refused.err[:21]) == (2, "error[unknown-column]")
    subquery = command("timeline", "means", "--where", "section IN (SELECT 1)")
    assert (subquery.code, subquery.err[:20]) == (2, "error[bad-condition]")
    none = command("timeline", "means", "--where", "section = 3").out
    assert none.endswith("there are no rows\n")


def test_state_is_told_by_operator_and_segment(location: Path, command: Command) -> None:
    areas = json.loads(command("state", "--format", "json").out)
    assert [area["area"] for area in areas] == ["input", "output", "accumulators"]
    rows, oldest, ends, age = (areas[0][name] for name in ("rows", "oldest", "ends", "age"))
    assert (rows, age) == (4, "10:00")
    assert (oldest, ends) == ("2026-01-01 00:00:00", "2026-01-01 00:25:00")
    assert areas[0]["forgotten at"] == "progress(traffic.at) = 2026-01-01 00:25:59.999999"
    assert areas[2]["oldest"] is None
    segments = json.loads(command("state", "means", "--segments", "--format", "json").out)
    assert sum(segment["rows"] for segment in segments if segment["area"] == "input") == 4
    lines = command("state", "--segments").out.splitlines()
    assert sum("a segment" in line for line in lines) == len(segments)
    assert command("state", "meens").code == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["snapshot", "meens"], "did you mean means?"),
        (["snapshot", "means", "--at", "noon"], "error[bad-instant]"),
        (["snapshot", "means", "--location", "elsewhere"], 'nothing has run in "elsewhere"'),
        (["snapshot", "means", "--format", "xml"], "--format"),
        (["snapshot"], "Missing argument"),
    ],
)
def test_what_cannot_be_read_is_the_users_error(
    location: Path, command: Command, arguments: list[str], words: str
) -> None:
    answer = command(*arguments)
    assert answer.code == 2
    assert words in answer.err
    assert answer.out == ""
    assert "Traceback" not in answer.err


def test_a_lost_or_damaged_file_is_told(location: Path, command: Command) -> None:
    files = sorted((location / "programs/means/output/means").iterdir())
    files[0].write_bytes(b"PAR1 nothing")
    assert command("snapshot", "means").code == 0  # the answer of now lies elsewhere
    damaged = command("snapshot", "means", "--at", "2026-01-01 00:05:00")
    assert damaged.code == 1
    assert "error[damaged-output]" in damaged.err
    files[0].unlink()
    assert "error[missing-output]" in command("changes", "means").err


WITHOUT_SPARK = """
import sys
from ebbtide.cli.app import ebbtide
from ebbtide.cli.error_display import told
for words in ("snapshot means", "changes means", "late traffic", "timeline means", "state"):
    assert told(ebbtide, words.split()) == 0, words
print(*[name for name in ("pyspark", "py4j") if name in sys.modules], file=sys.stderr)
"""


def test_readers_load_no_spark(location: Path) -> None:
    answer = subprocess.run(
        [sys.executable, "-c", WITHOUT_SPARK], capture_output=True, text=True, check=True
    )
    assert answer.stderr.split() == []


def test_a_snapshot_as_of_an_earlier_step(location: Path, command: Command) -> None:
    before = command("snapshot", "means", "--as-of", "0", "--format", "csv")
    assert before.out == "section,mean\n1,25.0\n2,40.0\n"
    assert command("snapshot", "means", "--as-of", "2020-01-01", "--format", "json").out == "[]\n"
    far = command("snapshot", "means", "--as-of", "9")
    assert (far.code, "error[no-step]" in far.err) == (2, True)
    assert command("snapshot", "means", "--as-of", "soon").code == 2


def test_a_difference_is_what_was_corrected(location: Path, command: Command) -> None:
    answer = command("diff", "means", "--between", "0", "1", "--format", "csv")
    assert answer.out.splitlines()[:3] == [
        "section,mean,valid_from,valid_to,diff",
        "1,20.0,2026-01-01 00:09:30,2026-01-01 00:10:00,-1",
        "1,21.0,2026-01-01 00:09:30,2026-01-01 00:10:00,1",
    ]
    later = command("diff", "means", "--between", "0", "1", "--later", "--format", "csv")
    assert "1,24.0,2026-01-01 00:10:00,2026-01-01 00:15:00,1" in later.out


def test_the_command_says_why(tmp_path: Path, command: Command) -> None:
    engine = Engine(tmp_path, transport="local")
    engine.execute("""
        CREATE STREAM bids (auction INT, price INT, at TIMESTAMP, PROGRESS FOR at AS at);
        CREATE TABLE owners (auction INT, name STRING, at TIMESTAMP, op STRING,
          PRIMARY KEY (auction), PROGRESS FOR at AS at) TIME at OP op;
    """)
    engine.query(
        "SELECT o.name, MAX(b.price) AS price FROM bids [RANGE 10 SECONDS] b "
        "JOIN owners o ON o.auction = b.auction GROUP BY o.name",
        name="q",
    ).start()
    engine.feed("owners", [(1, "ann", 1_000_000)])
    engine.feed("bids", [(1, 5, 1_000_000)])
    engine.step()
    engine.stop()
    where = ("--location", str(tmp_path))
    said = command("why", "q", "--where", "name = 'ann'", "--before", *where)
    assert said.out.splitlines() == [
        "(name=ann, price=5) of q",
        "at 1970-01-01 00:00:01, as of step 0",
        "said since step 0 (input)",
        "  source   bids (auction=1, price=5, at=1970-01-01 00:00:01)",
        "  source   owners (auction=1, name=ann, at=1970-01-01 00:00:01)",
    ]
    refused = command("why", "q", "--where", "price > 5", *where)
    assert (refused.code, "error[no-such-row]" in refused.err) == (2, True)


def test_errors_show_what_was_left_out_and_why(tmp_path: Path, command: Command) -> None:
    engine = Engine(tmp_path / "trips", transport="local")
    engine.execute("""
        CREATE STREAM trips (km BIGINT, hours BIGINT, at TIMESTAMP NOT NULL, PROGRESS FOR at AS at)
    """)
    text = "SELECT km DIV hours AS speed FROM trips [RANGE 1 MINUTE]"
    engine.query(text, name="speeds").start()
    engine.feed("trips", [(5, 0, "2026-01-01 00:00:00"), (6, 2, "2026-01-01 00:00:30")])
    engine.step()
    engine.stop()
    there = ("speeds", "--location", str(tmp_path / "trips"), "--format", "json")
    assert json.loads(command("snapshot", *there).out) == [{"speed": 3}]
    (row,) = json.loads(command("errors", *there).out)
    assert (row["operator"], row["error"], row["rows"]) == (
        "map",
        "division-by-zero: division by zero",
        1,
    )
    assert json.loads(row["row"]) == {"km": 5, "hours": 0, "at": "2026-01-01T00:00:00.000Z"}
    assert json.loads(command("errors", *there, "--at", "2026-01-01 00:01:00").out) == []


def test_diff_names_what_a_replayed_correction_changed(tmp_path: Path, command: Command) -> None:
    """A row that comes after the operators have forgotten its time, and one within RETAIN."""
    engine = Engine(tmp_path / "shops", transport="local")
    engine.execute("""
        CREATE STREAM sales (shop STRING, euros INT, at TIMESTAMP NOT NULL,
          PRIMARY KEY (shop, at), PROGRESS FOR at AS at) RETAIN 1 HOUR ARCHIVE 30 DAYS
    """)
    total = engine.query(
        "SELECT shop, SUM(euros) AS total FROM sales [RANGE 1 DAY] GROUP BY shop", name="total"
    )
    total.start()
    for day in range(1, 8):
        engine.feed("sales", [("north", day, f"2026-03-{day:02} 12:00:00")])
        engine.step()
    engine.feed("sales", [("north", 50, "2026-03-04 13:00:00")])  # three days late
    engine.step()
    engine.feed("sales", [("north", 70, "2026-03-07 11:30:00")])  # half an hour late
    engine.step()
    engine.feed("sales", [("north", 40, "2026-03-04 12:00:00")], op="replace")
    engine.step()
    engine.stop()
    asked = ("--location", str(tmp_path / "shops"), "--format", "csv")
    assert command("diff", "total", "--between", "6", "7", *asked).out == (
        "shop,total,valid_from,valid_to,diff\n"
        "north,4,2026-03-04 13:00:00,2026-03-05 12:00:00,-1\n"
        "north,54,2026-03-04 13:00:00,2026-03-05 12:00:00,1\n"
        "north,5,2026-03-05 12:00:00,2026-03-05 13:00:00,-1\n"
        "north,55,2026-03-05 12:00:00,2026-03-05 13:00:00,1\n"
    )
    _, *late = command("diff", "total", "--between", "7", "8", *asked).out.splitlines()
    assert sorted(late) == [
        "north,6,2026-03-07 11:30:00,2026-03-07 12:00:00,-1",
        "north,7,2026-03-07 12:00:00,2026-03-07 12:00:00.000001,-1",
        "north,76,2026-03-07 11:30:00,2026-03-07 12:00:00,1",
        "north,77,2026-03-07 12:00:00,2026-03-07 12:00:00.000001,1",
    ]
    both = command("diff", "total", "--between", "7", "9", *asked).out.splitlines()
    assert "north,54,2026-03-04 13:00:00,2026-03-05 12:00:00,-1" in both
    assert "north,90,2026-03-04 13:00:00,2026-03-05 12:00:00,1" in both


def test_a_snapshot_shows_the_lineage_that_is_kept(tmp_path: Path, command: Command) -> None:
    engine = Engine(tmp_path / "rooms", transport="local")
    engine.execute("CREATE STREAM readings (room STRING, at TIMESTAMP, PROGRESS FOR at AS at)")
    counts = "SELECT room, COUNT(*) AS n FROM readings [RANGE 1 HOUR] GROUP BY room"
    kept = engine.query(f"{counts} WITH (lineage = TRUE)", name="kept")
    engine.start(kept, engine.query(counts, name="plain"), name="both")
    for minute in ("10", "20"):
        engine.feed("readings", [("a", f"2026-01-01 09:{minute}:00")])
        engine.step()
    engine.stop()
    asked = ("--location", str(tmp_path / "rooms"), "--format", "csv")
    assert command("snapshot", "kept", "--lineage", *asked).out == (
        "room,n,readings_first,readings_last\na,2,2026-01-01 09:10:00,2026-01-01 09:20:00\n"
    )
    assert command("snapshot", "kept", *asked).out == "room,n\na,2\n"
    refused = command("snapshot", "plain", "--lineage", *asked)
    assert (refused.code, "error[no-lineage]" in refused.err) == (2, True)
