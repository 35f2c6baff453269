"""Whether an expression can be NULL.

Law: if ``nullable`` says no, the expression is not NULL on any row that its columns admit.
"""

from __future__ import annotations

from ebbtide.algebra.expression import (
    Call,
    Case,
    Cast,
    Comparison,
    Expression,
    Fails,
    Failure,
    Field,
    IsNull,
    Item,
    Literal,
    Ref,
    RowText,
    SnapshotTime,
    Succeeds,
    Tried,
)
from ebbtide.algebra.functions import function
from ebbtide.core.tree import fold


def nullable(expression: Expression) -> bool:
    """Whether the expression may be NULL on some row."""
    return fold(expression, _step)


def _step(node: Expression, children: tuple[bool, ...]) -> bool:
    match node:
        case Ref():
            return node.column.nullable
        case Literal():
            return node.value is None
        case IsNull() | SnapshotTime() | Fails() | Succeeds() | RowText():
            return False
        case Tried() | Failure():
            return True
        case Comparison(op="<=>"):
            return False
        case Case():
            return any(children[1 : 2 * len(node.branches) : 2]) or children[-1]
        case Cast(safe=True):
            return True
        case Call():
            signature = function(node.name)
            if node.name in ("COALESCE", "GREATEST", "LEAST"):
                return all(children)
            if node.name in ("ARRAY", "STRUCT"):
                return False
            if node.name == "CONCAT_WS":
                return children[0]
            return signature.may_be_null or not signature.strict or any(children)
        case Field() | Item():
            # A type does not say whether what it holds inside can be NULL.
            return True
        case _:
            return any(children)
