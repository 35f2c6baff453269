"""Which times are there: the choices that NULLs make in a term.

Law: in a row where the variables of ``absent`` are NULL, those of ``optional`` may be, and all
others are not, a term is NULL or one of its choices' terms, which has no ``COALESCE`` and no absent
variable.  A choice also says which optional variables are there, or not, where it is taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import product
from typing import cast

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
    """A term to which another comes down, where some optional variables are there and some not."""

    term: Term
    present: frozenset[Var] = NO_VARIABLES
    absent: frozenset[Var] = NO_VARIABLES

    def within(self, other: Choice) -> Choice:
        """This choice's term, taken where the other choice is made too."""
        return Choice(self.term, self.present | other.present, self.absent | other.absent)

    @property
    def is_possible(self) -> bool:
        """Whether no variable is both there and not."""
        return not self.present & self.absent


def choices(
    term: Term, absent: frozenset[Var] = NO_VARIABLES, optional: frozenset[Var] = NO_VARIABLES
) -> tuple[Choice, ...]:
    """What a term can come down to; nothing if it is NULL for certain.

    >>> a, b = Var("", "a"), Var("", "b")
    >>> [str(choice.term) for choice in choices(Coalesce((a, b)), optional=frozenset({a}))]
    ['a', 'b']
    >>> [str(choice.term) for choice in choices(Greatest((a, b)), absent=frozenset({a}))]
    ['b']
    """

    def step(node: Term, below: tuple[tuple[Choice, ...], ...]) -> tuple[Choice, ...]:
        known = [options for options in below if options]
        match cast(AnyTerm, node):
            case Var() as variable:
                return () if variable in absent else (Choice(node),)
            case Const():
                return (Choice(node),)
            case Plus() | Floor() | Ceil():
                return tuple(
                    Choice(node.with_children((option.term,)), option.present, option.absent)
                    for option in (known[0] if known else ())
                )
            case Least():
                return tuple(_combined(Least, options) for options in product(*known) if options)
            case Greatest():
                return tuple(_combined(Greatest, options) for options in product(*known) if options)
            case Coalesce():
                return _first(known, optional)

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


def _combined(kind: type[Least] | type[Greatest], options: tuple[Choice, ...]) -> Choice:
    terms = tuple(option.term for option in options)
    chosen = Choice(terms[0] if len(terms) == 1 else kind(terms))
    return reduce(Choice.within, options, chosen)


def _first(known: list[tuple[Choice, ...]], optional: frozenset[Var]) -> tuple[Choice, ...]:
    found: list[Choice] = []
    before = Choice(Const(0))
    for options in known:
        for option in options:
            here = Choice(option.term, present=strict(option.term) & optional)
            found.append(here.within(option).within(before))
        if any(is_certain(option.term, NO_VARIABLES, optional) for option in options):
            break
        if len(options) == 1:
            # A term that is strict in a variable has no other, so to go on is to miss that one.
            before = Choice(before.term, absent=before.absent | strict(options[0].term))
    return tuple(found)
