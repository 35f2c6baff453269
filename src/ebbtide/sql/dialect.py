"""Ebbtide's dialect of SQL: Spark's, with windows, streams and declarations.

Identifiers, quoting, comments and literals are Spark's: backquotes around names, single or double
quotes around texts, 5L, 5S, 5Y, 1.5D, 1.5BD, X'1F', TIMESTAMP '...', DATE '...'.
"""

from sqlglot.dialects.spark import Spark
from sqlglot.trie import new_trie

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


# sqlglot takes {# ... #} for a comment in every dialect; here nothing that is written is ignored.
_tokenizer = Ebbtide.Tokenizer
_tokenizer._COMMENTS = {start: end for start, end in _tokenizer._COMMENTS.items() if start != "{#"}
_tokenizer._KEYWORD_TRIE = new_trie(
    word.upper()
    for word in (*KEYWORDS, *_tokenizer._COMMENTS, *_tokenizer._QUOTES, *_tokenizer._FORMAT_STRINGS)
    if " " in word or any(single in word for single in _tokenizer.SINGLE_TOKENS)
)
