"""Spark's private interfaces are used in one module, so that a new Spark is tried in one place."""

import ast

import pytest

KNOWS_SPARK = {"bench", "cli", "demo", "engine", "spark"}
DOCUMENTED = ("pyspark.errors", "pyspark.sql")


def private_uses(tree: ast.Module) -> list[str]:
    """Private names of other objects, modules of PySpark that it does not document, and names of
    classes inside Spark."""
    found: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and _is_private(node):
            found.append(ast.unparse(node))
        elif isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if _is_undocumented(alias.name)]
        elif isinstance(node, ast.ImportFrom) and _is_undocumented(node.module or ""):
            found.append(str(node.module))
        elif isinstance(node, ast.Constant) and "org.apache." in str(node.value):
            found.append(str(node.value))
    return found


def _is_private(node: ast.Attribute) -> bool:
    own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
    return node.attr.startswith("_") and not node.attr.startswith("__") and not own


def _is_undocumented(name: str) -> bool:
    return name.startswith("pyspark.") and not name.startswith(DOCUMENTED)


def test_spark_is_reached_into_in_one_module(modules) -> None:
    used = {m.name for m in modules if m.part in KNOWS_SPARK and private_uses(m.tree)}
    assert used == {"ebbtide.spark.private"}


@pytest.mark.parametrize(
    "source",
    [
        "frame._jdf.schema()",
        "self.spark._jvm",
        "getattr(jvm, 'org.apache.spark.util.ThreadUtils')",
        "from pyspark.java_gateway import launch_gateway",
        "import pyspark.serializers",
    ],
)
def test_a_private_use_is_recognised(source: str) -> None:
    assert private_uses(ast.parse(source))


@pytest.mark.parametrize(
    "source", ["self._rows", "frame.schema", "from pyspark.sql import DataFrame", "a.__class__"]
)
def test_other_uses_pass(source: str) -> None:
    assert not private_uses(ast.parse(source))


def test_names_are_put_into_sql_by_one_function(modules) -> None:
    quoting = {
        module.name
        for module in modules
        if module.part == "spark"
        for node in ast.walk(module.tree)
        if isinstance(node, ast.JoinedStr)
        and any(isinstance(v, ast.Constant) and "`" in str(v.value) for v in node.values)
    }
    assert quoting == {"ebbtide.spark.names"}
