"""What the parser overrides of sqlglot's private methods, each because no table of its leads there.

sqlglot is extended by class attributes: the tables of what clauses, operators and functions are
read by.  What can be said there is said there; a method below is overridden for the reason beside
it.  The list may become shorter.
"""

import ast

from sqlglot.parser import Parser
from sqlglot.parsers.spark import SparkParser

from ebbtide.sql.dialect import Ebbtide

_MARKED = "marks the node with its place, and is called from many others"
_STRICT = "refuses what sqlglot would let pass"
_OURS = "reads something that sqlglot does not have"

OVERRIDDEN = {
    "_advance": "counts how often tokens are looked at",
    "_advance_any": _STRICT,
    "_try_parse": "lets an error of ours through",
    "_parse_alias": _STRICT,
    "_parse_bracket": _MARKED,
    "_parse_csv": _STRICT,
    "_parse_cte": _STRICT,
    "_parse_equality": _MARKED,
    "_parse_expression": _MARKED,
    "_parse_function_call": _MARKED,
    "_parse_interval": _OURS,
    "_parse_join": _STRICT,
    "_parse_lambda": _MARKED,
    "_parse_lateral": _STRICT,
    "_parse_order": _MARKED,
    "_parse_ordered": _STRICT,
    "_parse_paren": _MARKED,
    "_parse_primary": _STRICT,
    "_parse_projections": _STRICT,
    "_parse_query_modifiers": "moves the window of a GROUP BY into FROM, once both are read",
    "_parse_range": _MARKED,
    "_parse_select_query": _OURS,
    "_parse_statement": _OURS,
    "_parse_struct_types": "reads a field by the name of a type",
    "_parse_table": _OURS,
    "_parse_table_alias": _STRICT,
    "_parse_type": _STRICT,
    "_parse_types": _STRICT,
    "_parse_unary": _MARKED,
    "_parse_window": _OURS,
    "_parse_with": _MARKED,
    "_build_predicate": _STRICT,
}


def ours(kind: type, theirs: type) -> set[str]:
    """The private names of a class of ours that one of theirs has, too."""
    classes = [c for c in kind.__mro__ if c.__module__.startswith("ebbtide.")]
    names = {name for c in classes for name in vars(c)}
    return {n for n in names if n.startswith("_") and not n.startswith("__") and hasattr(theirs, n)}


def test_only_these_methods_are_overridden() -> None:
    assert ours(Ebbtide.Parser, SparkParser) == set(OVERRIDDEN)


def test_none_is_reached_by_a_table_of_clauses_alone() -> None:
    """A reader of our own is what the table names."""
    for name in ("group", "where", "having", "limit", "offset", "in", "between", "case", "cast"):
        assert f"_parse_{name}" not in OVERRIDDEN
        assert hasattr(Parser, f"_parse_{name}")


def test_nothing_private_is_set_from_outside(modules) -> None:
    changed = [
        f"{module.name}: {ast.unparse(node)}"
        for module in modules
        if module.part == "sql"
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and node.attr.startswith("_")
        and not (isinstance(node.value, ast.Name) and node.value.id == "self")
    ]
    assert changed == []
