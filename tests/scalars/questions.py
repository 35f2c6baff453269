"""Which operands operators, casts and functions take, and the type that they then have.

A question is a text of SQL over the table `t`, and how Ebbtide builds the same. Spark's answers are
recorded in `spark_types.txt`, a line each; `tests/spark` asks Spark again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from ebbtide.algebra import coercion
from ebbtide.algebra.expression import Call, Expression, Literal
from ebbtide.algebra.printing import sql
from ebbtide.core.tree import find
from ebbtide.core.types import NULL, DecimalType
from ebbtide.errors import BindError
from scalars import Fails, T, col
from scalars.tables import SHARED

RECORD = Path(__file__).with_name("spark_types.txt")
REFUSED = "refused"

NAMES = [*(column.name for column in T if column.name not in ("n", "h")), "NULL"]

DECIMALS = [
    DecimalType(precision, scale)
    for precision, scale in ((1, 0), (5, 5), (10, 2), (20, 0), (20, 18), (38, 0), (38, 6), (38, 20))
]

SPELLED = {
    "RLIKE": "{} RLIKE {}",
    "BIT_AND": "{} & {}",
    "BIT_OR": "{} | {}",
    "BIT_XOR": "{} ^ {}",
    "BIT_NOT": "~{}",
    "SECOND_FRACTION": "EXTRACT(SECOND FROM {})",
    "YEAROFWEEK": "EXTRACT(YEAROFWEEK FROM {})",
}


@dataclass(frozen=True)
class Question:
    """A text, and how the same is built."""

    text: str
    build: Callable[[], Expression]

    @property
    def own(self) -> str:
        """The type of what is built."""
        try:
            return type_name(self.build().type.sql)
        except BindError:
            return REFUSED


def type_name(name: str) -> str:
    """A type's name without spaces; all intervals are one type here."""
    squeezed = name.lower().replace(" ", "")
    return re.sub(
        r"interval(day|hour|minute|second)(to(hour|minute|second))?", "interval", squeezed
    )


def recorded() -> dict[str, str]:
    """Spark's answers by the texts of the questions."""
    lines = RECORD.read_text(encoding="utf-8").splitlines()
    return dict(line.rsplit(" => ", 1) for line in lines)


def operand(name: str) -> Expression:
    """A column, or NULL."""
    return Literal(None, NULL) if name == "NULL" else col(name)


def questions() -> dict[str, Question]:
    """All questions by their texts."""
    found = (*_operators(), *_decimals(), *_casts(), *_alike(), *_arguments())
    return {question.text: question for question in found}


def _operators() -> Iterator[Question]:
    for op, a, b in product(("+", "-", "*", "/", "%", "DIV", "="), NAMES, NAMES):
        build = coercion.compare if op == "=" else coercion.arithmetic
        yield Question(
            f"{a} {op} {b}",
            lambda op=op, a=a, b=b, build=build: build(op, operand(a), operand(b)),
        )


def _decimals() -> Iterator[Question]:
    for op, a, b in product(("+", "*", "/", "%"), DECIMALS, DECIMALS):
        yield Question(
            f"CAST(NULL AS {a}) {op} CAST(NULL AS {b})",
            lambda op=op, a=a, b=b: coercion.arithmetic(op, Literal(None, a), Literal(None, b)),
        )
    for a, b in product(DECIMALS, DECIMALS):
        yield Question(
            f"COALESCE(CAST(NULL AS {a}), CAST(NULL AS {b}))",
            lambda a=a, b=b: coercion.call("COALESCE", (Literal(None, a), Literal(None, b))),
        )
    for a, digits in product(DECIMALS, (-3, 0, 1, 7)):
        yield Question(
            f"ROUND(CAST(NULL AS {a}), {digits})",
            lambda a=a, digits=digits: coercion.call(
                "ROUND", (Literal(None, a), Literal(digits, T.column("i").type))
            ),
        )


def _casts() -> Iterator[Question]:
    for a, to in product(NAMES, [column.type for column in T]):
        yield Question(f"CAST({a} AS {to})", lambda a=a, to=to: coercion.cast(operand(a), to))


def _alike() -> Iterator[Question]:
    for name, a, b in product(("COALESCE", "GREATEST", "ARRAY", "NULLIF", "CONCAT"), NAMES, NAMES):
        yield Question(
            f"{name}({a}, {b})",
            lambda name=name, a=a, b=b: coercion.call(name, (operand(a), operand(b))),
        )


def _arguments() -> Iterator[Question]:
    """In one call of each function, each argument in turn is of each type."""
    calls: dict[str, Call] = {}
    for case in SHARED:
        if not isinstance(case.expected, Fails):
            for call in find(case.expression, Call):
                calls.setdefault(call.name, call)
    for call in calls.values():
        for place, name in product(range(len(call.arguments)), NAMES):
            arguments = [*call.arguments]
            arguments[place] = operand(name)
            texts = [sql(argument) for argument in arguments]
            texts[place] = name
            spelled = SPELLED.get(call.name, f"{call.name}({', '.join('{}' for _ in texts)})")
            yield Question(
                spelled.format(*texts),
                lambda name=call.name, given=tuple(arguments): coercion.call(name, given),
            )
