"""What a function is, and the words in which the library declares one.

Law: ``adapt`` says to which types the arguments are implicitly cast, and changes nothing when
applied twice; ``result_type`` is defined exactly on the types that ``adapt`` leaves alone.

A parameter is a function from the type of the argument to the type that it is taken for, or
None if it is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from ebbtide.algebra.type_rules import can_coerce, common_type_of
from ebbtide.core.types import (
    BINARY,
    DATE,
    DOUBLE,
    INTERVAL,
    STRING,
    TIMESTAMP,
    ArrayType,
    NullType,
    Type,
    is_numeric,
)
from ebbtide.core.values import Value
from ebbtide.errors import BindError

Types: TypeAlias = tuple[Type, ...]
Parameter: TypeAlias = Callable[[Type], Type | None]
Meaning: TypeAlias = Callable[..., Value]


@dataclass(frozen=True, slots=True)
class Function:
    """A scalar function: its name, and its result type for the types of its arguments.

    ``adapt`` gives the types to which the arguments are implicitly cast before that.
    A ``strict`` function is NULL as soon as an argument is; one that ``may_be_null`` is NULL on
    other values too.  ``usage`` and ``summary`` are for people.

    ``meaning`` is what the function computes, as plain Python on values, for the reference alone:
    whatever is judged by it computes the same in its own way.  A function whose value depends on
    more than the values of its arguments has its meaning in ``reference.functions``.
    """

    name: str
    result_type: Callable[[Types], Type]
    adapt: Callable[[Types], Types]
    strict: bool = True
    may_be_null: bool = False
    family: str = ""
    usage: str = ""
    summary: str = ""
    meaning: Meaning | None = None


@dataclass(frozen=True, slots=True)
class Form:
    """A name that is called like a function and stands for an expression of other nodes."""

    name: str
    family: str
    usage: str
    summary: str


def name_of(usage: str) -> str:
    """The name in front of the parenthesis of a usage."""
    return usage.partition("(")[0]


def form(family: str, usage: str, summary: str) -> Form:
    """A form, named by its usage."""
    return Form(name_of(usage), family, usage, summary)


def define(
    family: str,
    usage: str,
    summary: str,
    parameters: tuple[Parameter, ...],
    result: Type | Callable[[Types], Type],
    *,
    optional: int = 0,
    rest: Parameter | None = None,
    strict: bool = True,
    may_be_null: bool = False,
    meaning: Meaning | None = None,
) -> Function:
    """A function whose parameters are adapted each for itself.

    The last ``optional`` parameters may be left out; any number of ``rest`` may follow.
    """
    least, most = len(parameters) - optional, len(parameters)

    def adapt(types: Types) -> Types:
        check_count(usage, types, least, None if rest else most)
        wanted = (*parameters, *([rest] * (len(types) - most) if rest else ()))
        return tuple(
            _adapted(usage, number, given, parameter)
            for number, (given, parameter) in enumerate(zip(types, wanted, strict=False), 1)
        )

    return custom(
        family,
        usage,
        summary,
        adapt,
        result,
        strict=strict,
        may_be_null=may_be_null,
        meaning=meaning,
    )


def alike(
    family: str,
    usage: str,
    summary: str,
    result: Type | Callable[[Types], Type],
    *,
    least: int = 1,
    strings: bool = True,
    strict: bool = True,
    meaning: Meaning | None = None,
) -> Function:
    """A function of any number of arguments that are cast to their common type."""

    def adapt(types: Types) -> Types:
        check_count(usage, types, least, None)
        common = common_type_of(types, strings=strings)
        if common is None:
            raise BindError(
                "type-mismatch",
                f"{usage} needs arguments of one type",
                detail=", ".join(map(str, types)),
            )
        return (common,) * len(types)

    return custom(family, usage, summary, adapt, result, strict=strict, meaning=meaning)


def custom(
    family: str,
    usage: str,
    summary: str,
    adapt: Callable[[Types], Types],
    result: Type | Callable[[Types], Type],
    *,
    strict: bool = True,
    may_be_null: bool = False,
    meaning: Meaning | None = None,
) -> Function:
    """A function with a rule of its own for its arguments."""

    def result_type(types: Types) -> Type:
        if adapt(types) != types:
            raise BindError(
                "type-mismatch",
                f"{usage} is not defined on ({', '.join(map(str, types))})",
                detail=f"it takes ({', '.join(map(str, adapt(types)))})",
            )
        return result if isinstance(result, Type) else result(types)

    name = name_of(usage)
    return Function(name, result_type, adapt, strict, may_be_null, family, usage, summary, meaning)


def check_count(usage: str, types: Types, least: int, most: int | None) -> None:
    """Refuses a call with too few or too many arguments."""
    if len(types) < least or (most is not None and len(types) > most):
        raise BindError(
            "wrong-arguments",
            f"{name_of(usage)} cannot have {len(types)} arguments",
            hint=usage,
        )


def _adapted(usage: str, number: int, given: Type, parameter: Parameter) -> Type:
    wanted = parameter(given)
    if wanted is None:
        raise BindError(
            "type-mismatch", f"argument {number} of {name_of(usage)} cannot be {given}", hint=usage
        )
    return wanted


def exactly(type_: Type) -> Parameter:
    """A parameter of one type; what is implicitly cast to it is."""
    return lambda given: type_ if can_coerce(given, type_) else None


def only(type_: Type) -> Parameter:
    """A parameter of one type; nothing but NULL is implicitly cast to it."""
    return lambda given: type_ if given == type_ or isinstance(given, NullType) else None


def text_or_bytes(given: Type) -> Type | None:
    """BINARY as it is; all else is text."""
    return BINARY if given == BINARY else exactly(STRING)(given)


def number(given: Type) -> Type | None:
    """Any number; a string or NULL is a DOUBLE."""
    return given if is_numeric(given) else exactly(DOUBLE)(given)


def number_or_interval(given: Type) -> Type | None:
    """Any number or a duration."""
    return given if given == INTERVAL else number(given)


def day(given: Type) -> Type | None:
    """A DATE, or the day of a TIMESTAMP."""
    return given if given in (DATE, TIMESTAMP) else exactly(DATE)(given)


def array(given: Type) -> Type | None:
    """An array of anything."""
    if isinstance(given, NullType):
        return ArrayType(given)
    return given if isinstance(given, ArrayType) else None


def first(types: Types) -> Type:
    """The type of the first argument, as a result."""
    return types[0]
