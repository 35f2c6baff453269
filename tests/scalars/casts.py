"""Casts: of constants, where they are folded, and of expressions that no one folds."""

import math

from ebbtide.algebra.expression import Cast, Literal
from ebbtide.core.types import STRING, type_from_sql
from scalars import Fails, at, cases, col, const, day, dec, f, to


def read(text, type_, safe=False):
    """A cast of a text that is left for the evaluator."""
    return Cast(Literal(text, STRING), type_from_sql(type_), safe)


def opaque(value, type_):
    """A cast of a constant that is left for the evaluator."""
    return Cast(const(value), type_from_sql(type_))


BAD = Fails("bad-cast")
OVERFLOW = Fails("overflow")

TO_NUMBERS = cases(
    (read(" 12 ", "INT"), 12),
    (read("+12", "INT"), 12),
    (read("\t-12\n", "BIGINT"), -12),
    (read("1.5", "INT"), BAD),
    (read("1e2", "INT"), BAD),
    (read("", "INT"), BAD),
    (read("12L", "INT"), BAD),
    (read("٣", "INT"), BAD),
    (read("\u00a012", "INT"), BAD),
    (read("2147483648", "INT"), BAD),
    (read("-2147483648", "INT"), -2147483648),
    (read("x", "INT", True), None),
    (read(" 1.5e3 ", "DOUBLE"), 1500.0),
    (read("1d", "DOUBLE"), 1.0),
    (read(".5", "DOUBLE"), 0.5),
    (read("5.", "DOUBLE"), 5.0),
    (read("inf", "DOUBLE"), math.inf),
    (read("-Infinity", "DOUBLE"), -math.inf),
    (read("NaN", "DOUBLE"), math.nan),
    (read("1_0", "DOUBLE"), BAD),
    (read("", "DOUBLE"), BAD),
    (read("1.55", "DECIMAL(5, 1)"), dec("1.6")),
    (read("-1.55", "DECIMAL(5, 1)"), dec("-1.6")),
    (read("1e2", "DECIMAL(5, 1)"), dec("100.0")),
    (read(" 5. ", "DECIMAL(5, 1)"), dec("5.0")),
    (read("99999.95", "DECIMAL(5, 1)"), OVERFLOW),
    (read("9" * 38, "DECIMAL(38, 0)"), dec("9" * 38)),
    (read("x", "DECIMAL(5, 1)"), BAD),
    (read("inf", "DECIMAL(5, 1)"), BAD),
    (to(True, "INT"), 1),
    (to(True, "DOUBLE"), 1.0),
    (to(col("o"), "DECIMAL(5, 1)"), dec("1.0")),
    (to(1.9, "INT"), 1),
    (to(-1.9, "INT"), -1),
    (to(2147483647.9, "INT"), 2147483647),
    (to(2147483648.0, "INT"), OVERFLOW),
    (to(math.nan, "INT"), OVERFLOW),
    (to(math.inf, "BIGINT"), OVERFLOW),
    (to(127.9, "TINYINT"), 127),
    (to(128.0, "TINYINT"), OVERFLOW),
    (to(-128.9, "TINYINT"), -128),
    (to(300, "TINYINT"), OVERFLOW),
    (to(300, "TINYINT", True), None),
    (to(dec("1.99"), "INT"), 1),
    (to(dec("-1.99"), "INT"), -1),
    (to(dec("99999999999.5"), "INT"), OVERFLOW),
    (to(1.25, "DECIMAL(5, 1)"), dec("1.3")),
    (to(1.35, "DECIMAL(5, 1)"), dec("1.4")),
    (to(0.1, "DECIMAL(38, 30)"), dec("0.100000000000000000000000000000")),
    (to(1e37, "DECIMAL(38, 2)"), OVERFLOW),
    (to(123456, "DECIMAL(5, 1)"), OVERFLOW),
    (to(col("d"), "DECIMAL(4, 1)"), dec("1.5")),
    (to(col("d"), "DOUBLE"), 1.5),
    (to(col("b"), "TINYINT"), 4),
    (to(col("ts"), "BIGINT"), 1577934245),
    (to(col("ts"), "INT"), 1577934245),
    (to(col("ts"), "TINYINT"), OVERFLOW),
    (to(col("ts"), "DOUBLE"), 1577934245.5),
    (to(col("ts"), "DECIMAL(20, 3)"), dec("1577934245.500")),
    (to(col("ts"), "DECIMAL(5, 1)"), OVERFLOW),
    (opaque(f("TIMESTAMP_MILLIS", -500), "BIGINT"), -1),
    (opaque(f("TIMESTAMP_MILLIS", -500), "DOUBLE"), -0.5),
    (to(col("iv"), "BIGINT"), 86401),
    (to(col("iv"), "DECIMAL(10, 1)"), dec("86401.0")),
)

