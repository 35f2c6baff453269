"""A constant that is no value of its type is refused where it is written, as Spark does it.

`DATE '2024-02-30'` was taken for a cast, which left out every row, and `1e400` was infinite.
"""

import pytest

from ebbtide.errors import ParseError
from ebbtide.sql import parse_query


@pytest.mark.parametrize(
    "constant",
    [
        "DATE '2024-02-30'",
        "DATE 'tomorrow'",
        "TIMESTAMP '2024-01-01 25:00:00'",
        "TIMESTAMP '10000-01-01 00:00:00'",
        "1e400",
        "-1E309",
        "1e400D",
    ],
)
def test_they_are_refused(constant: str) -> None:
    with pytest.raises(ParseError, match="bad-literal"):
        parse_query(f"SELECT {constant} AS x")


@pytest.mark.parametrize(
    "constant",
    [
        "DATE '2024-02-29'",
        "TIMESTAMP '9999-12-31 23:59:59.999999'",
        "1.7e308",
        "CAST('Infinity' AS DOUBLE)",
        "CAST('2024-02-30' AS DATE)",
    ],
)
def test_others_are_not(constant: str) -> None:
    parse_query(f"SELECT {constant} AS x")
