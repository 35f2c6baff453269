"""Literals: texts, numbers, times and bytes, as sqlglot's tables of parsers want their readers."""

import re
from math import isinf

from sqlglot import exp
from sqlglot.tokenizer_core import Token

from ebbtide.core.conversion import convert
from ebbtide.core.types import STRING
from ebbtide.core.words import with_article
from ebbtide.errors import EvaluationError, ParseError, Span
from ebbtide.sql.token_reader import Reader
from ebbtide.sql.types import data_type

__all__ = ["binary", "double_quoted", "fraction", "number", "text", "typed"]

_NUMBER = re.compile(r"\d+(\.\d*)?([eE][+-]?\d+)?")


def text(reader: Reader, token: Token) -> exp.Expr:
    """'...', r'...'."""
    return reader.expression(exp.Literal(this=token.text, is_string=True), token)


def double_quoted(span: Span, instead: str) -> ParseError:
    """The error that a name in double quotes stands where a text should."""
    return ParseError(
        "double-quoted",
        "what stands in double quotes is a name, and a text is needed here",
        span=span,
        hint=f"write {instead}",
    )


def typed(reader: Reader, to: exp.Expr, token: Token) -> exp.Expr:
    """DATE '2026-01-31', TIMESTAMP '2026-01-31 12:00:00': not every row but the text is at fault if
    there is no such day or time."""
    type_ = data_type(to, reader.sql)
    try:
        convert(token.text, STRING, type_)
    except EvaluationError:
        said = f"'{token.text}' is not {with_article(type_)}"
        raise reader.fault("bad-literal", said, reader.span(token)) from None
    return reader.expression(exp.Cast(this=text(reader, token), to=to))


def number(reader: Reader, token: Token) -> exp.Expr:
    """1, 1.5, 1e3."""
    if not _NUMBER.fullmatch(token.text):
        raise reader.fault("bad-literal", f"{token.text} is not a number", reader.span(token))
    if "e" in token.text.lower() and isinf(float(token.text)):
        raise reader.fault(
            "bad-literal",
            f"{token.text} is beyond all doubles",
            reader.span(token),
            hint="write CAST('Infinity' AS DOUBLE)",
        )
    return reader.expression(exp.Literal(this=token.text, is_string=False), token)


def fraction(reader: Reader, token: Token) -> exp.Expr:
    """.5, the token without its point."""
    if "." in token.text:
        raise reader.fault("bad-literal", f".{token.text} is not a number", reader.span(token))
    return exp.Literal(this=f"0.{number(reader, token).name}", is_string=False)


def binary(reader: Reader, token: Token) -> exp.Expr:
    """X'1F'."""
    if reader.sql[token.start] not in "xX":
        raise reader.fault(
            "bad-literal",
            "bytes are written as X and hexadecimal digits in quotes",
            reader.span(token),
            hint=f"write X'{token.text}'",
        )
    return reader.expression(exp.HexString(this=token.text), token)
