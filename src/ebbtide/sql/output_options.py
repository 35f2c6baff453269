"""How rows of a query expire and how its changes are written: WITH (...) and SPLIT EVERY behind it.

output  ::=  [ WITH ( option, ... ) ] [ SPLIT EVERY duration ]
option  ::=  encoding = 'word'  |  key = ( names )  |  coalesce = TRUE | FALSE
          |  expiry = 'word'  |  join_message = TRUE | FALSE  |  compression = TRUE | FALSE
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sqlglot.tokenizer_core import TokenType

from ebbtide.core.codec.encoding import AS_EMITTED, OutputForm, encoding_of
from ebbtide.core.expiry import BY_INTERVAL, Expiry, strategy_of
from ebbtide.errors import EbbtideError
from ebbtide.sql.declarations import DeclarationParser

__all__ = ["OutputParser"]


class OutputParser(DeclarationParser):
    """Reads how rows expire and how changes are written."""

    def at_output(self) -> bool:
        """Whether an option or a cut begins here."""
        parenthesis = self._next.token_type is TokenType.L_PAREN
        return (parenthesis and self.at("WITH")) or self.at("SPLIT", "EVERY")

    def output(self, before: OutputForm, expiry: Expiry) -> tuple[OutputForm, Expiry]:
        """Reads one of the two, after what was read of them before."""
        first = self._curr
        try:
            if self.take("SPLIT", "EVERY"):
                if before.split_us is not None:
                    raise self.twice("SPLIT EVERY", first)
                return replace(before, split_us=self.duration("SPLIT EVERY").us), expiry
            if (before, expiry) != (replace(AS_EMITTED, split_us=before.split_us), BY_INTERVAL):
                raise self.twice("WITH", first)
            options = self._options()
            expires = {name: options.pop(name) for name in _OF_EXPIRY if name in options}
            if "expiry" in expires:
                expires["strategy"] = expires.pop("expiry")
            return replace(before, **options), Expiry(**expires)
        except EbbtideError as error:
            raise error.with_span(self.span(first, self._prev)) from error.__cause__

    def _options(self) -> dict[str, Any]:
        self.need("WITH")
        self.need_token(TokenType.L_PAREN, "(")
        found = dict([self._output_option()])
        while self._match(TokenType.COMMA):
            first = self._curr
            name, value = self._output_option()
            if name in found:
                raise self.twice(name, first)
            found[name] = value
        self.need_token(TokenType.R_PAREN, ")")
        return found

    def _output_option(self) -> tuple[str, Any]:
        word = next((word for word in _OPTIONS if self.take(word)), None)
        if word is None:
            raise self.unexpected(" or ".join(_OPTIONS).lower())
        self.need_token(TokenType.EQ, "=")
        return word.lower(), _OPTIONS[word](self)

    def _strategy(self) -> Any:
        return strategy_of(self.string("an expiry strategy"))

    def _encoding(self) -> Any:
        return encoding_of(self.string("an encoding"))

    def _key(self) -> tuple[str, ...]:
        if self._match(TokenType.L_PAREN, advance=False):
            return tuple(name.text for name in self.names("a column"))
        return (self.name("a column").text,)

    def _truth(self) -> bool:
        for word, value in (("TRUE", True), ("FALSE", False)):
            if self.take(word):
                return value
        raise self.unexpected("TRUE or FALSE")


_OPTIONS: dict[str, Callable[[OutputParser], Any]] = {
    "ENCODING": OutputParser._encoding,
    "KEY": OutputParser._key,
    "COALESCE": OutputParser._truth,
    "EXPIRY": OutputParser._strategy,
    "JOIN_MESSAGE": OutputParser._truth,
    "COMPRESSION": OutputParser._truth,
}
_OF_EXPIRY = ("expiry", "join_message", "compression")
