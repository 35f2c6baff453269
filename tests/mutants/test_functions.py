"""Wrong functions on purpose: conditions, groups, ranks, frames, streams, end points."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from ebbtide.algebra import Comparison, Not, Ranking
from ebbtide.core.change import end_points, fact, snapshot
from ebbtide.core.time import INF
from ebbtide.core.tree import rewrite
from laws.mutation import Function, Mutant, assert_noticed, changed, pairs


def nulls_are_equal(original: Function) -> Function:
    """NULL = NULL."""

    def loose(node: Any) -> Any:
        if isinstance(node, Comparison) and node.op == "=":
            return Comparison("<=>", node.left, node.right)
        return node

    return lambda expression, schema, row: original(rewrite(expression, loose), schema, row)


def without_empty_group(original: Function) -> Function:
    """Nothing of nothing."""
    return lambda node, rows, *rest: original(node, rows, *rest) if rows else Counter()


def first_copy(original: Function) -> Function:
    """One fact, however many came."""
    return lambda *given: [fact(change.row) for change in original(*given)]


def starts_only(*relations: Any) -> list[int]:
    """Where something begins, but not where something ends."""
    return end_points(*([replace(c, valid_to=INF) for c in changes] for changes in relations))


def positives(original: Function) -> Function:
    """Negative changes are forgotten."""
    return lambda changes: original([change for change in changes if change.diff > 0])


MUTANTS = [
    Mutant(
        "NULL joins NULL",
        "quarantine.evaluate",
        nulls_are_equal,
        ("DuckDB agrees on Join", "DuckDB agrees on OuterJoin of a table"),
    ),
    Mutant(
        "a condition that is unknown holds",
        "pointwise.judged",
        lambda original: lambda predicate, *where: not original(Not(predicate), *where),
        ("DuckDB agrees on Filter", "DuckDB agrees on AntiJoin"),
    ),
    Mutant(
        "an aggregate loses the empty group",
        "pointwise.aggregate",
        without_empty_group,
        ("a filter of an aggregate is a filter below it", "DuckDB agrees on Aggregate of a table"),
    ),
    Mutant(
        "FILTER is ignored",
        "aggregation.folded",
        changed(filter=None),
        ("FILTER leaves rows out", "a filter of an aggregate is a filter below it"),
    ),
    Mutant(
        "DISTINCT is ignored in aggregates",
        "aggregation.folded",
        changed(distinct=False),
        (
            "DISTINCT leaves repetitions out",
            "a distinct aggregate is the aggregate of the distinct values",
            "what COUNT is",
        ),
    ),
    Mutant(
        "RANK numbers peers apart",
        "ranking._numbers",
        lambda original: lambda ranking, rows, key: original(Ranking.ROW_NUMBER, rows, key),
        ("DuckDB agrees on TopN of a table", "DuckDB agrees on Over of a table"),
    ),
    Mutant(
        "a frame ends before its last row",
        "ranking._frame",
        lambda original: lambda *given: original(*given)[:-1],
        (
            "DuckDB agrees on Over of a table",
            "a frame of the whole partition is the aggregate joined back",
        ),
    ),
    Mutant(
        "LAG looks ahead",
        "ranking._neighbour",
        lambda original: lambda call, *rest: original(replace(call, name="LEAD"), *rest),
        ("DuckDB agrees on Over of a table",),
    ),
    Mutant(
        "ISTREAM says once what came twice",
        "evaluation.came",
        first_copy,
        (
            "ISTREAM and DSTREAM rebuild the relation",
            "ISTREAM and DSTREAM are differences of neighbouring snapshots",
        ),
    ),
    Mutant(
        "DSTREAM forgets",
        "evaluation.went",
        lambda original: lambda *given: (),
        (
            "ISTREAM and DSTREAM rebuild the relation",
            "windows on ISTREAM and DSTREAM rebuild the relation",
        ),
    ),
    Mutant(
        "ISTREAM repeats what stays",
        "evaluation.came",
        lambda original: (
            lambda changes, now: [
                fact((*row, t), n)
                for t in end_points(changes)
                if abs(t) <= now
                for row, n in snapshot(changes, t).items()
            ]
        ),
        ("ISTREAM and DSTREAM rebuild the relation",),
    ),
    Mutant(
        "RSTREAM stops before now",
        "evaluation.shown",
        lambda original: lambda changes, every, now: original(changes, every, now - 1),
        ("RSTREAM samples the relation",),
    ),
    Mutant(
        "expiry is no end point",
        "evaluation.end_points",
        lambda original: starts_only,
        ("Filter is snapshot-reducible", "Join is snapshot-reducible"),
    ),
    Mutant(
        "negative changes are forgotten",
        "evaluation.consolidate",
        positives,
        ("ISTREAM and DSTREAM rebuild the relation", "Distinct is snapshot-reducible"),
    ),
]


@pairs(MUTANTS)
def test_the_law_notices(mutant: Mutant, law: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_noticed(mutant, law, monkeypatch)
