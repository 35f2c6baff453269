"""Constructors of expressions that insert the casts which SQL leaves out.

Law: what they build has the types that Spark SQL gives the same text in ANSI mode, and its nodes
get operands of exactly the types that they demand.  A constant is not cast: it becomes a constant
of the wanted type, so that a comparison of a column with a constant stays one.

What has no meaning is a ``BindError`` with the code ``type-mismatch``.
"""

from __future__ import annotations

from ebbtide.algebra.casts import as_timestamp, cast, coerce
from ebbtide.algebra.expression import Expression
from ebbtide.algebra.forms import FORM_MAKERS, OWN_MAKERS, plain_call, struct
from ebbtide.algebra.functions import canonical
from ebbtide.algebra.operand_types import (
    and_,
    arithmetic,
    between,
    case,
    compare,
    in_list,
    is_null,
    like,
    negate,
    not_,
    or_,
)
from ebbtide.algebra.type_rules import can_cast, common_type

__all__ = [
    "and_",
    "arithmetic",
    "as_timestamp",
    "between",
    "call",
    "can_cast",
    "case",
    "cast",
    "coerce",
    "common_type",
    "compare",
    "in_list",
    "is_null",
    "like",
    "negate",
    "not_",
    "or_",
    "struct",
]


def call(name: str, arguments: tuple[Expression, ...]) -> Expression:
    """A call of a function, an alias or a form, by its name in any case.

    >>> from ebbtide.algebra.expression import literal
    >>> from ebbtide.algebra.printing import sql
    >>> sql(call("substr", (literal("tide"), literal(2))))
    "SUBSTRING('tide', 2)"
    """
    known = canonical(name)
    make = FORM_MAKERS.get(known) or OWN_MAKERS.get(known)
    return plain_call(known, arguments) if make is None else make(arguments)
