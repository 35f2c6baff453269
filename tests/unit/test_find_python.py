"""`scripts/find-python`: the first Python that can make the environment, or one line that helps."""

import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "find-python"


class Machine:
    """A PATH with nothing on it but the Pythons that a test puts there."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def python(self, name: str, new_enough: bool = True, venv: bool = True) -> None:
        """Install a Python that gives these answers to the two questions of the script."""
        program = self.path / name
        program.write_text(
            "#!/bin/sh\n"
            'case "$2" in\n'
            f"  *version_info*) exit {int(not new_enough)};;\n"
            f"  *venv*) exit {int(not venv)};;\n"
            "esac\n"
        )
        program.chmod(0o755)

    def find(self, **environment: str) -> tuple[int, str, str]:
        """The exit status of the script, and what it says on its two outputs."""
        answer = subprocess.run(
            ["/bin/sh", SCRIPT],
            env={"PATH": str(self.path), **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        return answer.returncode, answer.stdout.rstrip(), answer.stderr


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_the_python_of_the_lock_comes_first(machine: Machine) -> None:
    machine.python("python3")
    assert machine.find() == (0, "python3", "")
    machine.python("python3.11")
    assert machine.find() == (0, "python3.11", "")


def test_one_that_is_too_old_or_cannot_make_environments_is_passed_over(machine: Machine) -> None:
    machine.python("python3.11", venv=False)
    machine.python("python3", new_enough=False)
    machine.python("python3.12")
    assert machine.find() == (0, "python3.12", "")


def test_the_one_that_is_asked_for_is_the_only_candidate(machine: Machine) -> None:
    machine.python("python3.11")
    machine.python("mine")
    assert machine.find(PYTHON="mine") == (0, "mine", "")
    status, found, said = machine.find(PYTHON="missing")
    assert (status, found) == (1, "")
    assert said.startswith("ebbtide needs Python 3.11 or later")


@pytest.mark.parametrize("old", [True, False])
def test_without_any_it_says_in_one_line_what_to_install(machine: Machine, old: bool) -> None:
    if old:
        machine.python("python3", new_enough=False)
    status, found, said = machine.find()
    assert (status, found) == (1, "")
    assert said.count("\n") == 1
    assert said.startswith("ebbtide needs Python 3.11 or later")


def test_without_venv_it_says_in_one_line_what_to_install(machine: Machine) -> None:
    machine.python("python3", venv=False)
    status, found, said = machine.find()
    assert (status, found) == (1, "")
    assert said.count("\n") == 1
    assert said.startswith("ebbtide needs the venv module of python3")
