"""A scalar expression as SQL.

Law: the text, read back, is the same expression; Spark SQL reads it too, but for FLOOR and CEIL
of times.  Parentheses stand only where the text would otherwise mean something else, or where
people are in doubt (after NOT, and around comparisons in comparisons).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, assert_never

from ebbtide.algebra.arithmetic import rounded_type
from ebbtide.algebra.expression import (
    And,
    Arithmetic,
    Call,
    Case,
    Cast,
    CeilTo,
    Comparison,
    Expression,
    Fails,
    Failure,
    Field,
    FloorTo,
    InList,
    IsNull,
    Item,
    Like,
    Literal,
    Negation,
    Not,
    Or,
    Ref,
    RowText,
    SnapshotTime,
    Succeeds,
    Tried,
    conjuncts,
)
from ebbtide.algebra.identifiers import identifier, type_text
from ebbtide.algebra.literal_text import literal_text, string_text, struct_text
from ebbtide.algebra.scalars import Scalar, scalar
from ebbtide.core.schema import Column
from ebbtide.core.time import format_duration
from ebbtide.core.tree import fold
from ebbtide.core.types import DecimalType, StructType, Type, is_numeric

__all__ = ["identifier", "sql"]

# How tightly an operator binds.
OR, AND, NOT, PREDICATE, BITS, SUM, PRODUCT, SIGN, PRIMARY = range(1, 10)

_ARITHMETIC = {"+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT, "%": PRODUCT, "DIV": PRODUCT}
_BITS = {"BIT_AND": "&", "BIT_OR": "|", "BIT_XOR": "^"}
_FIELDS = {"SECOND_FRACTION": "SECOND", "YEAROFWEEK": "YEAROFWEEK"}
_TRIMS = {"TRIM": "BOTH", "LTRIM": "LEADING", "RTRIM": "TRAILING"}


class _Text(NamedTuple):
    """A text, how tightly it binds, and how its negation is written if not with NOT in front.

    ``parts`` are the texts of the values of a struct.
    """

    text: str
    level: int = PRIMARY
    negated: str | None = None
    parts: tuple[str, ...] = ()

    def at(self, level: int) -> str:
        """The text as an operand that must bind at least so tightly."""
        return self.text if self.level >= level else f"({self.text})"


def sql(expression: Expression, made: Callable[[Column], str | None] | None = None) -> str:
    """The SQL text of an expression; ``made`` gives the text of columns that have no name in SQL.

    >>> from ebbtide.algebra.expression import literal
    >>> sql(Arithmetic("*", Arithmetic("+", literal(1), literal(2)), literal(-3)))
    '(1 + 2) * -3'
    """

    def step(node: Expression, below: tuple[_Text, ...]) -> _Text:
        text = made(node.column) if made is not None and isinstance(node, Ref) else None
        return _printed(scalar(node), below) if text is None else _Text(text)

    return fold(expression, step).text


def _printed(node: Scalar, below: tuple[_Text, ...]) -> _Text:
    match node:
        case Ref():
            names = (node.column.table, node.column.name)
            return _Text(".".join(identifier(name) for name in names if name is not None))
        case Literal():
            return _literal(node)
        case SnapshotTime():
            return _Text("NOW()")
        case Arithmetic():
            return _infix(node.op, _ARITHMETIC[node.op], below)
        case Negation():
            return _Text(f"-{_negated_operand(node, below[0])}", SIGN)
        case And():
            return _infix("AND", AND, below)
        case Or():
            return _infix("OR", OR, below)
        case Not():
            return _Text(below[0].negated or f"NOT {below[0].at(PRIMARY)}", _not_level(below[0]))
        case Comparison() | IsNull() | InList() | Like():
            return _predicate(node, below)
        case Case():
            return _case(node, below)
        case Cast():
            return _cast(node, below[0])
        case FloorTo():
            return _Text(f"FLOOR({below[0].text} TO {format_duration(node.grid_us)})")
        case CeilTo():
            return _Text(f"CEIL({below[0].text} TO {format_duration(node.grid_us)})")
        case Field():
            return _Text(f"{below[0].at(PRIMARY)}.{identifier(node.name)}")
        case Item():
            return _Text(f"{below[0].at(PRIMARY)}[{below[1].text}]")
        case Call():
            return _call(node, below)
        case Tried():
            return _Text(f"TRY({below[0].text})")
        case Fails():
            return _Text(f"FITS({node.text})")
        case Succeeds():
            told = ", ".join(text.text for text in below[: len(node.operands)])
            return _Text(f"NO ERROR IN ({told})", PREDICATE, f"ERROR IN ({told})")
        case Failure():
            return _Text(f"ERROR_OF({', '.join(map(sql, node.probe.operands))})")
        case RowText():
            return _Text(f"ROW({', '.join(text.text for text in below)})")
        case _:
            assert_never(node)


def _literal(node: Literal) -> _Text:
    text = literal_text(node.value, node.of)
    return _Text(text, SIGN if text.startswith("-") else PRIMARY)


def _infix(op: str, level: int, below: tuple[_Text, ...]) -> _Text:
    """A left-associative operator."""
    return _Text(f"{below[0].at(level)} {op} {below[1].at(level + 1)}", level)


def _negated_operand(node: Negation, operand: _Text) -> str:
    # A minus sign before a number would make it another number.
    number = isinstance(node.operand, Literal) and is_numeric(node.operand.type)
    return f"({operand.text})" if number else operand.at(PRIMARY)


def _not_level(operand: _Text) -> int:
    return NOT if operand.negated is None else PREDICATE


def _predicate(node: Comparison | IsNull | InList | Like, below: tuple[_Text, ...]) -> _Text:
    first = below[0].at(BITS)
    match node:
        case Comparison():
            return _Text(f"{first} {node.op} {below[1].at(BITS)}", PREDICATE)
        case IsNull():
            return _Text(f"{first} IS NULL", PREDICATE, f"{first} IS NOT NULL")
        case InList():
            rest = f"IN ({', '.join(option.at(PREDICATE) for option in below[1:])})"
        case Like():
            escape = "" if node.escape == "\\" else f" ESCAPE {string_text(node.escape)}"
            rest = f"LIKE {below[1].at(BITS)}{escape}"
        case _:
            assert_never(node)
    return _Text(f"{first} {rest}", PREDICATE, f"{first} NOT {rest}")


def _case(node: Case, below: tuple[_Text, ...]) -> _Text:
    if all(isinstance(term, Fails) for term in conjuncts(node.branches[0][0])):
        return below[-1]  # a value that is read once it is known that there is no error in it
    branches = " ".join(
        f"WHEN {below[place].text} THEN {below[place + 1].text}"
        for place in range(0, len(below) - 1, 2)
    )
    bare = isinstance(node.otherwise, Literal) and node.otherwise.value is None
    otherwise = "" if bare else f" ELSE {below[-1].text}"
    return _Text(f"CASE {branches}{otherwise} END")


def _cast(node: Cast, operand: _Text) -> _Text:
    if isinstance(node.operand, Call) and not node.safe and _is_part_of_call(node.operand, node.to):
        arguments = tuple(sql(argument) for argument in node.operand.arguments)
        if isinstance(node.to, StructType):
            return _Text(struct_text(node.to, arguments))
        return _Text(f"{node.operand.name}({', '.join(arguments)})")
    word = "TRY_CAST" if node.safe else "CAST"
    return _Text(f"{word}({operand.text} AS {type_text(node.to)})")


def _is_part_of_call(call: Call, to: Type) -> bool:
    """Whether a cast is what SQL's own form of the call means."""
    if call.name == "STRUCT" and isinstance(to, StructType):
        return tuple(of for _, of in to.fields) == tuple(a.type for a in call.arguments)
    return to == sql_round_type(call)


