"""Write `requirements.lock`: an exact version for everything that a working tree installs.

pip resolves what `pyproject.toml` asks for (the dependencies and every group) as for
an empty environment, without installing anything, and this keeps the names and versions.
Indexes, paths and hashes stay out, so that the file says the same wherever it is made.
"""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

HEADER = """\
# Made by `make lock` from pyproject.toml; not edited by hand (docs/adr/0002-lock-file.md).
"""


def main() -> None:
    """Resolve and write; the oldest Python that is supported decides."""
    if sys.version_info[:2] != (3, 11):
        sys.exit("the lock is made with Python 3.11, the oldest that Ebbtide supports")
    requirements = wanted(tomllib.loads((ROOT / "pyproject.toml").read_text()))
    pip = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "-qq"]
    answer = subprocess.run(
        [*pip, "--report", "-", *requirements], stdout=subprocess.PIPE, check=True
    )
    pins = sorted(
        f"{canonical(item['metadata']['name'])}=={item['metadata']['version']}"
        for item in json.loads(answer.stdout)["install"]
    )
    (ROOT / "requirements.lock").write_text(HEADER + "\n".join(pins) + "\n")


def wanted(pyproject: dict) -> list[str]:
    """Every requirement that `pyproject.toml` states."""
    lists = [
        pyproject["project"]["dependencies"],
        *pyproject["dependency-groups"].values(),
    ]
    return sorted({requirement for each in lists for requirement in each})


def canonical(name: str) -> str:
    """The one spelling of a distribution's name: lower case, single hyphens."""
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    main()
