"""Ebbtide's dialect of SQL: Spark's, with windows, streams and declarations.

Identifiers, quoting, comments and literals are Spark's: backquotes around names, single or double
quotes around texts, 5L, 5S, 5Y, 1.5D, 1.5BD, X'1F', TIMESTAMP '...', DATE '...'.
"""

from sqlglot.dialects.spark import Spark
from sqlglot.tokenizer_core import TokenType

from ebbtide.sql.generator import EbbtideGenerator
from ebbtide.sql.statements import StatementParser

__all__ = ["Ebbtide"]

# Words that have no meaning of their own in the language, so they are names like any other.
_NOT_KEYWORDS = frozenset(
    word
    for word, kind in Spark.Tokenizer.KEYWORDS.items()
    if kind in {TokenType.COMMAND, TokenType.BLOCK_START, TokenType.BLOCK_END}
)


class Ebbtide(Spark):
    """The dialect."""

    class Tokenizer(Spark.Tokenizer):
        """Spark's, in which no statement is an opaque command."""

        COMMANDS = set()
        STRING_ESCAPES = ["\\", "'", '"']
        KEYWORDS = {
            word: kind
            for word, kind in Spark.Tokenizer.KEYWORDS.items()
            if word not in _NOT_KEYWORDS
        }

    Parser = StatementParser
    Generator = EbbtideGenerator
