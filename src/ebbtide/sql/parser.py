"""From text to statements.

Law: every text gives statements or one error of ours that points into it, in time that follows the
length of the text; nothing that is written is ignored.
"""

import re
from collections.abc import Callable, Iterator
from typing import TypeVar, cast

from sqlglot import exp
from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import Token, TokenType

from ebbtide.errors import EbbtideError, ParseError, Span
from ebbtide.sql import refusals
from ebbtide.sql.checks import check
from ebbtide.sql.dialect import Ebbtide
from ebbtide.sql.literals import double_quoted
from ebbtide.sql.statements import StatementParser
from ebbtide.sql.syntax import CreateView, Explain, InsertInto, Query, Statement

__all__ = ["MAX_NESTING", "parse", "parse_query"]

S = TypeVar("S", bound=Statement)

MAX_NESTING = 24

_OPENING = (TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.CASE)
_CLOSING = (TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.END)
_UNTERMINATED = re.compile(r"Missing (.+) from")
_PLACE = re.compile(r"from \d+:(\d+)")
_SURROGATE = re.compile("[\ud800-\udfff]")
_COMMENT = re.compile(r"--[^\n\r]*|/\*|\*/|\{#")


def parse(script: str, longest: int | None = None) -> tuple[Statement, ...]:
    """The statements of a script, with a semicolon between any two.

    None of them may have more than ``longest`` characters.

    >>> [type(statement).__name__ for statement in parse("SHOW VIEWS; SELECT * FROM bids [NOW]")]
    ['Show', 'Query']
    """
    return tuple(_read(part, script, StatementParser.statement) for part in _split(script, longest))


def parse_query(text: str) -> Query:
    """The one query that a text holds."""
    parts = list(_split(text))
    if not parts:
        raise ParseError("empty-statement", "there is no query", span=Span(text, 0, len(text)))
    if len(parts) > 1:
        span = Span(text, parts[1][0].start, parts[-1][-1].end + 1)
        raise ParseError("one-query", "there is more than one statement", span=span)
    return _read(parts[0], text, StatementParser.query_statement)


def _read(tokens: list[Token], source: str, read: Callable[[StatementParser], S]) -> S:
    """One statement, read by a method of the parser, and checked."""
    _check_nesting(tokens, source)
    parser = cast(StatementParser, Ebbtide().parser())
    try:
        parser.start(tokens, source)
        statement = read(parser)
        for tree in _trees(statement):
            check(tree, source)
    except EbbtideError:
        raise
    except RecursionError:
        raise _too_deep(Span(source, tokens[0].start, tokens[-1].end + 1)) from None
    except Exception as error:
        # sqlglot trusts its input in places; whatever it trips over is a statement it cannot read.
        raise _unreadable(parser.span()) from error
    return statement


def _trees(statement: Statement) -> Iterator[exp.Expr]:
    match statement:
        case Query() | CreateView():
            yield statement.body
        case InsertInto() | Explain():
            yield statement.query.body
        case _:
            return


def _split(script: str, longest: int | None = None) -> Iterator[list[Token]]:
    """The tokens of each statement that is not empty."""
    part: list[Token] = []
    for token in _tokens(script):
        if token.token_type is not TokenType.SEMICOLON:
            part.append(token)
            if longest is not None and token.end - part[0].start >= longest:
                raise _too_long(Span(script, part[0].start, part[0].end + 1), longest)
        elif part:
            yield part
            part = []
    if part:
        yield part


def _tokens(script: str) -> list[Token]:
    _check_characters(script)
    try:
        tokens = Ebbtide().tokenize(script)
    except TokenError as error:
        raise _bad_token(str(error.__cause__ or error), script) from error
    end, before = 0, None
    for token in tokens:
        _check_comments(script, end, token.start)
        _check_prefix(script, before, token)
        before = token
        token.comments.clear()  # or sqlglot would keep them in the tree
        end = token.end + 1
    _check_comments(script, end, len(script))
    return tokens


def _check_characters(script: str) -> None:
    """Refuses half of a pair of surrogates, which is no character and can be stored nowhere."""
    half = _SURROGATE.search(script)
    if half is not None:
        raise ParseError(
            "bad-character",
            f"U+{ord(half[0]):04X} is half of a character",
            detail="a text decoded with errors='surrogateescape' has such halves",
            hint="read the script as UTF-8",
            span=Span(script, half.start(), half.end()),
        )


def _check_prefix(script: str, before: Token | None, token: Token) -> None:
    """Refuses r"..." and X"...", which would be two names."""
    if token.token_type is not TokenType.IDENTIFIER or script[token.start] != '"':
        return
    if before and before.end + 1 == token.start and before.text.upper() in ("R", "X"):
        span = Span(script, before.start, token.end + 1)
        raise double_quoted(span, f"{before.text}'{token.text}'")


def _bad_token(message: str, script: str) -> ParseError:
    """The error behind one of the tokenizer, which says at most where it began to read."""
    place = _PLACE.search(message)
    start = min(int(place[1]), len(script)) if place else 0
    if place is None:
        _check_comments(script, 0, len(script))
        return _unreadable(Span(script, 0, len(script)))
    if match := _UNTERMINATED.match(message):
        kind = "name" if match[1] in ("`", '"') else "text"
        return ParseError(
            "unterminated",
            f"the {kind} that begins here does not end",
            span=Span(script, start, len(script)),
            hint=f"close it with {match[1]}",
        )
    end = script.find("'", start + 2)
    return ParseError(
        "bad-literal",
        "bytes are written as X and hexadecimal digits in quotes",
        span=Span(script, start, end + 1 if end > 0 else len(script)),
    )


def _unreadable(span: Span) -> ParseError:
    return ParseError("syntax", "the statement cannot be read", span=span)


def _check_comments(script: str, start: int, end: int) -> None:
    """Refuses a comment that does not end, and those that sqlglot knows in every dialect; between
    two tokens there is space and comments."""
    opened: list[int] = []
    for match in _COMMENT.finditer(script, start, end):
        if match[0] == "{#" and not opened:
            closed = script.find("#}", match.start(), end)
            last = closed + 2 if closed >= 0 else end
            raise refusals.COMMENT_IN_BRACES(Span(script, match.start(), last))
        if match[0] == "/*":
            opened.append(match.start())
        elif match[0] == "*/" and opened:
            opened.pop()
    if opened:
        raise ParseError(
            "unterminated",
            "the comment that begins here does not end",
            span=Span(script, opened[0], end),
            hint="close it with */",
        )


def _check_nesting(tokens: list[Token], source: str) -> None:
    depth = 0
    for token in tokens:
        depth += (token.token_type in _OPENING) - (token.token_type in _CLOSING)
        if depth > MAX_NESTING:
            raise _too_deep(Span(source, token.start, token.end + 1))


def _too_long(span: Span, longest: int) -> ParseError:
    return ParseError(
        "statement-too-long",
        f"the statement that begins here has more than {longest:,} characters",
        span=span,
        hint="put long lists into a table and join it, or set EBBTIDE_MAX_STATEMENT",
    )


def _too_deep(span: Span) -> ParseError:
    return ParseError(
        "too-deep",
        f"the statement is nested more than {MAX_NESTING} levels deep",
        span=span,
        hint="name parts of it in WITH or in views",
    )
