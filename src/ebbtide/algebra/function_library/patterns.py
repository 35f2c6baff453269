"""Functions of regular expressions.

The expressions are Java's, as in Spark; ``reference.functions.regex`` says which part of them
the reference understands.
"""

from __future__ import annotations

from ebbtide.algebra.function_library.signature import define, exactly
from ebbtide.core.types import BOOLEAN, INT, STRING, ArrayType

FAMILY = "regular expressions"
TEXT = exactly(STRING)
COUNT = exactly(INT)

PATTERN_FUNCTIONS = (
    define(
        FAMILY,
        "RLIKE(text, pattern)",
        "Whether a part of the text matches; `text RLIKE pattern` is the same.",
        (TEXT, TEXT),
        BOOLEAN,
    ),
    define(
        FAMILY,
        "REGEXP_EXTRACT(text, pattern[, group])",
        "What a group (1) of the first match matched, or an empty text; group 0 is the whole "
        "match.",
        (TEXT, TEXT, COUNT),
        STRING,
        optional=1,
    ),
    define(
        FAMILY,
        "REGEXP_REPLACE(text, pattern, replacement[, position])",
        "The text with every match, from a position on, replaced; `$1` in the replacement is the "
        "first group.",
        (TEXT, TEXT, TEXT, COUNT),
        STRING,
        optional=1,
    ),
    define(
        FAMILY,
        "SPLIT(text, pattern[, limit])",
        "The parts between matches, at most `limit` of them if that is positive.",
        (TEXT, TEXT, COUNT),
        ArrayType(STRING),
        optional=1,
    ),
)
