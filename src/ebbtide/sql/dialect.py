"""Ebbtide's dialect of SQL: Spark's, with windows, streams and declarations.

Comments and literals are Spark's: 5L, 5S, 5Y, 1.5D, 1.5BD, X'1F', TIMESTAMP '...', DATE '...'.
Names stand in backquotes or, as the standard has it, in double quotes; texts in single quotes.
"""

from sqlglot.dialects.spark import Spark

from ebbtide.sql.generator import EbbtideGenerator
from ebbtide.sql.statements import StatementParser
from ebbtide.sql.words import KEYWORDS

__all__ = ["Ebbtide"]


class Ebbtide(Spark):
    """The dialect."""

    class Tokenizer(Spark.Tokenizer):
        """Spark's, with keywords of ours, in which no statement is an opaque command."""

        COMMANDS = set()
        KEYWORDS = KEYWORDS
        QUOTES = ["'"]
        IDENTIFIERS = ["`", '"']
        STRING_ESCAPES = ["\\", "'"]
        RAW_STRINGS = [("r'", "'"), ("R'", "'")]

    Parser = StatementParser
    Generator = EbbtideGenerator
