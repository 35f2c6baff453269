"""The page of aggregates says what the library has: names, NULLs, no rows, orders and folds."""

import re
from pathlib import Path

import pytest

from ebbtide.algebra.aggregates import AGGREGATES, ALIASES, AggregateFunction
from ebbtide.core.folds import Fold
from ebbtide.core.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INTERVAL,
    STRING,
    TIMESTAMP,
    DecimalType,
    Type,
)
from ebbtide.errors import BindError

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "reference" / "aggregates.md").read_text(encoding="utf-8")
LIBRARY = [name for name, make in AGGREGATES.items() if make.__module__.startswith("ebbtide.")]
TYPES = (
    BIGINT,
    DOUBLE,
    DecimalType(18, 2),
    DecimalType(38, 2),
    INTERVAL,
    TIMESTAMP,
    DATE,
    STRING,
    BOOLEAN,
)
NUMBERS = {BIGINT, DOUBLE, DecimalType(18, 2), DecimalType(38, 2)}
TAKEN = {
    "a number": NUMBERS,
    "a number or an INTERVAL": NUMBERS | {INTERVAL},
    "a BOOLEAN": {BOOLEAN},
}
EMPTY = {"0": 0, "NULL": None, "an empty array": ()}


def rows() -> dict[str, dict[str, str]]:
    """The table: by aggregate, the cells by the heads of their columns."""
    lines = [line for line in PAGE.splitlines() if line.startswith(("| aggregate |", "| `"))]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    heads, *found = cells
    table = [dict(zip(heads, row, strict=True)) for row in found]
    return {row["aggregate"].strip("`"): row for row in table}


def made(name: str) -> dict[Type, AggregateFunction]:
    """The aggregate for every type that it takes; a second argument is a number."""
    found: dict[Type, AggregateFunction] = {}
    for type_ in TYPES:
        for types in ((type_,), (type_, DOUBLE)):
            try:
                found[type_] = AGGREGATES[name](types)
            except BindError:
                continue
            break
    return found


def test_every_aggregate_has_a_line_and_no_line_is_of_another() -> None:
    assert list(rows()) == LIBRARY


@pytest.mark.parametrize("name", LIBRARY)
def test_a_line_says_what_the_aggregate_does(name: str) -> None:
    line, functions = rows()[name], made(name)
    folds = {function.fold for function in functions.values()}
    assert set(re.findall("|".join(fold.value for fold in Fold), line["folds into"])) == {
        fold.value for fold in folds
    }
    assert {alias for alias, known in ALIASES.items() if known == name} == set(
        re.findall(r"\w+", line["also"])
    )
    for function in functions.values():
        assert line["NULLs"].startswith("kept") == function.keeps_nulls
        assert line["order"] == ("yes" if function.ordered else "no")
        assert EMPTY[line["no rows"]] == function.result(function.initial)
    if line["arguments"] in TAKEN:
        assert set(functions) == TAKEN[line["arguments"]]


def test_a_fold_that_depends_on_the_type_says_so() -> None:
    for name, line in rows().items():
        for type_, function in made(name).items():
            if type_ == DOUBLE and function.fold is Fold.ACCUMULATOR:
                assert "for DOUBLE an accumulator" in line["folds into"]
            if isinstance(type_, DecimalType) and function.fold is Fold.ROWS:
                assert (
                    line["folds into"] == "rows" or "DECIMAL of more than 18" in line["folds into"]
                )


def test_every_fold_is_explained() -> None:
    for fold in Fold:
        assert f"\n| {fold.value} |" in PAGE
