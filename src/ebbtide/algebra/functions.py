"""The library of scalar functions: their names and types.

Law: a function is known by its upper-case name; its result type follows from the types of its
arguments alone, and a call with other types is refused.  What a function computes stands in the
reference evaluator and, once each, in every compiler of expressions; one conformance suite
compares them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ebbtide.core.types import Type
from ebbtide.errors import BindError


@dataclass(frozen=True, slots=True)
class Function:
    """A scalar function: its name, and its result type for the types of its arguments.

    ``adapt`` gives the types to which the arguments are implicitly cast before that.
    A ``strict`` function is NULL as soon as an argument is.
    """

    name: str
    result_type: Callable[[tuple[Type, ...]], Type]
    adapt: Callable[[tuple[Type, ...]], tuple[Type, ...]]
    strict: bool = True


FUNCTIONS: dict[str, Function] = {}


def function(name: str) -> Function:
    """The function of that name."""
    try:
        return FUNCTIONS[name]
    except KeyError:
        raise BindError("unknown-function", f'there is no function "{name}"') from None


def arithmetic_type(op: str, left: Type, right: Type) -> Type:
    """The type of ``left op right``, the rules of Spark SQL."""
    raise NotImplementedError
