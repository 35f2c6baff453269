"""Walking trees of frozen dataclasses: ``fold``, ``rewrite`` and ``find``.

Invariant: nothing is mutated, and nothing else walks a plan or an expression.  A node's children
are its fields, and the items of its tuple fields, that belong to the node's family; the root
class of a family sets ``family`` to itself, so that an expression inside a relation is no child
of the relation.

The walks keep their own stack, so depth is bounded by memory alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from functools import cache
from typing import Any, ClassVar, Self, TypeVar, cast

N = TypeVar("N", bound="Node")
T = TypeVar("T")


class Node:
    """A tree node; its subclasses are frozen dataclasses."""

    __slots__ = ()
    family: ClassVar[type[Node]]

    @property
    def children(self) -> tuple[Self, ...]:
        """The nodes directly below, in the order of the fields."""
        found: list[Any] = []
        for name in _names(cast(Any, type(self))):
            found.extend(_members(getattr(self, name), self.family))
        return tuple(found)

    def with_children(self, children: tuple[Self, ...]) -> Self:
        """The same node over other children, as many as it has."""
        rest: Iterator[Any] = iter(children)
        changed = {
            field.name: _replaced(value, self.family, rest)
            for field in fields(cast(Any, self))
            if _members(value := getattr(self, field.name), self.family)
        }
        return cast(Self, replace(cast(Any, self), **changed)) if changed else self


@cache
def _names(kind: type[Any]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def fold(root: N, combine: Callable[[N, tuple[T, ...]], T]) -> T:
    """The result of ``combine`` at the root, which hands every node its children's results."""
    results: list[T] = []
    pending: list[tuple[N, bool]] = [(root, False)]
    while pending:
        node, ready = pending.pop()
        children = node.children
        if ready or not children:
            split = len(results) - len(children)
            results[split:] = [combine(node, tuple(results[split:]))]
        else:
            pending.append((node, True))
            pending.extend((child, False) for child in reversed(children))
    return results[0]


def rewrite(root: N, rule: Callable[[N], N]) -> N:
    """The tree with ``rule`` applied to every node, from the leaves to the root."""

    def step(node: N, children: tuple[N, ...]) -> N:
        same = all(a is b for a, b in zip(node.children, children, strict=True))
        return rule(node if same else node.with_children(children))

    return fold(root, step)


def find(root: Node, kind: type[N]) -> Iterator[N]:
    """Every node of a class, the root first, left before right."""
    pending: list[Node] = [root]
    while pending:
        node = pending.pop()
        if isinstance(node, kind):
            yield node
        pending.extend(reversed(node.children))


def _members(value: object, family: type[Node]) -> list[Any]:
    if isinstance(value, family):
        return [value]
    if isinstance(value, tuple):
        return [member for item in value for member in _members(item, family)]
    return []


def _replaced(value: object, family: type[Node], rest: Iterator[Any]) -> object:
    if isinstance(value, family):
        return next(rest)
    if isinstance(value, tuple):
        return tuple(_replaced(item, family, rest) for item in value)
    return value
