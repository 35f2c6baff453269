"""What the site does to the pages on their way through MkDocs.

The marks after a code fence's language say to the tests how a block is tried; they are taken off.
SQL is coloured by a lexer that knows the words of the language.  The decisions are listed in the
navigation as they are found.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pygments.lexers
from pygments.lexers import SqlLexer
from pygments.token import Keyword, Name, _TokenType

_MARKS = re.compile(r"^( *```\w+) .*$", re.MULTILINE)

_WORDS = """
    ADVANCE AFTER ALLOW ALWAYS APPEND ASOF BEYOND CHANGES CUBE CUMULATE DAY DAYS DSTREAM EMIT
    EVERY EXPLAIN FILES FILTER FINAL FINALITY FIRST FIXED FORMAT GROUPING HOP HOUR HOURS IDLE
    INTERVAL ISTREAM KEEP LAST LATE LIFETIME MATCH_CONDITION MATERIALIZED MILLISECOND
    MILLISECONDS MINUTE MINUTES NOW ONLY OP OVER PARTITION PROGRESS QUALIFY QUARANTINE RANGE
    RETAIN REVISE ROLLUP ROWS RSTREAM SECOND SECONDS SEQUENCE SESSION SETS SLIDE STARTING STATE
    STREAM STREAMS SYSTEM_TIME TUMBLE UNBOUNDED UNNEST VALID VERBOSE VIEWS WATERMARK WINDOW
"""
_TYPES = "ARRAY BIGINT BINARY DOUBLE INT SMALLINT STRING STRUCT TEXT TIMESTAMP TINYINT"

WORDS = frozenset(_WORDS.split())
"""What the language has beside the SQL that everyone knows."""

TYPES = frozenset(_TYPES.split())


class EbbtideLexer(SqlLexer):
    """SQL with the words of the language."""

    name = "Ebbtide"
    aliases = ("ebbtide",)

    def get_tokens_unprocessed(
        self, text: str, stack: tuple[str, ...] = ("root",)
    ) -> Iterator[tuple[int, _TokenType, str]]:
        """The tokens, with our words as keywords where they are written in capitals."""
        for index, token, value in super().get_tokens_unprocessed(text, stack):
            if token in Name or token in Keyword:
                token = _kind(value, token)
            yield index, token, value


def _kind(word: str, token: _TokenType) -> _TokenType:
    if word in TYPES:
        return Keyword.Type
    if word in WORDS:
        return Keyword
    # `at`, `name` and `value` are names of columns here, whatever they are elsewhere.
    return Name if token in Keyword and word.islower() else token


def on_config(config: Any) -> Any:
    """Makes the lexer known, and lists the decisions, in their order."""
    pygments.lexers.LEXERS["EbbtideLexer"] = ("", EbbtideLexer.name, EbbtideLexer.aliases, (), ())
    pygments.lexers._lexer_cache[EbbtideLexer.name] = EbbtideLexer
    pages = sorted(Path(config["docs_dir"], "adr").glob("[0-9]*.md"))
    listed = [f"adr/{page.name}" for page in pages]
    config["nav"] = [*config["nav"], {"Decisions": listed}]
    return config


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Takes the marks off the code fences, and has SQL and sessions coloured as what they are."""
    plain = _MARKS.sub(r"\1", markdown)
    sessions = re.sub(r"^( *```)python(?=\n>>> )", r"\1pycon", plain, flags=re.MULTILINE)
    return re.sub(r"^( *```)sql$", r"\1ebbtide", sessions, flags=re.MULTILINE)
