"""All tables."""

from scalars.arithmetic import ARITHMETIC, COMPARISONS, DECIMALS
from scalars.casts import CASTS
from scalars.conditions import CONDITIONS, LOGIC
from scalars.nested import BYTES, NESTED
from scalars.numbers import NUMBERS
from scalars.patterns import PATTERNS
from scalars.strings import STRINGS
from scalars.times import TIMES

ALL = (
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
)
