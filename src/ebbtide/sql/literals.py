"""Literals: texts, numbers and bytes, as sqlglot's tables of parsers want their readers."""

import re

from sqlglot import exp
from sqlglot.tokenizer_core import Token

from ebbtide.errors import ParseError, Span
from ebbtide.sql.token_reader import Reader

__all__ = ["binary", "double_quoted", "fraction", "number", "text"]

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


def number(reader: Reader, token: Token) -> exp.Expr:
    """1, 1.5, 1e3."""
    if not _NUMBER.fullmatch(token.text):
        raise reader.fault("bad-literal", f"{token.text} is not a number", reader.span(token))
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
