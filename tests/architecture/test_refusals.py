"""What the language refuses stands in one module, with its code, message and hint."""

import ast

from ebbtide.errors import EbbtideError, UnsupportedError
from ebbtide.sql import refusals
from ebbtide.sql.allowed import ALLOWED


def test_no_other_module_of_the_language_makes_the_error(modules) -> None:
    made = {
        module.name
        for module in modules
        if module.part == "sql"
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Name) and node.id == "UnsupportedError"
    }
    assert made == {"ebbtide.sql.refusals"}


def test_every_refusal_is_used(modules) -> None:
    declared = {name for name in vars(refusals) if name.isupper() and not name.startswith("_")}
    used = {
        node.attr
        for module in modules
        if module.part == "sql"
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "refusals"
    }
    assert declared - used == set()


def test_what_is_refused_is_not_allowed_elsewhere() -> None:
    assert not set(refusals.NODES) & set(ALLOWED)
    assert not [(n, name) for n, name in refusals.ARGUMENTS if name in ALLOWED.get(n, ())]


def test_a_refusal_says_its_words() -> None:
    error = refusals.STATEMENT(name="MERGE", known="SELECT")
    assert isinstance(error, UnsupportedError)
    assert error.code == "unsupported-syntax"
    assert error.message == "the statement MERGE is not in the language"
    assert error.hint == "the statements are SELECT"
    other: EbbtideError = refusals.ORDER_WITHOUT_LIMIT(clause="ORDER BY a")
    assert other.hint == "write ORDER BY a LIMIT 10"
