"""Names as SQL writes them: plain where that is safe, else in backticks."""

from __future__ import annotations

import re

from ebbtide.core.types import ArrayType, StructType, Type

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

_WORDS = """
    ALL AND ANTI ANY ARRAY AS ASC BETWEEN BIGINT BINARY BOOLEAN BY BYTE CASE CAST CHAR CLUSTER
    CREATE CROSS CUBE CURRENT_DATE CURRENT_TIMESTAMP DATE DEC DECIMAL DESC DISTINCT DISTRIBUTE DIV
    DOUBLE DROP ELSE EMIT END ESCAPE EXCEPT EXISTS EXTRACT FALSE FETCH FILTER FLOAT FOR FROM FULL
    GROUP GROUPING HAVING ILIKE IN INNER INSERT INT INTEGER INTERSECT INTERVAL INTO IS JOIN
    LATERAL LEFT LIKE LIMIT LONG MAP MINUS NATURAL NOT NULL NUMERIC OFFSET ON OR ORDER OUTER OVER
    PARTITION PIVOT QUALIFY RANGE REAL RECURSIVE REGEXP RIGHT RLIKE ROLLUP ROWS SELECT SEMI SHORT
    SMALLINT SOME SORT STRING STRUCT TABLE TABLESAMPLE THEN TIMESTAMP TIMESTAMP_LTZ TIMESTAMP_NTZ
    TINYINT TO TRUE TRY_CAST UNION UNIQUE UNKNOWN UNPIVOT USING VALUES VARCHAR WHEN WHERE WINDOW
    WITH WITHIN
"""

RESERVED = frozenset(_WORDS.split())


def identifier(name: str) -> str:
    """A name as SQL reads it back.

    >>> identifier("price"), identifier("order"), identifier("a`b")
    ('price', '`order`', '`a``b`')
    """
    if _PLAIN.fullmatch(name) and name.upper() not in RESERVED:
        return name
    doubled = name.replace("`", "``")
    return f"`{doubled}`"


def type_text(type_: Type) -> str:
    """A type as SQL reads it back, the names of fields in backticks where they need them.

    >>> from ebbtide.core.types import INT
    >>> type_text(StructType((("a b", INT),)))
    'STRUCT<`a b`: INT>'
    """
    match type_:
        case ArrayType():
            return f"ARRAY<{type_text(type_.element)}>"
        case StructType():
            fields = (f"{identifier(name)}: {type_text(of)}" for name, of in type_.fields)
            return f"STRUCT<{', '.join(fields)}>"
        case _:
            return type_.sql
