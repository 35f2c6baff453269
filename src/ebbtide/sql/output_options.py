"""What a query says behind its answer: how its rows expire, how its changes are written, and
whether the lineage of its rows is kept: WITH (...) and SPLIT EVERY.

output  ::=  [ WITH ( option, ... ) ] [ SPLIT EVERY duration ]
option  ::=  encoding = 'word'  |  key = ( names )  |  coalesce = TRUE | FALSE
          |  expiry = 'word'  |  join_message = TRUE | FALSE  |  compression = TRUE | FALSE
          |  lineage = TRUE | FALSE
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from sqlglot.tokenizer_core import TokenType

from ebbtide.core.codec.encoding import AS_EMITTED, OutputForm, encoding_of
from ebbtide.core.expiry import BY_INTERVAL, Expiry, strategy_of
from ebbtide.errors import EbbtideError
from ebbtide.sql.declarations import DeclarationParser

__all__ = ["NOT_ASKED", "Asked", "OutputParser"]


@dataclass(frozen=True, slots=True)
class Asked:
    """What stands behind a query besides how its answer is given."""

    output: OutputForm = AS_EMITTED
    expiry: Expiry = BY_INTERVAL
    lineage: bool = False


NOT_ASKED = Asked()


class OutputParser(DeclarationParser):
    """Reads how rows expire, how changes are written and whether lineage is kept."""

    def at_output(self) -> bool:
        """Whether an option or a cut begins here."""
        parenthesis = self._next.token_type is TokenType.L_PAREN
        return (parenthesis and self.at("WITH")) or self.at("SPLIT", "EVERY")

    def output(self, before: Asked) -> Asked:
        """Reads one of the two, after what was read of them before."""
        first, written = self._curr, before.output
        try:
            if self.take("SPLIT", "EVERY"):
                if written.split_us is not None:
                    raise self.twice("SPLIT EVERY", first)
                split = replace(written, split_us=self.duration("SPLIT EVERY").us)
                return replace(before, output=split)
            if before != Asked(replace(AS_EMITTED, split_us=written.split_us)):
                raise self.twice("WITH", first)
            options = self._options()
            lineage = options.pop("lineage", False)
            expires = {name: options.pop(name) for name in _OF_EXPIRY if name in options}
            if "expiry" in expires:
                expires["strategy"] = expires.pop("expiry")
            return Asked(replace(written, **options), Expiry(**expires), lineage)
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
    "LINEAGE": OutputParser._truth,
}
_OF_EXPIRY = ("expiry", "join_message", "compression")
