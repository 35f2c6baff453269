"""Functions and expressions that choose; the truth values."""

import math
from itertools import product

from ebbtide.algebra import coercion
from scalars import Fails, cases, col, const, dec, f, op

FAILS = op(1, "/", op(col("i"), "-", col("i")))
# One each: what several operands of AND and OR have in common, Spark evaluates once, beforehand.
FAILS_TOO = op(2, "/", op(col("i"), "-", col("i")))
FAILS_AGAIN = op(3, "/", op(col("i"), "-", col("i")))
TRUTH = (True, False, None)


def _and(a, b):
    return False if a is False or b is False else None if a is None or b is None else True


def _or(a, b):
    return True if a is True or b is True else None if a is None or b is None else False


def truth(value):
    """A truth value that no optimizer knows."""
    known = {True: op(col("i"), "=", 3), False: op(col("i"), "=", 4), None: op(col("n"), "=", 3)}
    return known[value]


LOGIC = cases(
    *((coercion.and_(truth(a), truth(b)), _and(a, b)) for a, b in product(TRUTH, TRUTH)),
    *((coercion.or_(truth(a), truth(b)), _or(a, b)) for a, b in product(TRUTH, TRUTH)),
    *((coercion.not_(truth(a)), None if a is None else not a) for a in TRUTH),
    *((coercion.is_null(truth(a)), a is None) for a in TRUTH),
    (coercion.not_(coercion.is_null(col("n"))), False),
    (coercion.and_(const(None), truth(False)), False),
    (coercion.or_(truth(False), const("true")), True),
    (op(col("n"), "<=>", None), True),
    (op(col("i"), "<=>", col("n")), False),
    (op(col("i"), "<=>", 3), True),
    (op(col("n"), "=", 1), None),
    (op(None, "=", None), None),
    (coercion.in_list(col("i"), (const(3), const(None))), True),
    (coercion.in_list(col("i"), (const(1), const(None))), None),
    (coercion.in_list(col("n"), (const(1),)), None),
    (coercion.in_list(col("i"), (const(1), const("3"))), True),
    (coercion.in_list(col("i"), (const(1), const(dec("2.5")))), False),
    (coercion.not_(coercion.in_list(col("s"), (const("5"), const("6")))), False),
    (coercion.between(col("i"), const(1), const(3)), True),
    (coercion.between(col("i"), const(1), const(None)), None),
    (coercion.between(col("i"), const(4), const(None)), False),
    (coercion.between(col("i"), const("0"), const(dec("1.5"))), False),
)

CONDITIONS = cases(
    (f("COALESCE", None, col("n"), 7), 7),
    (f("COALESCE", None), None),
    (f("COALESCE", col("i"), col("s")), 3),
    (f("COALESCE", col("i"), FAILS), 3.0),
    (f("COALESCE", col("n"), dec("2.5")), dec("2.5")),
    (f("COALESCE", col("s"), col("i"), col("d")), dec("5.00")),
    (f("COALESCE", col("d"), col("s"), col("i")), 1.5),
    (f("COALESCE", col("a"), (1, None)), (1, 2, 3)),
    (f("NVL", None, 2), 2),
    (f("IFNULL", None, "a"), "a"),
    (f("NVL2", None, 1, 2), 2),
    (f("NVL2", col("i"), 1, dec("2.5")), dec("1.0")),
    (f("NULLIF", 1, 1), None),
    (f("NULLIF", col("i"), 2), 3),
    (f("NULLIF", col("i"), "3"), None),
    (f("NULLIF", col("i"), dec("2.5")), 3),
    (f("NULLIF", None, 1), None),
    (f("NULLIF", col("s"), 1), "5"),
    (f("IF", op(col("i"), "=", 3), 1, FAILS), 1.0),
    (f("IF", None, 1, 2), 2),
    (f("IF", op(col("n"), "=", 3), 1, 2), 2),
    (f("IF", truth(True), 1, "2"), 1),
    (f("IF", truth(True), None, None), None),
    (f("GREATEST", 1, None, 3), 3),
    (f("GREATEST", None, None), None),
    (f("GREATEST", 1.5, math.nan), math.nan),
    (f("GREATEST", col("i"), dec("2.5")), dec("3.0")),
    (f("GREATEST", (1, 2), (1,)), (1, 2)),
    (f("GREATEST", col("dt"), col("ts")), 1580428800000000),
    (f("LEAST", 1.5, math.nan), 1.5),
    (f("LEAST", 1, None, -1), -1),
    (f("LEAST", "b", "a"), "a"),
    (coercion.case(((truth(None), const(1)), (truth(True), const(2))), const(3)), 2),
    (coercion.case(((truth(False), const(1)),)), None),
    (coercion.case(((truth(False), FAILS), (truth(True), const(1)))), 1.0),
    (coercion.case(((truth(True), const(1)),), const(dec("2.5"))), dec("1.0")),
    (coercion.and_(truth(False), op(FAILS_TOO, "=", 1)), False),
    (coercion.or_(truth(True), op(FAILS_AGAIN, "=", 1)), True),
    (coercion.and_(truth(True), op(FAILS, "=", 1)), Fails("division-by-zero")),
)
