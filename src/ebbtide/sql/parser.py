"""From text to statements.

Law: every text gives statements or one error of ours that points into it; nothing that is written
is ignored.
"""

from collections.abc import Iterator
from typing import TypeVar, cast

from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import Token, TokenType

from ebbtide.errors import ParseError, Span
from ebbtide.sql.dialect import Ebbtide
from ebbtide.sql.statements import StatementParser
from ebbtide.sql.syntax import Query, Statement

__all__ = ["parse", "parse_query"]

T = TypeVar("T")


def parse(script: str) -> tuple[Statement, ...]:
    """The statements of a script, with a semicolon between any two."""
    return tuple(_parser(part, script).statement() for part in _split(script))


def parse_query(text: str) -> Query:
    """The one query that a text holds."""
    parts = list(_split(text))
    if len(parts) != 1:
        raise ParseError(
            "empty-statement" if not parts else "one-query",
            "there is no query" if not parts else "there is more than one query",
            span=Span(text, parts[1][0].start if parts else 0, len(text)),
        )
    return _parser(parts[0], text).query_statement()


def _parser(tokens: list[Token], source: str) -> StatementParser:
    parser = cast(StatementParser, Ebbtide().parser())
    parser.start(tokens, source)
    return parser


def _split(script: str) -> Iterator[list[Token]]:
    """The tokens of each statement."""
    try:
        tokens = Ebbtide().tokenize(script)
    except TokenError as error:
        raise ParseError("syntax", str(error), span=Span(script, 0, len(script))) from error
    part: list[Token] = []
    for token in tokens:
        if token.token_type is not TokenType.SEMICOLON:
            part.append(token)
        elif part:
            yield part
            part = []
    if part:
        yield part
