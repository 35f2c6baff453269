"""Who may import whom, held twice: by import-linter, and by the table below.

The table is read from the syntax trees, so a mistake in the contracts of `pyproject.toml` and a
mistake here would have to agree to go unseen. It knows direct imports only; chains of them are
import-linter's part.
"""

import ast
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest


class May(NamedTuple):
    """What a layer may import: other parts of the package, and packages from outside."""

    inside: str = ""
    outside: str = ""


MODEL = "errors config core algebra"
PLANS = f"{MODEL} plan_text analysis optimizer columnar state kernels"
BELOW_ENGINE = f"{PLANS} sql store compile dataflow sinks program drawing lineage"

ALLOWED = {
    "errors": May(),
    "config": May("errors"),
    "core": May("errors config"),
    "algebra": May("errors config core"),
    "plan_text": May(MODEL),
    "reference": May(MODEL),
    "lineage": May(f"{MODEL} reference"),
    "sql": May(f"{MODEL} plan_text", "sqlglot"),
    "analysis": May(f"{MODEL} plan_text"),
    "optimizer": May(f"{MODEL} analysis"),
    "columnar": May(f"{MODEL} state", "numpy pyarrow"),
    "state": May("errors config core", "numba numpy pyarrow"),
    "kernels": May("errors config core state", "numba numpy pyarrow"),
    "files": May("errors config core state", "numpy pyarrow"),
    "drawing": May("errors config core"),
    "builder": May(),
    "store": May("errors config core state sql", "numpy pyarrow"),
    "compile": May(PLANS, "numpy pyarrow"),
    "dataflow": May(f"{PLANS} store compile", "numpy pyarrow"),
    "sinks": May("errors core", "pyarrow"),
    "program": May(f"{PLANS} sql store compile dataflow sinks"),
    "local": May(BELOW_ENGINE, "numpy pyarrow"),
    "spark": May(f"{BELOW_ENGINE} files", "numpy pandas py4j pyarrow pyspark"),
    "engine": May(f"{BELOW_ENGINE} local spark builder files", "pyspark"),
    "testing": May(f"{MODEL} reference"),
    "demo": May(f"{BELOW_ENGINE} engine testing"),
    "metro": May(f"{BELOW_ENGINE} engine demo builder"),
    "bench": May(f"{BELOW_ENGINE} spark engine", "duckdb numpy pyarrow pyspark pyflink"),
    "cli": May(f"{BELOW_ENGINE} spark engine demo metro bench", "click rich"),
    # The front door: `import ebbtide` loads what it gives only when it is asked for.
    "": May("errors engine builder"),
}


def imported(tree: ast.Module) -> set[str]:
    """The dotted names that a module imports, wherever in it the import stands."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: a relative import"
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


def strangers(part: str, names: set[str]) -> set[str]:
    """Those of the imported names that the part may not import."""
    may = ALLOWED[part]
    inside = {"ebbtide.__version__", *(f"ebbtide.{name}" for name in {part, *may.inside.split()})}
    outside = {*sys.stdlib_module_names, *may.outside.split()}
    return {
        name
        for name in names
        if (
            ".".join(name.split(".")[:2]) not in inside
            if name.split(".")[0] == "ebbtide"
            else name.split(".")[0] not in outside
        )
    }


def test_every_import_is_in_the_table(modules) -> None:
    found = {module.name: strangers(module.part, imported(module.tree)) for module in modules}
    assert {name: names for name, names in found.items() if names} == {}


@pytest.mark.parametrize(
    ("part", "source"),
    [
        ("errors", "from ebbtide.config import Config"),
        ("core", "from ebbtide.algebra import Filter"),
        ("core", "from ebbtide import algebra"),
        ("algebra", "import pyarrow.compute as pc"),
        ("reference", "def late():\n    import numpy"),
        ("analysis", "from ebbtide.sql.parser import parse"),
        ("optimizer", "from ebbtide.state import SweepArea"),
        ("state", "import ebbtide.algebra"),
        ("kernels", "from ebbtide.algebra.relation import Filter"),
        ("testing", "import ebbtide.engine"),
        ("testing", "import hypothesis"),
        ("engine", "import sqlglot"),
        ("dataflow", "import pyspark"),
        ("local", "from ebbtide.spark.session import start_spark"),
        ("local", "from ebbtide.reference import evaluate"),
        ("core", "import ebbtide"),
    ],
)
def test_the_table_refuses(part: str, source: str) -> None:
    assert strangers(part, imported(ast.parse(source)))


@pytest.mark.parametrize(
    ("part", "source"),
    [
        ("core", "import re, ebbtide.errors\nfrom ebbtide.core.time import Instant"),
        ("sql", "from sqlglot import exp\nfrom ebbtide import algebra"),
        ("kernels", "import numba\nfrom ebbtide.state import SweepArea"),
        ("spark", "from pyspark.sql import DataFrame\nfrom ebbtide.kernels import aggregate"),
        ("cli", "from ebbtide import __version__\nimport argparse"),
    ],
)
def test_the_table_allows(part: str, source: str) -> None:
    assert not strangers(part, imported(ast.parse(source)))


def test_import_linter_agrees(root: Path) -> None:
    program = Path(sys.executable).with_name("lint-imports")
    answer = subprocess.run(
        [program, "--no-logo", "--no-cache"], cwd=root, capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr
