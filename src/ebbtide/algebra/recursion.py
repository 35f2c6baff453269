"""Recursion to the future: a relation of facts that is derived from earlier facts of its own.

Law: the input of a recursion says what follows from some of its rows; ``Recurrence`` stands for
them there.  As what follows is later than what it follows from, in the time ``on``, there is one
solution, built in the order of that time.  What it has up to ``now`` is shown and followed; later
rows are neither.  That rows are indeed later is for the analysis to prove.

Paper 5, section 5, has examples ("a safe, non-blocking form of recursion").
"""

from __future__ import annotations

from dataclasses import dataclass

from ebbtide.algebra.relation import Relation
from ebbtide.core.schema import Schema


@dataclass(frozen=True, slots=True)
class Recurrence(Relation):
    """The facts of the recursion around it, of which others follow."""

    name: str
    columns: Schema

    def _derive(self) -> Schema:
        return self.columns


@dataclass(frozen=True, slots=True)
class Recursion(Relation):
    """The facts up to now that follow from others of them, each later than those.

    ``on`` is the time in which they are later.
    """

    name: str
    input: Relation
    on: str

    def _derive(self) -> Schema:
        self.input.schema.column(self.on)
        return self.input.schema

    @property
    def place(self) -> int:
        """Where the time stands by which facts follow one another."""
        return self.schema.position(self.on)
