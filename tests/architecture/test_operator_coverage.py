"""Every operator is in all its places: reference, strategy, test and documentation."""

import ast
import re
from pathlib import Path

import pytest
from tests.scenarios import plan_with

from ebbtide.algebra import (
    ChangingTable,
    Recurrence,
    Recursion,
    Relation,
    StaticTable,
    Stream,
    Values,
)
from ebbtide.algebra.operators import OPERATORS
from ebbtide.core.tree import find
from ebbtide.sql import parse
from ebbtide.sql.binder import bind
from ebbtide.sql.binding.insertion import inserted
from ebbtide.sql.bound import BoundInsert, BoundQuery, Declared
from ebbtide.sql.catalog import Catalog
from strategies.plans import BUILDERS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/reference/operators.md").read_text(encoding="utf-8")
NAMES = [operator.__name__ for operator in OPERATORS]
LEAVES = (Stream, StaticTable, ChangingTable, Values)
RECURSIVE = (Recursion, Recurrence)


def section(name: str) -> str:
    """What the page says below an operator's heading."""
    match = re.search(rf"^### {name}\n(.*?)(?=^##|\Z)", PAGE, re.M | re.S)
    assert match, f"docs/reference/operators.md has no heading ### {name}"
    return match[1]


def blocks(text: str, language: str) -> list[str]:
    """The code blocks of a language."""
    return re.findall(rf"```{language}\n(.*?)```", text, re.S)


def sentence(text: str) -> str:
    """The first sentence, on one line, without marks of code."""
    return re.sub(r"\s+", " ", text.strip()).replace("`", "").split(". ")[0].rstrip(".")


def arms(module: str) -> set[str]:
    """The classes that a module of the reference has a case for."""
    path = ROOT / "src/ebbtide/reference" / module
    tree = ast.parse(path.read_text(encoding="utf-8"))
    patterns = (node for node in ast.walk(tree) if isinstance(node, ast.MatchClass))
    return {pattern.cls.id for pattern in patterns if isinstance(pattern.cls, ast.Name)}


@pytest.mark.parametrize("name", NAMES)
def test_the_reference_has_an_arm(name: str) -> None:
    assert name in arms("evaluation.py") | arms("pointwise.py")


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.__name__)
def test_a_strategy_generates_it(operator: type[Relation]) -> None:
    # That each really comes up is counted in tests/unit/testing/test_strategies.py.
    # A recursion has an end only at some `now`, so tests/recursions.py has them apart.
    assert operator in BUILDERS or operator in LEAVES or operator in RECURSIVE


@pytest.mark.parametrize("name", NAMES)
def test_it_has_a_test_of_its_own(name: str) -> None:
    stem = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
    assert (ROOT / f"tests/operators/test_{stem}.py").exists()


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.__name__)
def test_the_engine_runs_it_in_a_test(operator: type[Relation]) -> None:
    # tests/operators/test_on_the_engine.py runs what is found here.
    assert plan_with(operator) is not None


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.__name__)
def test_the_page_says_what_the_class_says(operator: type[Relation]) -> None:
    text = section(operator.__name__)
    assert sentence(text) == sentence(operator.__doc__ or "")
    drawing = f"drawings/{operator.__name__.lower()}.svg"
    assert f"]({drawing})" in text or blocks(text, "text"), "a time line"


def test_the_page_has_no_operator_that_is_none() -> None:
    assert set(re.findall(r"^### (\w+)$", PAGE, re.M)) == set(NAMES)


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    """The sources of the page's examples."""
    known = Catalog()
    for statement in parse(blocks(PAGE, "sql")[0]):
        declared = bind(statement, known)
        assert isinstance(declared, Declared)
        known = declared.catalog
    return known


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.__name__)
def test_the_sql_of_the_page_uses_the_operator(operator: type[Relation], catalog: Catalog) -> None:
    written = blocks(section(operator.__name__), "sql")
    plans = []
    for statement in parse(written[0]):
        bound = bind(statement, catalog)
        if isinstance(bound, Declared):
            catalog = bound.catalog
        elif isinstance(bound, BoundInsert):
            catalog = inserted(bound.target, bound.query, catalog)
        else:
            assert isinstance(bound, BoundQuery)
            plans.append(bound.plan)
    assert [plan for plan in plans if any(find(plan, operator))]
