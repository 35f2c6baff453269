"""Functions of days and instants.

All of them see the calendar of the session's zone, which is UTC unless it is set.
"""

from __future__ import annotations

from ebbtide.algebra.function_library.signature import (
    Function,
    day,
    define,
    exactly,
    form,
    only,
)
from ebbtide.core.types import (
    BIGINT,
    DATE,
    INT,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TINYINT,
    DecimalType,
    IntegerType,
    NullType,
    Type,
    is_numeric,
)

FAMILY = "dates and times"
TEXT = exactly(STRING)
WHOLE = exactly(INT)
INSTANT = exactly(TIMESTAMP)
SECONDS = DecimalType(16, 6)


def _count(given: Type) -> Type | None:
    """A number of days: INT or smaller, as Spark has it."""
    return WHOLE(given) if given in (TINYINT, SMALLINT, INT) or given == STRING else _null(given)


def _null(given: Type) -> Type | None:
    return INT if isinstance(given, NullType) else None


def _whole(given: Type) -> Type | None:
    return BIGINT if isinstance(given, IntegerType | NullType) else None


def _seconds(given: Type) -> Type | None:
    if isinstance(given, IntegerType | NullType):
        return BIGINT
    return given if is_numeric(given) else None


def _part(usage: str, summary: str) -> Function:
    return define(FAMILY, usage, summary, (day,), INT)


_PARTS = (
    _part("YEAR(day)", "The year."),
    _part("QUARTER(day)", "The quarter, 1 to 4."),
    _part("MONTH(day)", "The month, 1 to 12."),
    _part("WEEKOFYEAR(day)", "The week of ISO 8601, 1 to 53; it begins on a Monday."),
    _part("YEAROFWEEK(day)", "The year of ISO 8601 to which the week of the day belongs."),
    _part("DAY(day)", "The day of the month, 1 to 31."),
    _part("DAYOFYEAR(day)", "The day of the year, 1 to 366."),
    _part("DAYOFWEEK(day)", "The day of the week, 1 for Sunday to 7."),
    _part("WEEKDAY(day)", "The day of the week, 0 for Monday to 6."),
    define(FAMILY, "HOUR(t)", "The hour, 0 to 23.", (INSTANT,), INT),
    define(FAMILY, "MINUTE(t)", "The minute, 0 to 59.", (INSTANT,), INT),
    define(FAMILY, "SECOND(t)", "The second, 0 to 59.", (INSTANT,), INT),
    define(
        FAMILY,
        "SECOND_FRACTION(t)",
        "The second with its fraction; written `EXTRACT(SECOND FROM t)`.",
        (INSTANT,),
        DecimalType(8, 6),
    ),
)

_MOVES = (
    define(
        FAMILY,
        "DATE_TRUNC(unit, t)",
        "The beginning of the unit (YEAR, QUARTER, MONTH, WEEK, DAY, HOUR, MINUTE, SECOND, "
        "MILLISECOND, MICROSECOND) in which t falls; NULL for other units.",
        (TEXT, INSTANT),
        TIMESTAMP,
        may_be_null=True,
    ),
    define(
        FAMILY,
        "TRUNC(day, unit)",
        "The first day of the YEAR, QUARTER, MONTH or WEEK; NULL for other units.",
        (exactly(DATE), TEXT),
        DATE,
        may_be_null=True,
    ),
    define(FAMILY, "DATE_ADD(day, count)", "The day so many days later.", (day, _count), DATE),
    define(FAMILY, "DATE_SUB(day, count)", "The day so many days earlier.", (day, _count), DATE),
    define(
        FAMILY, "DATEDIFF(end, start)", "The number of days from start to end.", (day, day), INT
    ),
    define(
        FAMILY,
        "ADD_MONTHS(day, count)",
        "The day so many months later, or the last one of that month if it is too short.",
        (day, WHOLE),
        DATE,
    ),
    define(FAMILY, "LAST_DAY(day)", "The last day of the month.", (day,), DATE),
)

_TEXTS = (
    define(
        FAMILY,
        "DATE_FORMAT(t, pattern)",
        "The time as text by a pattern of Java's letters, such as `yyyy-MM-dd HH:mm:ss.SSS`.",
        (INSTANT, TEXT),
        STRING,
    ),
    define(
        FAMILY,
        "TO_DATE(text[, pattern])",
        "The day that a text says; without a pattern the same as a CAST.",
        (TEXT, TEXT),
        DATE,
    ),
    define(
        FAMILY,
        "TO_TIMESTAMP(text[, pattern])",
        "The instant that a text says; without a pattern the same as a CAST.",
        (only(STRING), TEXT),
        TIMESTAMP,
    ),
)

_NUMBERS = (
    *(
        define(
            FAMILY,
            f"UNIX_{unit}(t)",
            f"The {unit_name} since the epoch, rounded down.",
            (only(TIMESTAMP),),
            BIGINT,
        )
        for unit, unit_name in (
            ("MICROS", "microseconds"),
            ("MILLIS", "milliseconds"),
            ("SECONDS", "seconds"),
        )
    ),
    define(FAMILY, "UNIX_DATE(day)", "The days since the epoch.", (only(DATE),), INT),
    define(
        FAMILY,
        "TIMESTAMP_MICROS(x)",
        "The instant so many microseconds after the epoch.",
        (_whole,),
        TIMESTAMP,
    ),
    define(
        FAMILY,
        "TIMESTAMP_MILLIS(x)",
        "The instant so many milliseconds after the epoch.",
        (_whole,),
        TIMESTAMP,
    ),
    define(
        FAMILY,
        "TIMESTAMP_SECONDS(x)",
        "The instant so many seconds after the epoch.",
        (_seconds,),
        TIMESTAMP,
    ),
    define(
        FAMILY,
        "MAKE_DATE(year, month, day)",
        "The day of that date; an error if there is none.",
        (WHOLE, WHOLE, WHOLE),
        DATE,
    ),
    define(
        FAMILY,
        "MAKE_TIMESTAMP(year, month, day, hour, minute, second)",
        "The instant of that time; an error if there is none.",
        (WHOLE, WHOLE, WHOLE, WHOLE, WHOLE, exactly(SECONDS)),
        TIMESTAMP,
    ),
)

TIME_FUNCTIONS = (*_PARTS, *_MOVES, *_TEXTS, *_NUMBERS)

TIME_FORMS = (
    form(
        FAMILY,
        "EXTRACT(field FROM t)",
        "A field of a time: YEAR, QUARTER, MONTH, WEEK, DAY, DAYOFWEEK, DOY, HOUR, MINUTE, SECOND.",
    ),
    form(FAMILY, "DATE_PART(field, t)", "The same as EXTRACT, the field as a text."),
)
