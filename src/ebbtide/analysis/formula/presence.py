"""Which times are there: the choices that NULLs make in a term.

Law: in a row where the variables of ``absent`` are NULL, those of ``optional`` may be, and all
others are not, a term has the value of one of its choices, and the row is as that choice demands.
The terms of choices have no ``COALESCE`` and no absent variable.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import product
from typing import TypeAlias, cast

from ebbtide.analysis.formula.terms import (
    AnyTerm,
    Ceil,
    Coalesce,
    Const,
    Floor,
    Greatest,
    Least,
    Plus,
    Term,
    Var,
)
from ebbtide.core.tree import fold

NO_VARIABLES: frozenset[Var] = frozenset()


@dataclass(frozen=True, slots=True)
class Choice:
    """A term to which another comes down, None for NULL, in rows with some variables or without."""

    term: Term | None
    present: frozenset[Var] = NO_VARIABLES
    absent: frozenset[Var] = NO_VARIABLES

    def within(self, other: Choice) -> Choice:
        """This choice's term, taken where the other choice is made too."""
        return Choice(self.term, self.present | other.present, self.absent | other.absent)

    @property
    def is_possible(self) -> bool:
        """Whether no variable is both there and not."""
        return not self.present & self.absent


Choices: TypeAlias = tuple[Choice, ...]


def choices(
    term: Term, absent: frozenset[Var] = NO_VARIABLES, optional: frozenset[Var] = NO_VARIABLES
) -> Choices:
    """What a term can come down to.

    >>> a, b = Var("", "a"), Var("", "b")
    >>> [str(choice.term) for choice in choices(Coalesce((a, b)), optional=frozenset({a}))]
    ['a', 'b']
    >>> [str(choice.term) for choice in choices(Greatest((a, b)), absent=frozenset({a}))]
    ['b']
    """

    def step(node: Term, below: tuple[Choices, ...]) -> Choices:
        match cast(AnyTerm, node):
            case Var() as variable:
                return (Choice(None if variable in absent else node),)
            case Const():
                return (Choice(node),)
            case Plus() | Floor() | Ceil():
                return tuple(_around(node, choice) for choice in below[0])
            case Least():
                return tuple(_combined(Least, parts) for parts in product(*below))
            case Greatest():
                return tuple(_combined(Greatest, parts) for parts in product(*below))
            case Coalesce():
                return _first(below, optional)

    return tuple(choice for choice in fold(term, step) if choice.is_possible)


def strict(term: Term) -> frozenset[Var]:
    """Variables without which the term is NULL."""

    def step(node: Term, below: tuple[frozenset[Var], ...]) -> frozenset[Var]:
        match cast(AnyTerm, node):
            case Var() as variable:
                return frozenset({variable})
            case Const():
                return NO_VARIABLES
            case Plus() | Floor() | Ceil():
                return below[0]
            case Least() | Greatest() | Coalesce():
                return frozenset.intersection(*below)

    return fold(term, step)


def is_certain(term: Term, absent: frozenset[Var], optional: frozenset[Var]) -> bool:
    """Whether the term is no NULL."""

    def step(node: Term, below: tuple[bool, ...]) -> bool:
        match cast(AnyTerm, node):
            case Var() as variable:
                return variable not in absent and variable not in optional
            case Const():
                return True
            case Plus() | Floor() | Ceil() | Least() | Greatest() | Coalesce():
                return any(below)

    return fold(term, step)


def _around(node: Term, choice: Choice) -> Choice:
    if choice.term is None:
        return choice
    return Choice(node.with_children((choice.term,))).within(choice)


def _combined(kind: type[Least] | type[Greatest], parts: Choices) -> Choice:
    terms = tuple(part.term for part in parts if part.term is not None)
    found = Choice(kind(terms) if len(terms) > 1 else terms[0] if terms else None)
    return reduce(Choice.within, parts, found)


def _first(below: tuple[Choices, ...], optional: frozenset[Var]) -> Choices:
    """The choices of ``COALESCE``: each term where it is there and those before it are not."""
    found: list[Choice] = []
    missed = [Choice(None)]
    for options in below:
        still: list[Choice] = []
        for before, option in product(missed, options):
            here = option.within(before)
            if option.term is None:
                still.append(here)
                continue
            needed = strict(option.term) & optional
            found.append(here.within(Choice(None, present=needed)))
            if not is_certain(option.term, NO_VARIABLES, optional):
                # To go on is to miss what the term is strict in, which is one variable at most.
                still.append(Choice(None, absent=needed).within(here))
        missed = still
    return (*found, *missed)
