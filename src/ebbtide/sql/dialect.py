"""Ebbtide's dialect of SQL: Spark's, with windows, streams and declarations.

Identifiers, quoting, comments and literals are Spark's: backquotes around names, single or double
quotes around texts, 5L, 5S, 5Y, 1.5D, 1.5BD, X'1F', TIMESTAMP '...', DATE '...'.
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
        STRING_ESCAPES = ["\\", "'", '"']

    Parser = StatementParser
    Generator = EbbtideGenerator
