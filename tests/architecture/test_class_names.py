"""A class name means one thing: those that several packages have are forms of one idea."""

import ast
from collections import defaultdict

from ebbtide.algebra.operators import OPERATORS

_FORMS = "what is written, what it means, and what keeps it current"

SHARED = {
    **{operator.__name__: _FORMS for operator in OPERATORS},
    **dict.fromkeys(("Call", "CeilTo", "FloorTo", "Frame", "Ranking", "Rows", "Sessions"), _FORMS),
    **dict.fromkeys(("And", "Or", "Not", "Op"), "of conditions in SQL, and of formulas on times"),
    **dict.fromkeys(("Keep", "After"), "the rule that is proved, and the rule that is applied"),
    "Admission": "what is right, and the kernel that agrees with it",
    "Block": "a SELECT as it is bound, and as it is printed",
    "Context": "what a function may ask for while it is evaluated, and a binder while it binds",
    "Encoded": "values in the form that a loop reads, and sinks that get rows in a form of theirs",
    "Flink": "the system that is measured, here and in its own process",
    "Function": "a function of the library, and one that is a sink",
    "Kind": "of relations, and of sums",
    "Node": "of any tree, and of a plan with what is proved about it",
    "Progress": "as it is declared, and in formulas",
    "Query": "as it is written, and as people hold it",
    "Reach": "how far frames reach, in time and in rows",
    "Term": "of formulas, and of the builder's expressions",
    "Values": "rows in a query, and values of moments",
    "View": "in a plan, and in the directory of a program",
}


def test_a_name_that_is_used_twice_is_one_idea(modules) -> None:
    found = defaultdict(list)
    for module in modules:
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(module.name)
    assert {
        name: places for name, places in found.items() if len(places) > 1 and name not in SHARED
    } == {}


def test_the_list_has_no_name_that_is_used_once(modules) -> None:
    names = [node.name for m in modules for node in m.tree.body if isinstance(node, ast.ClassDef)]
    operators = {operator.__name__ for operator in OPERATORS}
    assert [name for name in SHARED if names.count(name) < 2 and name not in operators] == []
