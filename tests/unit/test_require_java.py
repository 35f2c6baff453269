"""`scripts/require-java`: silent with a Java that Spark can use, otherwise one line that helps."""

import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "require-java"

# What `java -version` writes, to the standard error, by version.
WORDS = {
    "1.8": 'java version "1.8.0_402"\nJava(TM) SE Runtime Environment (build 1.8.0_402-b06)',
    "11": 'openjdk version "11.0.22" 2024-01-16\nOpenJDK Runtime Environment (build 11.0.22+7)',
    "16": 'openjdk version "16.0.2" 2021-07-20',
    "17": 'openjdk version "17.0.15" 2025-04-15\nOpenJDK 64-Bit Server VM (build 17.0.15+6)',
    "17 Oracle": 'java version "17.0.10" 2024-01-16 LTS',
    "17 with options": 'Picked up JAVA_TOOL_OPTIONS: -Xmx1g\nopenjdk version "17.0.15" 2025-04-15',
    "21": 'openjdk version "21" 2023-09-19',
    "25 early": 'openjdk version "25-ea" 2025-09-16',
    "broken": "Error: could not find libjava.so",
}


class Machine:
    """A PATH with the few programs that the script uses, and the Javas that a test puts on it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.path = directory / "bin"
        self.path.mkdir()
        for program in ("sed", "cat", "sh"):
            found = shutil.which(program)
            assert found is not None
            (self.path / program).symlink_to(found)

    def java(self, words: str, home: str | None = None) -> Path:
        """Install a Java that says these words, on the PATH or in a home of its own."""
        where = self.path if home is None else self.directory / home / "bin"
        where.mkdir(parents=True, exist_ok=True)
        program = where / "java"
        program.write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{words}\nEND\n")
        program.chmod(0o755)
        return where.parent

    def check(self, java_home: Path | str | None = None) -> tuple[int, str]:
        """The exit status of the script and what it says."""
        environment = {"PATH": str(self.path)}
        if java_home is not None:
            environment["JAVA_HOME"] = str(java_home)
        answer = subprocess.run(
            [SCRIPT], env=environment, capture_output=True, text=True, check=False
        )
        assert answer.stdout == ""
        return answer.returncode, answer.stderr


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def refused(answer: tuple[int, str], reason: str) -> bool:
    status, said = answer
    return (
        status != 0
        and said.count("\n") == 1
        and said.startswith("ebbtide needs Java 17 or later")
        and "install a JDK" in said
        and reason in said
    )


@pytest.mark.parametrize("version", ["17", "17 Oracle", "17 with options", "21", "25 early"])
def test_a_new_enough_java_passes_in_silence(machine: Machine, version: str) -> None:
    machine.java(WORDS[version])
    assert machine.check() == (0, "")


@pytest.mark.parametrize(
    ("version", "reason"),
    [
        ("1.8", "found 1.8.0_402"),
        ("11", "found 11.0.22"),
        ("16", "found 16.0.2"),
        ("broken", "does not tell its version"),
    ],
)
def test_any_other_java_is_refused_in_one_line(machine: Machine, version: str, reason: str) -> None:
    machine.java(WORDS[version])
    assert refused(machine.check(), reason)


def test_no_java_is_refused_in_one_line(machine: Machine) -> None:
    assert refused(machine.check(), "none found")


def test_java_home_comes_before_the_path(machine: Machine) -> None:
    machine.java(WORDS["11"])
    assert machine.check(machine.java(WORDS["21"], home="jdk 21")) == (0, "")
    machine.java(WORDS["21"])
    assert refused(machine.check(machine.java(WORDS["11"], home="jdk-11")), "found 11.0.22")


def test_a_java_home_without_java_is_refused_even_with_one_on_the_path(machine: Machine) -> None:
    machine.java(WORDS["17"])
    assert refused(machine.check(machine.directory / "empty"), "JAVA_HOME has no bin/java")


def test_an_empty_java_home_counts_for_nothing(machine: Machine) -> None:
    machine.java(WORDS["17"])
    assert machine.check("") == (0, "")
