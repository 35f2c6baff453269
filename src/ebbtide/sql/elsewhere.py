"""Functions that other systems have: what to write here in their place.

Law: a name that is listed here is never taken for a misspelt one of ours.  What stands in `INSTEAD`
means the same, value by value, and is good when it is typed: {0}, {1} ... are the arguments as they
were written, {(1)} is one as an operand, {all} is all of them, and {per 0} turns seconds into the
unit that the first one names.  For what has no such form there is a sentence, in `ABSENT`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["ABSENT", "INSTEAD", "instead", "length_in"]

_SECONDS = {"SECOND": 1, "MINUTE": 60, "HOUR": 3600, "DAY": 86400, "WEEK": 604800}
_EXACTLY = ("EPOCH", "SECOND")
_SIMPLE = re.compile(r"[\w.]+|\w+\([^()]*\)")

# By the name and the number of arguments.
INSTEAD: dict[tuple[str, int], str] = {
    ("APPROX_DISTINCT", 1): "COUNT(DISTINCT {0})",
    ("APPROX_PERCENTILE", 2): "PERCENTILE({0}, {1})",
    ("PERCENTILE_APPROX", 2): "PERCENTILE({0}, {1})",
    ("ARBITRARY", 1): "ANY_VALUE({0})",
    ("ARRAY_JOIN", 2): "CONCAT_WS({1}, {0})",
    ("ARRAY_LENGTH", 1): "SIZE({0})",
    ("ARRAY_TO_STRING", 2): "CONCAT_WS({1}, {0})",
    ("CHARINDEX", 2): "LOCATE({0}, {1})",
    ("COUNTIF", 1): "COUNT_IF({0})",
    ("COUNT_DISTINCT", 1): "COUNT(DISTINCT {0})",
    ("DATEDIFF", 3): "CAST({2} - {(1)} AS BIGINT){per 0}",
    ("DATE_BIN", 2): "FLOOR({1} TO {0})",
    ("DATE_DIFF", 3): "CAST({2} - {(1)} AS BIGINT){per 0}",
    ("EARLIEST_BY_OFFSET", 1): "FIRST({0}) IGNORE NULLS",
    ("ENDS_WITH", 2): "ENDSWITH({0}, {1})",
    ("FORMAT_DATE", 2): "DATE_FORMAT({0}, {1})",
    ("FORMAT_TIMESTAMP", 2): "DATE_FORMAT({0}, {1})",
    ("FROM_UNIXTIME", 1): "DATE_FORMAT(TIMESTAMP_SECONDS({0}), 'yyyy-MM-dd HH:mm:ss')",
    ("HOP_ROWTIME", 3): "HOP_END({all}) - INTERVAL 1 MILLISECOND",
    ("IIF", 3): "IF({all})",
    ("ISNOTNULL", 1): "({0} IS NOT NULL)",
    ("ISNULL", 1): "({0} IS NULL)",
    ("JSONB_ARRAY_ELEMENTS", 1): "UNNEST(JSON_ITEMS({0}))",
    ("JSONB_ARRAY_ELEMENTS_TEXT", 1): "UNNEST(JSON_ITEMS_TEXT({0}))",
    ("JSONB_ARRAY_LENGTH", 1): "SIZE(JSON_ITEMS({0}))",
    ("JSON_ARRAY_LENGTH", 1): "SIZE(JSON_ITEMS({0}))",
    ("JSON_EXTRACT", 2): "GET_JSON_OBJECT({0}, {1})",
    ("JSON_EXTRACT_SCALAR", 2): "JSON_VALUE({0}, {1})",
    ("EXTRACTJSONFIELD", 2): "GET_JSON_OBJECT({0}, {1})",
    ("LATEST_BY_OFFSET", 1): "LAST({0}) IGNORE NULLS",
    ("LIST", 1): "COLLECT({0})",
    ("LIST_CONTAINS", 2): "ARRAY_CONTAINS({0}, {1})",
    ("LOGICAL_AND", 1): "BOOL_AND({0})",
    ("LOGICAL_OR", 1): "BOOL_OR({0})",
    ("PARSE_DATE", 2): "TO_DATE({0}, {1})",
    ("PARSE_TIMESTAMP", 2): "TO_TIMESTAMP({0}, {1})",
    ("REGEXP_SUBSTR", 2): "REGEXP_EXTRACT({0}, {1}, 0)",
    ("ROW", 1): "STRUCT({all})",
    ("ROW", 2): "STRUCT({all})",
    ("ROW", 3): "STRUCT({all})",
    ("SESSION_ROWTIME", 2): "SESSION_END({all}) - INTERVAL 1 MILLISECOND",
    ("SHA256", 1): "SHA2({0}, 256)",
    ("SPLIT_INDEX", 3): "SPLIT_PART({0}, {1}, {2} + 1)",
    ("STARTS_WITH", 2): "STARTSWITH({0}, {1})",
    ("STRPOS", 2): "LOCATE({1}, {0})",
    ("TIMESTAMPADD", 3): "({2} + {(1)} * INTERVAL 1 {0})",
    ("TIMESTAMPDIFF", 3): "CAST({2} - {(1)} AS BIGINT){per 0}",
    ("TIMESTAMPTOSTRING", 2): "DATE_FORMAT(TIMESTAMP_MILLIS({0}), {1})",
    ("TIME_BUCKET", 2): "FLOOR({1} TO {0})",
    ("TO_CHAR", 2): "DATE_FORMAT({0}, {1})",
    ("TO_SECONDS", 1): "CAST({0} AS BIGINT)",
    ("TO_TIMESTAMP_LTZ", 2): "TIMESTAMP_MILLIS({0})",
    ("TUMBLE_ROWTIME", 2): "TUMBLE_END({all}) - INTERVAL 1 MILLISECOND",
    ("UNIX_TIMESTAMP", 1): "UNIX_SECONDS({0})",
    ("ZEROIFNULL", 1): "COALESCE({0}, 0)",
}

_CLOCK = "NOW() is the instant of the snapshot, in conditions: WHERE at > NOW() - INTERVAL 1 HOUR"
_ITEMS = "UNNEST stands in FROM: FROM events CROSS JOIN UNNEST(items) AS t (item)"
_JSON = "JSON is text here: CONCAT makes one, and JSON_VALUE(json, '$.a') reads it"
_CHANCE = "an answer is a function of its input, so nothing in it is left to chance"
_CLOSED = (
    "a window in GROUP BY has TUMBLE_START and TUMBLE_END, HOP_START ... and SESSION_START ..."
)

ABSENT: dict[str, str] = {
    **dict.fromkeys(
        (
            *("GETDATE", "SYSDATE", "CURRENT_ROW_TIMESTAMP", "LOCALTIME", "MZ_LOGICAL_TIMESTAMP"),
            *("CLOCK_TIMESTAMP", "STATEMENT_TIMESTAMP", "TRANSACTION_TIMESTAMP", "UTC_TIMESTAMP"),
        ),
        _CLOCK,
    ),
    "PROCTIME": "when a row came is a column of its stream: declare received TIMESTAMP ARRIVAL",
    **dict.fromkeys(("POSEXPLODE", "FLATTEN", "INLINE"), _ITEMS),
    **dict.fromkeys(("TO_JSON", "TO_JSONB", "JSON_OBJECT", "JSON_STRING", "TO_JSON_STRING"), _JSON),
    **dict.fromkeys(
        ("RAND", "RANDOM", "UUID", "GEN_RANDOM_UUID", "MONOTONICALLY_INCREASING_ID"), _CHANCE
    ),
    **dict.fromkeys(("TUMBLE_PROCTIME", "HOP_PROCTIME", "SESSION_PROCTIME"), _CLOSED),
    "CURRENT_WATERMARK": "what is promised is not a value of a query: run.status shows it",
    "ROWTIME": "the time of a row is a column of it, declared with PROGRESS FOR",
    "TRANSFORM": "functions on every item of an array are not in the language",
    "TOPK": "QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY x DESC) <= 3 keeps the first rows",
    "GENERATE_SERIES": "UNNEST(ARRAY(1, 2, 3)) has a row for each item",
    "SEQUENCE": "UNNEST(ARRAY(1, 2, 3)) has a row for each item",
    "REGEXP_MATCH": "REGEXP_EXTRACT(text, pattern, 0) is what matched first",
    "REGEXP_MATCHES": "REGEXP_EXTRACT(text, pattern, 0) is what matched first",
    "HISTOGRAM": "GROUP BY the value, and COUNT(*)",
    "MAP": "a STRUCT has fields by name: STRUCT(a AS x)",
}


_SERIES = ("GENERATE_SERIES", "SEQUENCE")
_LONGEST_SERIES = 100


def _series(arguments: Sequence[str]) -> str | None:
    """The numbers from one to another, if they stand in the text and are not too many."""
    if len(arguments) != 2 or not all(text.isdecimal() for text in arguments):
        return None
    first, last = map(int, arguments)
    if not first <= last < first + _LONGEST_SERIES:
        return None
    return f"UNNEST(ARRAY({', '.join(map(str, range(first, last + 1)))}))"


def length_in(field: str, length: str) -> str | None:
    """What to write for a field of an INTERVAL, which has a length and no fields."""
    if field in _EXACTLY:
        return f"CAST({length} AS DECIMAL(18, 6))"
    per = _per(field)
    if per is None:
        return None
    return f"(CAST({length} AS BIGINT){per})" if per else f"CAST({length} AS BIGINT)"


def _usual(form: str) -> str:
    plain = form.replace("{(1)}", "{1}").replace("{per 0}", "")
    return plain.format(*"abcd", all="a, b")


def _operand(text: str) -> str:
    return text if _SIMPLE.fullmatch(text) else f"({text})"


def _per(unit: str) -> str | None:
    """What makes a number of seconds one of another unit; None for months, which vary."""
    seconds = _SECONDS.get(unit.strip("'").upper().removesuffix("S"))
    if seconds is None:
        return None
    return "" if seconds == 1 else f" DIV {seconds}"


def instead(name: str, arguments: Sequence[str]) -> tuple[str | None, str | None] | None:
    """What to write for a call, or else a sentence of advice; None for a name that is unknown."""
    known = INSTEAD.get((name, len(arguments)))
    if known is not None and "{per 0}" in known:
        per = _per(arguments[0])
        if per is None:
            return None, "two times are subtracted, which gives an INTERVAL: b - a"
        known = f"({known})".replace("{per 0}", per) if per else known.replace("{per 0}", "")
    if known is not None:
        text = known.replace("{all}", ", ".join(arguments))
        for place, argument in enumerate(arguments):
            text = text.replace(f"{{({place})}}", _operand(argument))
            text = text.replace(f"{{{place}}}", argument)
        return text, None
    if name in ABSENT:
        return _series(arguments) if name in _SERIES else None, ABSENT[name]
    usual = next((form for (other, _), form in INSTEAD.items() if other == name), None)
    return None if usual is None else (None, f"the form here is {_usual(usual)}")
