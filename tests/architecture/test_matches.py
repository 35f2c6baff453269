"""Every match over operators has an arm for each: what a new one falls through in silence fails.

A match is over operators if one of its cases is a class of theirs, as the module imports it.  Its
last case is ``assert_never``, or none is a wildcard; mypy proves both, the second by
``exhaustive-match``.  Where a default is right for any operator there is, the match is in
``OPEN``, with the reason.
"""

import ast
from collections.abc import Iterator

import pytest

from ebbtide.algebra.operators import OPERATORS

NAMES = {operator.__name__ for operator in OPERATORS}

_PRINTED = "any plan has SQL: what fits into no clause is printed as a query in FROM"
_LEFT = "a rewrite leaves what it has no rule for as it is"

OPEN = {
    "ebbtide.plan_text.plan_sql.plan_sql": _PRINTED,
    "ebbtide.plan_text.plan_sql._set_operation": "most operators are no set operation",
    "ebbtide.plan_text.plan_sql._select": _PRINTED,
    "ebbtide.plan_text.block.as_one_table": _PRINTED,
    "ebbtide.plan_text.select_sql.Select._from": _PRINTED,
    "ebbtide.plan_text.source_sql.source_sql": _PRINTED,
    "ebbtide.plan_text.source_sql._own_name": "most operators have no name of their own",
    "ebbtide.analysis.advice.to_be_final": "EMIT FINAL can be left out of any query",
    "ebbtide.analysis.begun._of_source": "a computed time may lie ahead, whatever computes it",
    "ebbtide.optimizer.filter_irrelevant._conditions": "of most operators no condition is known",
    "ebbtide.optimizer.filter_irrelevant._restricted": "a filter can stand on any operator",
    "ebbtide.optimizer.sink_conditions._Sinking.sink": _LEFT,
    "ebbtide.optimizer.sink_conditions._Sinking._placed": _LEFT,
    "ebbtide.sql.binding.ranking._in_from": _LEFT,
}


def local_names(tree: ast.Module) -> set[str]:
    """The names by which a module knows operators, wherever in it they are imported."""
    return {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ebbtide.algebra")
        for alias in node.names
        if alias.name in NAMES
    }


def is_operator(pattern: ast.AST, known: set[str]) -> bool:
    """Whether a pattern is a class of an operator, by its name or behind ``algebra``."""
    match pattern:
        case ast.MatchClass(cls=ast.Name(id=name)):
            return name in known
        case ast.MatchClass(cls=ast.Attribute(value=ast.Name(id="algebra"), attr=name)):
            return name in NAMES
        case _:
            return False


def is_open(case: ast.match_case) -> bool:
    """Whether a case takes whatever is left, and does not say that nothing is."""
    match case:
        case ast.match_case(
            pattern=ast.MatchAs(pattern=None),
            body=[ast.Expr(value=ast.Call(func=ast.Name(id="assert_never")))],
        ):
            return False
        case ast.match_case(pattern=ast.MatchAs(pattern=None)):
            return True
        case _:
            return False


def open_matches(tree: ast.Module, module: str) -> Iterator[str]:
    """The functions that have an open match over operators, once for each."""
    known = local_names(tree)
    pending: list[tuple[ast.AST, str]] = [(tree, module)]
    while pending:
        node, place = pending.pop()
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            place = f"{place}.{node.name}"
        pending.extend((child, place) for child in ast.iter_child_nodes(node))
        if isinstance(node, ast.Match):
            patterns = (part for case in node.cases for part in ast.walk(case.pattern))
            if any(is_operator(part, known) for part in patterns) and any(map(is_open, node.cases)):
                yield place


def test_every_match_over_operators_is_exhaustive(modules) -> None:
    found = [place for module in modules for place in open_matches(module.tree, module.name)]
    assert sorted(found) == sorted(OPEN)


@pytest.mark.parametrize(
    "source",
    [
        "from ebbtide.algebra import Filter\nmatch x:\n case Filter(): 1\n case _: 2",
        "from ebbtide.algebra.relation import Map as M\nmatch x:\n case M() | 3: 1\n case other: 2",
        "from ebbtide import algebra\nmatch x:\n case algebra.Hop() if y: 1\n case _ if z: 2",
        "def f():\n from ebbtide.algebra import Map\n match x:\n  case (Map(), 1): 1\n  case _: 2",
    ],
)
def test_an_open_match_is_recognised(source: str) -> None:
    assert list(open_matches(ast.parse(source), "m"))


@pytest.mark.parametrize(
    "source",
    [
        "from ebbtide.algebra import Map\nmatch x:\n case Map(): 1\n case _: assert_never(x)",
        "from ebbtide.algebra import Map\nmatch x:\n case Map(): 1",
        "from ebbtide.kernels import Join\nmatch x:\n case Join(): 1\n case _: 2",
        "match x:\n case nodes.Tumble(): 1\n case _: 2",
    ],
)
def test_a_match_that_is_not_open_is_let_be(source: str) -> None:
    assert not list(open_matches(ast.parse(source), "m"))
