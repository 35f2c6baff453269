"""`config` is the only reader of the environment."""

import ast

import pytest

NAMES = {"environ", "environb", "getenv", "getenvb", "putenv", "unsetenv"}


def reads_environment(tree: ast.Module) -> bool:
    """Whether a module takes anything of the environment from `os`."""
    return any(
        (isinstance(node, ast.Attribute) and node.attr in NAMES)
        or (
            isinstance(node, ast.ImportFrom)
            and node.module == "os"
            and any(alias.name in NAMES | {"*"} for alias in node.names)
        )
        for node in ast.walk(tree)
    )


def test_only_config_reads_the_environment(modules) -> None:
    assert [m.name for m in modules if reads_environment(m.tree)] == ["ebbtide.config"]


@pytest.mark.parametrize(
    "source",
    ["import os\nos.environ['X']", "from os import getenv", "import os as o\no.getenv('X')"],
)
def test_a_reader_is_recognised(source: str) -> None:
    assert reads_environment(ast.parse(source))
