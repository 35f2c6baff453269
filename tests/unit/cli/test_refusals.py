"""What the user can put right: one message on the standard error, exit code 2, no traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from commands import Command

NOBODY = 65534

WRONG = """\
CREATE STREAM traffic (section INT, speed DOUBLE, at TIMESTAMP,
  PROGRESS FOR at AS at - INTERVAL 5 SECONDS)
FROM FILES 'data/traffic' FORMAT json;

SELECT
  section,
  AVG(sped) AS mean
FROM traffic [RANGE 15 MINUTES] GROUP BY section;
"""


@contextmanager
def not_root() -> Iterator[None]:
    """Without the rights of root, which may read everything."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.parametrize("subcommand", ["run", "explain"])
def test_an_error_on_line_7_is_told_with_its_place(
    script: Path, command: Command, subcommand: str
) -> None:
    script.write_text(WRONG, encoding="utf-8")
    answer = command(subcommand, "highway.sql")
    assert answer.code == 2
    assert answer.out == ""
    assert answer.err == (
        'error[unknown-column]: there is no column "sped"\n'
        "  highway.sql:7:7\n"
        "    AVG(sped) AS mean\n"
        "        ^^^^\n"
        "detail: there are traffic.section, traffic.speed, traffic.at\n"
        "hint: did you mean speed?\n"
    )
    assert not Path("ebbtide").exists()


def test_debug_adds_the_traceback(script: Path, command: Command) -> None:
    script.write_text(WRONG, encoding="utf-8")
    answer = command("run", "highway.sql", "--debug")
    assert answer.code == 2
    assert "Traceback (most recent call last)" in answer.err
    assert answer.err.endswith("hint: did you mean speed?\n")


def test_a_path_that_is_not_there(script: Path, command: Command) -> None:
    (script.parent / "data/traffic").rmdir()
    answer = command("run", "highway.sql")
    assert answer.code == 2
    assert answer.err == (
        'error[missing-path]: the files of "traffic" are not there\n'
        "  highway.sql:1:15\n"
        "  CREATE STREAM traffic (section INT, speed DOUBLE, at TIMESTAMP,\n"
        "                ^^^^^^^\n"
        f"detail: there is no {script.parent}/data/traffic\n"
        "hint: make the directory first: files may come later\n"
    )


def test_a_directory_that_may_not_be_read(
    script: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    with TemporaryDirectory() as open_to_all:  # what pytest makes is closed to others
        Path(open_to_all).chmod(0o755)
        monkeypatch.chdir(open_to_all)
        Path("highway.sql").write_text(script.read_text(encoding="utf-8"), encoding="utf-8")
        directory = Path("data/traffic")
        directory.mkdir(parents=True)
        directory.chmod(0o000)
        with not_root():
            answer = command("run", "highway.sql")
        directory.chmod(0o755)
        monkeypatch.undo()
    assert answer.code == 2
    assert 'error[unreadable-path]: the files of "traffic" cannot be read' in answer.err
    assert "hint: chmod u+rx data/traffic" in answer.err


def test_a_file_where_a_directory_is_needed(script: Path, command: Command) -> None:
    (script.parent / "data/traffic").rmdir()
    (script.parent / "data/traffic").write_text("{}", encoding="utf-8")
    answer = command("run", "highway.sql")
    assert (answer.code, answer.out) == (2, "")
    assert "error[not-a-directory]" in answer.err
    assert "hint: FROM FILES 'data'" in answer.err


def test_a_location_that_cannot_be_written(script: Path, command: Command) -> None:
    answer = command("run", "highway.sql", "--location", "highway.sql/state")
    assert answer.code == 2
    assert "error[unwritable-location]" in answer.err
    assert "Not a directory" in answer.err


def test_a_stream_to_which_nothing_would_come(script: Path, command: Command) -> None:
    script.write_text(
        "CREATE STREAM s (at TIMESTAMP, PROGRESS FOR at AS at);\nSELECT * FROM s [NOW];"
    )
    answer = command("run", "highway.sql")
    assert answer.code == 2
    assert 'stream "s" has no FROM, so nothing would ever come to it' in answer.err
    assert "highway.sql:1:15" in answer.err
    assert "hint: add FROM FILES 'data/s' FORMAT json" in answer.err


def test_a_script_that_asks_nothing(script: Path, command: Command) -> None:
    script.write_text("CREATE STREAM s (at TIMESTAMP) FROM FILES '.' FORMAT json", encoding="utf-8")
    assert "error[nothing-to-run]: highway.sql has no query" in command("run", "highway.sql").err
    assert "error[nothing-to-run]" in command("explain", "highway.sql").err


def test_a_view_that_may_not_run_is_told_where_it_is_declared(
    script: Path, command: Command
) -> None:
    text = script.read_text(encoding="utf-8").split("CREATE VIEW")[0]
    view = (
        "CREATE VIEW pairs AS\n  SELECT a.speed FROM traffic a JOIN traffic b ON a.speed = b.speed;"
    )
    script.write_text(text + view, encoding="utf-8")
    answer = command("run", "highway.sql", "--view", "pairs")
    assert answer.code == 2
    assert "error[unbounded-state]" in answer.err
    assert "highway.sql:5:" in answer.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "highway.sql", "--view", "meens"], 'the script has no view "meens"'),
        (["run", "nothing.sql"], "'nothing.sql' does not exist"),
        (["run", "highway.sql", "--for", "soon"], "error[bad-duration]"),
        (["run", "highway.sql", "--for", "1s", "--until-caught-up"], "exclude each other"),
        (["run", "highway.sql", "--fast"], "No such option"),
        (["walk"], "No such command 'walk'"),
        (["explain"], "name a script, or give a query with -q"),
        (["explain", "-q", "SELEC 1"], "-q:1:1"),
    ],
)
def test_what_was_typed_wrong(
    script: Path, command: Command, arguments: list[str], words: str
) -> None:
    answer = command(*arguments)
    assert answer.code == 2
    assert words in answer.err
    assert "Traceback" not in answer.err


