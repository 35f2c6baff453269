"""The words that have a meaning of their own in the language; all others are names.

sqlglot's dialects share one long list of keywords.  Ebbtide's is short, so that a name such as
`comment`, `session` or `first` needs no quotes; words that matter in one place only, such as EMIT
and RETAIN, are looked for there and are names everywhere else.
"""

from sqlglot.dialects.spark import Spark
from sqlglot.tokenizer_core import TokenType

from ebbtide.sql import refusals

__all__ = ["CLAUSES", "KEYWORDS"]

_OPERATORS = "/*+ == :: || >= <= <> != <=> -> ->> =>"

_QUERY = """
    ALL AND ANTI AS ASC BETWEEN CASE CROSS CUBE DESC DISTINCT DIV ELSE END ESCAPE EXCEPT EXISTS
    FALSE FROM FULL HAVING ILIKE IN INNER INTERSECT INTERVAL INTO IS JOIN LEFT LIKE LIMIT MINUS
    NOT NULL OFFSET ON OR OUTER OVER QUALIFY RANGE RECURSIVE REGEXP RIGHT RLIKE ROLLUP ROWS
    SELECT SEMI THEN TRUE UNION UNKNOWN USING VALUES WHEN WHERE WINDOW WITH
"""

_PHRASES = ("GROUP BY", "GROUPING SETS", "ORDER BY", "PARTITION BY")

_TYPES = """
    ARRAY BIGINT BINARY BOOLEAN BYTE CHAR DATE DEC DECIMAL DOUBLE FLOAT INT INTEGER LONG MAP NUMERIC
    REAL SHORT SMALLINT STRING STRUCT TIMESTAMP TIMESTAMP_LTZ TIMESTAMP_NTZ TINYINT VARCHAR
"""

_VALUES = "CURRENT_DATE CURRENT_TIMESTAMP LOCALTIMESTAMP"

KEYWORDS: dict[str, TokenType] = {
    word: Spark.Tokenizer.KEYWORDS[word]
    for word in (
        *f"{_OPERATORS} {_QUERY} {_TYPES} {_VALUES}".split(),
        *_PHRASES,
        # They are here to be refused by their names.
        *refusals.CLAUSES,
        *refusals.GROUPINGS,
        *refusals.JOINS,
    )
}

_CLAUSES = """
    SELECT FROM WHERE GROUP ORDER HAVING LIMIT OFFSET JOIN UNION EXCEPT INTERSECT EMIT ALLOW SLIDE
    PARTITION BETWEEN DISTINCT INTERVAL
"""

# Words of which a misspelt one is taken for a name at first.
CLAUSES = tuple(_CLAUSES.split())
