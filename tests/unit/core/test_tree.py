"""Walking trees of frozen dataclasses: fold, rewrite and find."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ebbtide.core.tree import Node, find, fold, rewrite


class Expr(Node):
    """A family of its own: it is no child of a relation."""

    family: ClassVar[type[Node]]


Expr.family = Expr


@dataclass(frozen=True)
class Name(Expr):
    name: str


class Rel(Node):
    family: ClassVar[type[Node]]


Rel.family = Rel


@dataclass(frozen=True)
class Leaf(Rel):
    name: str


@dataclass(frozen=True)
class Keep(Rel):
    source: Rel
    condition: Expr


@dataclass(frozen=True)
class Both(Rel):
    sources: tuple[Rel, ...]
    named: tuple[tuple[str, Rel], ...] = ()


A, B, C = Leaf("a"), Leaf("b"), Leaf("c")
TREE = Both((Keep(A, Name("x")), B), (("c", C),))


def printed(node: Rel, children: tuple[str, ...]) -> str:
    name = node.name if isinstance(node, Leaf) else type(node).__name__
    return name + (f"({', '.join(children)})" if children else "")


def test_children_are_the_fields_of_the_family_in_order() -> None:
    assert TREE.children == (Keep(A, Name("x")), B, C)
    assert Keep(A, Name("x")).children == (A,)
    assert A.children == ()


def test_children_can_be_exchanged() -> None:
    assert TREE.with_children((A, B, A)) == Both((A, B), (("c", A),))
    assert A.with_children(()) is A


def test_fold_hands_every_node_the_results_of_its_children() -> None:
    assert fold(TREE, printed) == "Both(Keep(a), b, c)"


def test_fold_visits_a_shared_node_once_for_each_place() -> None:
    assert fold(Both((A, A)), printed) == "Both(a, a)"
    assert fold(Both(()), printed) == "Both"


def test_rewrite_works_from_the_leaves_to_the_root() -> None:
    seen: list[str] = []

    def rename(node: Rel) -> Rel:
        seen.append(type(node).__name__)
        return Leaf(node.name.upper()) if isinstance(node, Leaf) else node

    assert fold(rewrite(TREE, rename), printed) == "Both(Keep(A), B, C)"
    assert seen == ["Leaf", "Keep", "Leaf", "Leaf", "Both"]


def test_rewrite_keeps_what_it_does_not_change() -> None:
    assert rewrite(TREE, lambda node: node) is TREE


def test_rewrite_sees_the_new_children() -> None:
    def drop(node: Rel) -> Rel:
        return node.source if isinstance(node, Keep) else node

    assert rewrite(Keep(Keep(A, Name("x")), Name("y")), drop) is A


def test_find_gives_the_root_first_and_left_before_right() -> None:
    assert list(find(TREE, Leaf)) == [A, B, C]
    assert list(find(TREE, Both)) == [TREE]
    assert list(find(TREE, Name)) == []


def test_depth_is_bounded_by_memory_alone() -> None:
    deep: Rel = A
    for _ in range(20_000):
        deep = Keep(deep, Name("x"))
    assert fold(deep, lambda _, below: 1 + sum(below)) == 20_001
    assert rewrite(deep, lambda node: node) is deep
    assert sum(1 for _ in find(deep, Keep)) == 20_000
