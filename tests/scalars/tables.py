"""All tables."""

from scalars.arithmetic import ARITHMETIC, COMPARISONS, DECIMALS
from scalars.casts import CASTS
from scalars.conditions import CONDITIONS, LOGIC
from scalars.json_text import JSON_OF_SPARK, JSON_TEXT, STRUCTS
from scalars.nested import BYTES, NESTED
from scalars.numbers import NUMBERS
from scalars.patterns import PATTERNS
from scalars.strings import STRINGS
from scalars.times import TIMES

SHARED = (
    *STRINGS,
    *PATTERNS,
    *NUMBERS,
    *LOGIC,
    *CONDITIONS,
    *TIMES,
    *NESTED,
    *BYTES,
    *ARITHMETIC,
    *DECIMALS,
    *COMPARISONS,
    *CASTS,
    *JSON_OF_SPARK,
)
"""What Spark has too."""

ALL = (*SHARED, *JSON_TEXT, *STRUCTS)
