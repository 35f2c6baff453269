"""Every error code is explained in the reference, and every code that is explained exists.

Codes are read from the sources: the first argument of an exception of ours, or of a function that
hands its `code` on to one.
"""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from docs import sections
from ebbtide import errors

EXCEPTIONS = {
    name
    for name in errors.__all__
    if isinstance(kind := getattr(errors, name), type) and issubclass(kind, Exception)
}


def called(call: ast.Call) -> str:
    """The name of what is called, without what stands before its last dot."""
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def calls(tree: ast.AST, names: Iterable[str]) -> Iterator[ast.Call]:
    return (n for n in ast.walk(tree) if isinstance(n, ast.Call) and n.args and called(n) in names)


def passing_on(trees: Iterable[ast.Module]) -> set[str]:
    """The functions that make an error of the code that they are given first."""
    return {
        function.name
        for tree in trees
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        and [a.arg for a in function.args.args if a.arg != "self"][:1] == ["code"]
        and any(calls(function, EXCEPTIONS))
    }


def codes(argument: ast.expr, tree: ast.Module) -> set[str]:
    """The codes that an argument can be: written there, chosen between, or looked up."""
    match argument:
        case ast.Constant(value=str(code)):
            return {code}
        case ast.IfExp(body=one, orelse=other):
            return codes(one, tree) | codes(other, tree)
        case ast.Subscript(value=ast.Name(id=table)):
            return {code for value in _entries(tree, table) for code in codes(value, tree)}
        case ast.Attribute(attr="code") | ast.Name(id="code"):
            return set()  # of an error, or of whoever called
        case _:
            raise AssertionError(f"a code that cannot be read: {ast.unparse(argument)}")


def _entries(tree: ast.Module, table: str) -> list[ast.expr]:
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Dict(values=values)):
                if name == table:
                    return values
    return []


def codes_of(trees: list[ast.Module]) -> set[str]:
    names = EXCEPTIONS | passing_on(trees)
    return {
        code for tree in trees for call in calls(tree, names) for code in codes(call.args[0], tree)
    }


@pytest.fixture(scope="module")
def page(root: Path) -> Path:
    return root / "docs" / "reference" / "errors.md"


def test_every_code_is_explained_and_every_explained_code_exists(modules, page: Path) -> None:
    used = codes_of([module.tree for module in modules])
    explained = set(sections(page))
    assert used - explained == set(), "these codes need a section"
    assert explained - used == set(), "these sections are about no code"


def test_the_examples_of_a_section_are_refused_with_its_code(page: Path) -> None:
    wrong = {
        name: [str(b) for b in found if b.language in {"python", "sql"} and b.error != name]
        for name, found in sections(page).items()
    }
    assert {name: found for name, found in wrong.items() if found} == {}


def test_codes_are_found_wherever_they_are_written() -> None:
    tree = ast.parse(
        """
CODES = {"a": "one-code"}
def fault(self, code, message):
    return ParseError(code, message)
raise errors.BindError("two-code" if x else "three-code", "...")
raise BindError(CODES[what], "...")
raise self.fault("four-code", "...")
"""
    )
    assert codes_of([tree]) == {"one-code", "two-code", "three-code", "four-code"}
    with pytest.raises(AssertionError, match="cannot be read"):
        codes_of([ast.parse("raise BindError(some + thing, '')")])
