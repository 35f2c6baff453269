"""Wrong operators on purpose: each must break a law that is said to hold for it.

A law that no mistake can break says nothing. Every mutant replaces one function of the reference
by one with a mistake that somebody could make.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from ebbtide.algebra import (
    AntiJoin,
    Difference,
    Distinct,
    Intersection,
    Join,
    Map,
    MaxUnion,
    Outer,
    OuterJoin,
    Product,
    Relation,
    SemiJoin,
    StrictDifference,
    TopN,
    UnionAll,
)
from ebbtide.core.change import Multiset
from ebbtide.reference import pointwise
from ebbtide.reference.scalar import evaluate
from laws import refute
from laws.mutation import BY_NAME

OPERATE = "ebbtide.reference.evaluation.operate"

Arm = Callable[[Any, tuple[Multiset, ...]], Multiset]


@dataclass(frozen=True)
class Mutant:
    """A mistake in one operator, and the laws that it breaks."""

    mistake: str
    operator: type[Relation]
    arm: Arm
    breaks: tuple[str, ...]


def once(rows: Multiset) -> Multiset:
    """Every row once."""
    return Counter(dict.fromkeys(rows, 1))


def partners(node: SemiJoin, rows: tuple[Multiset, ...]) -> Multiset:
    """The left rows, as often as they have partners."""
    result: Multiset = Counter()
    schema = node.left.schema + node.right.schema
    for row, n in rows[0].items():
        for other, m in rows[1].items():
            if evaluate(node.predicate, schema, row + other) is True:
                result[row] += n * m
    return result


MUTANTS = [
    Mutant(
        "difference ignores multiplicity",
        Difference,
        lambda node, rows: Counter({r: n for r, n in rows[0].items() if r not in rows[1]}),
        (
            "what was added can be taken away",
            "(13) intersection takes away what would be left",
            "DuckDB agrees on Difference",
        ),
    ),
    Mutant(
        "difference goes below nothing",
        Difference,
        lambda node, rows: Counter({r: abs(rows[0][r] - rows[1][r]) for r in rows[0]}),
        ("taking away twice is taking the union away", "DuckDB agrees on Difference"),
    ),
    Mutant(
        "distinct keeps duplicates",
        Distinct,
        lambda node, rows: rows[0],
        (
            "distinct of a union is the max-union of sets",
            "distinct is grouping by all columns",
            "strict difference is the difference of sets",
            "DuckDB agrees on Distinct",
        ),
    ),
    Mutant(
        "EXCEPT keeps duplicates",
        StrictDifference,
        lambda node, rows: Counter({r: n for r, n in rows[0].items() if r not in rows[1]}),
        (
            "strict difference is the difference of sets",
            "(15) strict difference is an anti join of the distinct rows",
            "DuckDB agrees on StrictDifference",
        ),
    ),
    Mutant(
        "EXCEPT subtracts multiplicities",
        StrictDifference,
        lambda node, rows: once(rows[0] - rows[1]),
        ("strict difference is the difference of sets", "DuckDB agrees on StrictDifference"),
    ),
    Mutant(
        "INTERSECT keeps duplicates",
        Intersection,
        lambda node, rows: rows[0] & rows[1],
        ("strict intersection is the intersection of sets", "DuckDB agrees on Intersection"),
    ),
    Mutant(
        "intersection keeps the left multiplicity",
        Intersection,
        lambda node, rows: Counter({r: n for r, n in rows[0].items() if r in rows[1]}),
        ("intersection is commutative", "(13) intersection takes away what would be left"),
    ),
    Mutant(
        "union takes the greater multiplicity",
        UnionAll,
        lambda node, rows: rows[0] | rows[1],
        (
            "what was added can be taken away",
            "counts of a union add up",
            "(14) max-union is both differences and the intersection",
            "DuckDB agrees on UnionAll",
        ),
    ),
    Mutant(
        "max-union adds",
        MaxUnion,
        lambda node, rows: rows[0] + rows[1],
        (
            "max-union is idempotent",
            "(14) max-union is both differences and the intersection",
            "DuckDB agrees on MaxUnion",
        ),
    ),
    Mutant(
        "product adds multiplicities",
        Product,
        lambda node, rows: Counter(
            {a + b: m + n for a, m in rows[0].items() for b, n in rows[1].items()}
        ),
        ("product through union", "distinct through product", "DuckDB agrees on Product"),
    ),
    Mutant(
        "join finds each pair once",
        Join,
        lambda node, rows: once(pointwise.operate(node, rows)),
        ("(11) a theta join is a map of a filtered product", "join through union"),
    ),
    Mutant(
        "semi join multiplies",
        SemiJoin,
        partners,
        (
            "a semi join does not count partners",
            "with a partner or without: each row once",
            "(12) a semi join on equality joins the distinct join attributes",
            "DuckDB agrees on SemiJoin",
        ),
    ),
    Mutant(
        "anti join keeps each row once",
        AntiJoin,
        lambda node, rows: once(pointwise.operate(node, rows)),
        ("with a partner or without: each row once", "DuckDB agrees on AntiJoin"),
    ),
    Mutant(
        "outer join forgets the padding rows",
        OuterJoin,
        lambda node, rows: pointwise._join(node, *rows),
        (
            "left outer join is the join and what has no partner",
            "right outer join is the join and what has no partner",
            "full outer join is the left one and the right side's rest",
            "DuckDB agrees on OuterJoin",
        ),
    ),
    Mutant(
        "full outer join keeps the left side only",
        OuterJoin,
        lambda node, rows: pointwise.operate(replace(node, kept=Outer.LEFT), rows),
        ("full outer join is the left one and the right side's rest",),
    ),
    Mutant(
        "outer join pads a row once, however often it is there",
        OuterJoin,
        lambda node, rows: (
            (joined := pointwise._join(node, *rows)) | once(pointwise.operate(node, rows) - joined)
        ),
        ("left outer join is the join and what has no partner", "DuckDB agrees on OuterJoin"),
    ),
    Mutant(
        "map removes duplicates",
        Map,
        lambda node, rows: once(pointwise.operate(node, rows)),
        ("map through union", "DuckDB agrees on Map"),
    ),
    Mutant(
        "top-n shows one row more",
        TopN,
        lambda node, rows: pointwise.operate(replace(node, count=node.count + 1), rows),
        ("top-n is a filter on ROW_NUMBER", "DuckDB agrees on TopN of a table"),
    ),
    Mutant(
        "top-n forgets its offset",
        TopN,
        lambda node, rows: pointwise.operate(replace(node, offset=0), rows),
        ("top-n pages make the whole", "DuckDB agrees on TopN of a table"),
    ),
]


@pytest.mark.parametrize(
    ("mutant", "law"),
    [(mutant, law) for mutant in MUTANTS for law in mutant.breaks],
    ids=lambda value: value.mistake if isinstance(value, Mutant) else value,
)
def test_the_law_notices(mutant: Mutant, law: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def operate(node: Any, inputs: tuple[Multiset, ...], *_: Any) -> Multiset:
        arm = mutant.arm if isinstance(node, mutant.operator) else pointwise.operate
        return arm(node, inputs)

    monkeypatch.setattr(OPERATE, operate)
    refute(BY_NAME[law])
