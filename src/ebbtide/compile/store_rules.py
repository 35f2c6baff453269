"""The keep rules that the analysis proves, over the columns that kernels store.

Law: a rule says the same of a row here as there; nothing about time is derived.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from ebbtide.algebra.expression import Ref
from ebbtide.algebra.window import Dstream, Istream
from ebbtide.analysis.analysis import Node
from ebbtide.analysis.archive_keep import archive_keep
from ebbtide.analysis.formula.progress import shifted
from ebbtide.analysis.formula.terms import Var
from ebbtide.analysis.keep_rules import ByTime, LastRows, OpenSessions, Rule
from ebbtide.analysis.temporal.edge import TO
from ebbtide.compile.kernel_choice import Chosen
from ebbtide.compile.physical import KEEP_ALL, StoreRule
from ebbtide.compile.pruning import Reads
from ebbtide.core.declaration import Declaration
from ebbtide.core.time import Duration
from ebbtide.state.segment import ENDS


def archive_rule(declaration: Declaration) -> StoreRule | None:
    """The rule of a source's archive over its columns; None if it has no archive."""
    keep = archive_keep(declaration)
    if keep is None:
        return None
    position = declaration.row_schema.position
    return StoreRule(
        tuple(
            tuple((position(part.variable.attribute), part.value) for part in case)
            for case in keep.cases
        )
    )


def input_rules(node: Node, chosen: Chosen) -> tuple[StoreRule, ...]:
    """The rule of each input's area, over the columns that the kernel stores of it."""
    known = {kept.input: kept.rule for kept in node.kept}

    def rule(place: int) -> StoreRule:
        columns = chosen.inputs[place].columns
        schema = node.inputs[place].relation.schema
        found = known.get(place)
        if found is None:
            return KEEP_ALL
        shift_us = 1 if isinstance(node.relation, Istream | Dstream) else 0
        return store_rule(found, lambda i: columns.index(Ref(schema[i])), shift_us)

    return tuple(map(rule, range(len(chosen.inputs))))


def store_rule(rule: Rule, place: Callable[[int], int], shift_us: Duration = 0) -> StoreRule:
    """A rule over the columns of an area, whose ends may be moved."""
    match rule:
        case ByTime():
            columns = {variable: place(i) for i, variable in _named(rule)}
            return StoreRule(
                tuple(
                    tuple(
                        (ENDS, shifted(part.value, shift_us))
                        if part.variable == TO
                        else (columns[part.variable], part.value)
                        for part in case
                    )
                    for case in rule.keep.cases
                ),
                shift_us if rule.turns else None,
            )
        case LastRows() | OpenSessions():
            # Such an area has each row until the instant after it is done with.
            return StoreRule((((ENDS, shifted(rule.horizon, 1)),),))
        case _:
            assert_never(rule)


def carried_of(node: Node) -> tuple[Reads, ...]:
    """The columns of each input that the rule of its store names."""
    found: list[Reads] = [frozenset() for _ in node.inputs]
    for kept in node.kept:
        found[kept.input] = frozenset(place for place, _ in _named(kept.rule))
    return tuple(found)


def _named(rule: Rule) -> list[tuple[int, Var]]:
    """The columns that a rule names, by position."""
    if not isinstance(rule, ByTime):
        return []
    named = {part.variable for case in rule.keep.cases for part in case}
    return [(place, variable) for place, variable in rule.columns if variable in named]