def sql_round_type(call: Expression) -> DecimalType | None:
    """The type that ROUND of a decimal has in SQL, which depends on the number of digits."""
    match call:
        case Call(name="ROUND", arguments=(value, *rest)) if isinstance(value.type, DecimalType):
            digits = rest[0].value if rest and isinstance(rest[0], Literal) else 0
            return rounded_type(value.type, digits or 0)
        case _:
            return None


def _call(node: Call, below: tuple[_Text, ...]) -> _Text:
    texts = tuple(argument.text for argument in below)
    if node.name == "STRUCT" and isinstance(node.type, StructType):
        return _Text(struct_text(node.type, texts), parts=texts)
    if node.name == "RLIKE":
        return _Text(f"{below[0].at(BITS)} RLIKE {below[1].at(BITS)}", PREDICATE)
    if node.name in _BITS:
        return _Text(f"{below[0].at(SUM)} {_BITS[node.name]} {below[1].at(SUM)}", BITS)
    if node.name == "BIT_NOT":
        return _Text(f"~{below[0].at(PRIMARY)}", SIGN)
    if node.name in _FIELDS:
        return _Text(f"EXTRACT({_FIELDS[node.name]} FROM {below[0].at(BITS)})")
    if node.name in _TRIMS and len(below) == 2:
        return _Text(f"TRIM({_TRIMS[node.name]} {below[1].at(BITS)} FROM {below[0].at(BITS)})")
    rounded = sql_round_type(node)
    text = f"{node.name}({', '.join(texts)})"
    return _Text(text if rounded in (None, node.type) else f"CAST({text} AS {node.type})")