TO_TEXT = cases(
    (to(1e10, "STRING"), "1.0E10"),
    (to(1e7, "STRING"), "1.0E7"),
    (to(9999999.0, "STRING"), "9999999.0"),
    (to(0.001, "STRING"), "0.001"),
    (to(0.0001, "STRING"), "1.0E-4"),
    (to(123456789.125, "STRING"), "1.23456789125E8"),
    (to(-math.inf, "STRING"), "-Infinity"),
    (to(math.nan, "STRING"), "NaN"),
    (to(0.0, "STRING"), "0.0"),
    (to(col("f"), "STRING"), "2.5"),
    (to(-1.5, "STRING"), "-1.5"),
    (to(dec("0.0000000001"), "STRING"), "0.0000000001"),
    (to(col("d"), "STRING"), "1.50"),
    (to(col("o"), "STRING"), "true"),
    (to(col("i"), "STRING"), "3"),
    (to(col("ts"), "STRING"), "2020-01-02 03:04:05.5"),
    (to(col("dt"), "STRING"), "2020-01-31"),
    (to(col("iv"), "STRING"), "INTERVAL '1 00:00:01' DAY TO SECOND"),
    (to(f("ABS", col("iv")), "STRING"), "INTERVAL '1 00:00:01' DAY TO SECOND"),
    (to(b"abc", "STRING"), "abc"),
    (to(col("a"), "STRING"), "[1, 2, 3]"),
    (to(col("st"), "STRING"), "{7, q}"),
    (to((("a", None), None), "STRING"), "[[a, null], null]"),
    (to("é", "BINARY"), b"\xc3\xa9"),
)

TO_TRUTH = cases(
    *((read(word, "BOOLEAN"), True) for word in ("true", "T", "yes", " y ", "1")),
    *((read(word, "BOOLEAN"), False) for word in ("false", "F", "no", "n", "0")),
    (read("on", "BOOLEAN"), BAD),
    (read("", "BOOLEAN"), BAD),
    (to(0, "BOOLEAN"), False),
    (to(col("d"), "BOOLEAN"), True),
    (to(math.nan, "BOOLEAN"), True),
)

