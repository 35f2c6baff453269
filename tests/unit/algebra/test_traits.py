"""The table of traits: every operator is in it, and the operators bear its traits out."""

from dataclasses import astuple, fields
from typing import get_args

import pytest

from ebbtide.algebra import traits as table
from ebbtide.algebra.operators import OPERATORS
from ebbtide.algebra.relation import Filter, Relation
from ebbtide.algebra.traits import TRAITS, Traits, traits
from ebbtide.errors import InternalError

UNIONS = {
    field.name: getattr(table, field.name.title().replace("_", "")) for field in fields(Traits)
}


def test_the_table_covers_the_operators() -> None:
    assert list(TRAITS) == list(OPERATORS)


@pytest.mark.parametrize("name", UNIONS)
def test_a_union_is_of_operators_and_says_what_the_table_says(name: str) -> None:
    members = set(get_args(UNIONS[name]))
    assert members < set(OPERATORS)
    assert members == {kind for kind, its in TRAITS.items() if getattr(its, name)}


@pytest.mark.parametrize("kind", OPERATORS, ids=lambda kind: kind.__name__)
def test_every_operator_has_a_trait(kind: type[Relation]) -> None:
    assert any(astuple(TRAITS[kind]))


def test_the_families_are_apart() -> None:
    for its in TRAITS.values():
        assert its.same_rows + its.joining + its.counting + its.assigning + its.streaming <= 1


def test_what_is_no_operator_has_no_traits() -> None:
    class Unknown(Relation):
        def __init__(self) -> None:
            pass

    assert TRAITS[Filter].linear
    with pytest.raises(InternalError, match="unknown-operator"):
        traits(Unknown())
