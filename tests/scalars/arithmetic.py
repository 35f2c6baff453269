"""Arithmetic and comparison of numbers."""

import math

from ebbtide.algebra import coercion
from scalars import Fails, cases, col, const, dec, f, op, to

MAX = const(2147483647)
BIG = const(dec("9" * 38))


def wide(text, type_):
    """A decimal of a wider type than its digits need."""
    return const(dec(text), type_)


ARITHMETIC = cases(
    (op(col("i"), "+", col("b")), 7),
    (op(col("y"), "+", col("h")), 3),
    (op(col("i"), "-", 5), -2),
    (op(col("b"), "*", col("i")), 12),
    (op(col("i"), "/", 2), 1.5),
    (op(col("y"), "/", col("b")), 0.25),
    (op(col("i"), "DIV", 2), 1),
    (op(-7, "DIV", 2), -3),
    (op(-7, "%", 2), -1),
    (op(7, "%", -2), 1),
    (op(MAX, "+", 1), Fails("overflow")),
    (op(MAX, "+", const(1, "BIGINT")), 2147483648),
    (op(const(127, "TINYINT"), "+", const(1, "TINYINT")), Fails("overflow")),
    (op(const(-(2**63), "BIGINT"), "DIV", -1), Fails("overflow")),
    (op(const(-(2**63), "BIGINT"), "%", -1), 0),
    (op(const(2**62, "BIGINT"), "*", 2), Fails("overflow")),
    (op(1, "/", op(col("i"), "-", 3)), Fails("division-by-zero")),
    (op(1, "%", op(col("i"), "-", 3)), Fails("division-by-zero")),
    (op(1, "DIV", op(col("i"), "-", 3)), Fails("division-by-zero")),
    (op(col("f"), "/", 0.0), Fails("division-by-zero")),
    (op(col("f"), "%", 0.0), Fails("division-by-zero")),
    (op(col("f"), "%", 2), 0.5),
    (op(-5.5, "%", 2), -1.5),
    (op(1e308, "*", 10.0), math.inf),
    (op(math.inf, "-", math.inf), math.nan),
    (op(math.inf, "%", 2.0), math.nan),
    (op(col("f"), "+", col("d")), 4.0),
    (op(col("f"), "+", col("n")), None),
    (op(col("s"), "+", col("i")), 8),
    (op(col("s"), "+", col("d")), 6.5),
    (op("1", "/", 2), 0.5),
    (op("7", "DIV", 2), 3),
    (op(None, "+", None), None),
    (op(None, "*", 2), None),
    (coercion.negate(col("i")), -3),
    (coercion.negate(col("d")), dec("-1.50")),
    (coercion.negate(col("iv")), -86_401_000_000),
    (coercion.negate(to(col("i"), "DOUBLE")), -3.0),
    (coercion.negate(coercion.negate(col("i"))), 3),
    (coercion.negate(const(-128, "TINYINT")), Fails("overflow")),
    (op(col("i"), "-", coercion.negate(col("i"))), 6),
)

DECIMALS = cases(
    (op(dec("1.5"), "+", dec("2.25")), dec("3.75")),
    (op(dec("1.5"), "-", dec("2.25")), dec("-0.75")),
    (op(dec("1.5"), "*", dec("2.25")), dec("3.375")),
    (op(col("d"), "/", 5), dec("0.300000")),
    (op(col("i"), "/", col("d")), dec("2.000000")),
    (op(5, "/", dec("2.0")), dec("2.500000")),
    (op(1, "+", dec("1.5")), dec("2.5")),
    (op(col("d"), "*", col("i")), dec("4.50")),
    (op(col("d"), "*", 5), dec("7.50")),
    (op(col("b"), "+", col("d")), dec("5.50")),
    (op(wide("2.00", "DECIMAL(10, 2)"), "/", wide("3.0", "DECIMAL(5, 1)")), dec("0.66666667")),
    (op(wide("7.50", "DECIMAL(10, 2)"), "%", wide("2.0", "DECIMAL(5, 1)")), dec("1.50")),
    (op(wide("-7.50", "DECIMAL(10, 2)"), "%", wide("2.0", "DECIMAL(5, 1)")), dec("-1.50")),
    (op(wide("7.50", "DECIMAL(10, 2)"), "DIV", wide("2.0", "DECIMAL(5, 1)")), 3),
    (
        op(
            wide("1.23456789012345678901234567890", "DECIMAL(38, 29)"),
            "*",
            wide("9.8765432100", "DECIMAL(20, 10)"),
        ),
        dec("12.193263112482853211"),
    ),
    (
        op(wide("1.0000000000", "DECIMAL(38, 10)"), "/", wide("3.0000000000", "DECIMAL(38, 10)")),
        dec("0.333333"),
    ),
    (op(wide("1", "DECIMAL(38, 0)"), "/", 3), dec("0.333333")),
    (op(BIG, "+", 1), Fails("overflow")),
    (op(BIG, "*", 10), Fails("overflow")),
    (op(BIG, "-", BIG), dec("0")),
    (op(dec("1.0"), "/", op(col("d"), "-", col("d"))), Fails("division-by-zero")),
    (op(dec("1.0"), "%", op(col("d"), "-", col("d"))), Fails("division-by-zero")),
    (op(col("d"), "+", col("n")), None),
)

COMPARISONS = cases(
    (op(col("i"), "<", 5), True),
    (op(col("b"), ">=", 4), True),
    (op(col("b"), "<>", col("i")), True),
    (op(col("d"), "=", dec("1.5")), True),
    (op(col("d"), "<", 5), True),
    (op(col("d"), "<", 123456), True),
    (op(col("d"), ">", col("f")), False),
    (op(1, "=", dec("1.0")), True),
    (op(col("i"), "=", "3"), True),
    (op(col("s"), "=", 5), True),
    (op(col("s"), "<", "50"), True),
    (op(col("o"), "=", "true"), True),
    (op(col("o"), ">", False), True),
    (op(col("x"), "=", b"\x01\x02"), True),
    (op(col("x"), "<", "a"), True),
    (op(math.nan, "=", math.nan), True),
    (op(math.nan, ">", math.inf), True),
    (op(0.0, "=", -0.0), True),
    (op(col("f"), "<=", math.nan), True),
    (op("a", "<", "B"), False),
    (op("é", ">", "z"), True),
    (op("\ufffd", "<", "😀"), True),
    (op(op(col("i"), "=", 3), "=", op(col("b"), "=", 4)), True),
    (op(col("i"), "=", f("ABS", -3)), True),
    (op(col("n"), "<", 1), None),
)