def test_a_java_that_is_missing(script: Path, tmp_path: Path) -> None:
    environment = {"PATH": str(tmp_path), "HOME": str(tmp_path)}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        program = [sys.executable, "-m", "ebbtide.cli", *arguments]
        return subprocess.run(
            program, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
        )

    answer = run("run", "highway.sql")
    assert answer.returncode == 1
    assert answer.stderr.splitlines()[-3:-1] == [
        "error[missing-java]: Spark needs Java 17 or later",
        "detail: java is not on the PATH",
    ]
    assert "Traceback" not in answer.stderr
    examined = run("doctor")
    assert examined.returncode == 1
    assert "FAIL  java" in examined.stdout
    assert "-> install a JDK" in examined.stdout


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--to", "out", "--encoding", "upsrt"], "unknown-encoding"),
        (["--to", "out", "--format", "orc"], "unknown-format"),
        (["--heartbeat", "1500ms"], "bad-heartbeat"),
        (["--finish-at", "soon"], "bad-instant"),
    ],
)
def test_options_are_refused_before_spark_starts(
    script: Path,
    command: Command,
    options: list[str],
    code: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ebbtide.cli.script_run.ScriptRun._start_spark", None)
    answer = command("run", "highway.sql", *options)
    assert answer.code == 2
    assert answer.err.startswith(f"error[{code}]: ")


def test_the_state_of_another_query_is_found_before_spark_starts(
    location: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ebbtide.cli.script_run.ScriptRun._start_spark", None)
    script = Path("highway.sql")
    script.write_text(script.read_text("utf-8").replace("AVG(speed)", "MAX(speed)"), "utf-8")
    answer = command("run", "highway.sql")
    assert answer.code == 2
    assert answer.err.startswith("error[query-differs]: ")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--finish", "--finish-at", "2026-01-01"], "--finish and --finish-at exclude each other"),
        (["--finish", "--for", "1s"], "--finish and --for exclude each other"),
        (["--until-caught-up", "--for", "1s"], "--until-caught-up and --for exclude each other"),
    ],
)
def test_ends_that_exclude_each_other(
    script: Path, command: Command, options: list[str], said: str
) -> None:
    answer = command("run", "highway.sql", *options)
    assert answer.code == 2
    assert said in answer.err


@pytest.mark.parametrize(
    ("option", "given"), [("--rows", "-5"), ("--rows", "0"), ("--repeats", "0")]
)
def test_a_bench_of_nothing_is_refused(option: str, given: str, command: Command) -> None:
    answer = command("bench", "nexmark", option, given)
    assert answer.code == 2
    assert f"Invalid value for '{option}'" in answer.err