TO_TIMES = cases(
    (read("2020", "DATE"), day("2020-01-01")),
    (read("2020-1", "DATE"), day("2020-01-01")),
    (read(" 2020-1-2 ", "DATE"), day("2020-01-02")),
    (read("2020-01-02 anything", "DATE"), day("2020-01-02")),
    (read("2020-01-02Tfoo", "DATE"), day("2020-01-02")),
    (read("+02020-01-02", "DATE"), day("2020-01-02")),
    (read("2020-02-30", "DATE"), BAD),
    (read("20200102", "DATE"), BAD),
    (read("202-01-02", "DATE"), BAD),
    (read("2020-01-", "DATE"), BAD),
    (to(col("ts"), "DATE"), day("2020-01-02")),
    (opaque(f("TIMESTAMP_MILLIS", -500), "DATE"), day("1969-12-31")),
    (read("2020", "TIMESTAMP"), at("2020-01-01 00:00:00")),
    (read("2020-1-2", "TIMESTAMP"), at("2020-01-02 00:00:00")),
    (read("2020-01-02 3", "TIMESTAMP"), at("2020-01-02 03:00:00")),
    (read("2020-01-02 3:4", "TIMESTAMP"), at("2020-01-02 03:04:00")),
    (read("2020-01-02 3:4:5", "TIMESTAMP"), at("2020-01-02 03:04:05")),
    (read("2020-01-02 03:04:05.1234567", "TIMESTAMP"), at("2020-01-02 03:04:05.123456")),
    (read("2020-01-02 03:04:05.", "TIMESTAMP"), at("2020-01-02 03:04:05")),
    (read("2020-01-02T03:04:05Z", "TIMESTAMP"), at("2020-01-02 03:04:05")),
    (read("2020-01-02 03:04:05+02:00", "TIMESTAMP"), at("2020-01-02 01:04:05")),
    (read("2020-01-02 03:04:05 +2", "TIMESTAMP"), at("2020-01-02 01:04:05")),
    (read("2020-01-02 03:04:05-02:30", "TIMESTAMP"), at("2020-01-02 05:34:05")),
    (read("2020-01-02 03:04:05 UTC+3", "TIMESTAMP"), at("2020-01-02 00:04:05")),
    (read("2020-01-02 03:04:05 Europe/Paris", "TIMESTAMP"), at("2020-01-02 02:04:05")),
    (read("2020-01-02 03:04:05+19:00", "TIMESTAMP"), BAD),
    (read("2020-01-02 03:04Z", "TIMESTAMP"), BAD),
    (read("2020-01-02T", "TIMESTAMP"), BAD),
    (read("2020-01-02 24:00:00", "TIMESTAMP"), BAD),
    (read("2020-01-02  03:04", "TIMESTAMP"), BAD),
    (read("2020-01-02 003:04:05", "TIMESTAMP"), BAD),
    (to(col("dt"), "TIMESTAMP"), at("2020-01-31 00:00:00")),
    (to(5, "TIMESTAMP"), 5_000_000),
    (to(1.5, "TIMESTAMP"), 1_500_000),
    (to(-1.0000005, "TIMESTAMP"), -1_000_000),
    (to(dec("1.0000009"), "TIMESTAMP"), 1_000_000),
    (to(dec("0." + "9" * 32), "TIMESTAMP"), 999_999),
    (to(math.nan, "TIMESTAMP"), BAD),
    (to(1e305, "TIMESTAMP"), OVERFLOW),
    (to(1e30, "TIMESTAMP"), OVERFLOW),
    (to(1e30, "TIMESTAMP", True), None),
    (read("1 02:03:04.5", "INTERVAL DAY TO SECOND"), 93_784_500_000),
    (read("-1 2:3:4", "INTERVAL DAY TO SECOND"), -93_784_000_000),
    (read("INTERVAL '1 02:03:04' DAY TO SECOND", "INTERVAL DAY TO SECOND"), 93_784_000_000),
    (read("1", "INTERVAL DAY TO SECOND"), BAD),
    (read("15 minutes", "INTERVAL DAY TO SECOND"), BAD),
    (to(col("i"), "INTERVAL DAY TO SECOND"), 3_000_000),
    (to(dec("-1.0000005"), "INTERVAL DAY TO SECOND"), -1_000_001),
)

TO_NESTED = cases(
    (to(col("a"), "ARRAY<STRING>"), ("1", "2", "3")),
    (to(("1", None), "ARRAY<INT>"), (1, None)),
    (to(("1", "x"), "ARRAY<INT>"), BAD),
    (to(col("st"), "STRUCT<p: STRING, q: STRING>"), ("7", "q")),
    (to(None, "ARRAY<INT>"), None),
    (to(None, "INT"), None),
)

CASTS = (*TO_NUMBERS, *TO_TEXT, *TO_TRUTH, *TO_TIMES, *TO_NESTED)
