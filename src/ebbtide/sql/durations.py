"""Durations: `15 MINUTES`, `15m`, `INTERVAL 15 MINUTES`, `INTERVAL '15' MINUTE`, `INTERVAL '1 h'`.

Law: a duration is a fixed number of microseconds, so months and years are refused, and so is what
is no whole number of microseconds.  All of Spark's ways to write one that has a fixed length are
read, `INTERVAL '1 02:03:04' DAY TO SECOND` among them.
"""

import re
from decimal import Decimal, InvalidOperation
from difflib import get_close_matches

from sqlglot.tokenizer_core import Token, TokenType

from ebbtide.core import time
from ebbtide.errors import ParseError, QueryError, Span
from ebbtide.sql.nodes import Duration
from ebbtide.sql.token_reader import Reader, located

__all__ = ["DurationReader"]

_EXAMPLE = "15 MINUTES"

_SINGULARS = frozenset(time.UNITS)

# About how many days the units have that have no fixed length.
_DAYS = {"MONTH": 30, "QUARTER": 91, "YEAR": 365}

_WORD = re.compile(r"(?:[0-9]+[A-Za-z]+)+")
_PART = re.compile(r"\s*([+-]?)\s*(\d+(?:\.\d*)?|\.\d+)\s*([A-Za-z]+)")

# The fields of 'd h:m:s', from the unit in which such a text begins to the one in which it ends.
_FIELDS = ("DAY", "HOUR", "MINUTE", "SECOND")
_CLOCK = re.compile(r"\s*([+-]?)\s*(\d+(?:[ :]\d+){0,3}(?:\.\d{1,9})?)\s*")


class DurationReader(Reader):
    """Reads durations."""

    def duration(self, of: str, signed: bool = False) -> Duration:
        """Reads a duration, with or without INTERVAL; only a ``signed`` one may be 0 or less."""
        first = self._curr
        self._match(TokenType.INTERVAL)
        node = self._duration_parts(first, of)
        if node.us <= 0 and not signed:
            raise self.fault(
                "bad-duration",
                f"{of} must be greater than zero",
                self.span(first, self._prev),
            )
        return node

    def begins_duration(self) -> bool:
        """Whether a duration stands here, and no name."""
        numeric = self._curr.token_type in (TokenType.NUMBER, TokenType.STRING)
        return numeric or self._begins_interval() or self._is_run_together()

    def _is_run_together(self) -> bool:
        """Whether 15m or 1h30m stands here, as one word."""
        return self._curr.token_type is TokenType.VAR and bool(_WORD.fullmatch(self._curr.text))

    def _suffix(self) -> str | None:
        """The unit of 5s and 5d, which would be types of numbers elsewhere."""
        mark = self._curr
        written = mark.token_type is TokenType.DCOLON and self.sql[mark.start] != ":"
        return self._next.text if written and self._next.text.upper() in ("S", "D") else None

    def unit_or_duration(self, of: str) -> Duration:
        """Reads a duration, or the name of a unit for one of it."""
        if self._curr.token_type in (TokenType.NUMBER, TokenType.INTERVAL, TokenType.STRING):
            return self.duration(of)
        first = self._curr
        return self._made(first, self._unit(of))

    @located
    def _parse_interval(  # type: ignore[override]  # an interval is a Duration here
        self, require_interval: bool = True, parse_function_unit: bool = True
    ) -> Duration | None:
        first = self._curr
        if not self._begins_interval():
            self._check_constant()
            return None
        self._advance()
        return self._duration_parts(first, "INTERVAL")

    def _check_constant(self) -> None:
        """Refuses INTERVAL x MINUTES, which sqlglot would take for three names."""
        tokens = self._tokens[self._index : self._index + 3]
        if len(tokens) < 3 or tokens[0].token_type is not TokenType.INTERVAL:
            return
        _, value, unit = tokens
        singular = unit.text.upper().removesuffix("S")
        if value.token_type in (TokenType.VAR, TokenType.IDENTIFIER) and singular in _SINGULARS:
            written = self.sql[value.start : value.end + 1]
            raise self.fault(
                "bad-duration",
                "an interval is a constant",
                self.span(tokens[0], unit),
                hint=f"write {written} * INTERVAL 1 {singular}",
            )

    def _begins_interval(self) -> bool:
        """Whether INTERVAL stands here and is no name."""
        if self._curr.token_type is not TokenType.INTERVAL:
            return False
        after = self._next.token_type
        if after in (TokenType.NUMBER, TokenType.STRING):
            return True
        return after in (TokenType.DASH, TokenType.PLUS) and (
            self._index + 2 < self._tokens_size
            and self._tokens[self._index + 2].token_type is TokenType.NUMBER
            and self._index + 3 < self._tokens_size
            and self._tokens[self._index + 3].text.upper().removesuffix("S") in _SINGULARS
        )

    def _duration_parts(self, first: Token, of: str) -> Duration:
        total = self._part(first, of)
        while self._another_part():
            total += self._part(self._curr, of)
        return self._made(first, total)

    def _another_part(self) -> bool:
        return (
            self._curr.token_type in (TokenType.NUMBER, TokenType.STRING)
            and self._next.text.upper().removesuffix("S") in _SINGULARS
        )

    def _made(self, first: Token, us: int) -> Duration:
        node = Duration(us=us)
        span = self.span(first, self._prev)
        node.meta["span"] = (span.start, span.end)
        return node

    def _part(self, first: Token, of: str) -> int:
        sign = -1 if self._match(TokenType.DASH) else 1
        if sign == 1:
            self._match(TokenType.PLUS)
        value = self._curr
        if value.token_type is TokenType.STRING:
            self._advance()
            return sign * self._quoted(first, value)
        if self._is_run_together():
            self._advance()
            return sign * self._with_units(value.text, self.span(value))
        if value.token_type is not TokenType.NUMBER:
            raise self._no_duration(of)
        self._advance()
        short = self._suffix()
        if short is not None:
            self._advance(2)
            return sign * self._scaled(value, value.text, time.unit(short))
        return sign * self._scaled(value, value.text, self._unit(of))

    def _no_duration(self, of: str) -> ParseError:
        found = f'"{self._found()}" is not one' if self._curr else "there is none"
        return self.fault(
            "bad-duration",
            f"{of} needs a duration, and {found}",
            hint=f"a duration is {_EXAMPLE}",
        )

    def _unit(self, of: str) -> int:
        name = self._curr
        if not name or name.token_type in (TokenType.STRING, TokenType.NUMBER):
            raise self._missing_unit(of)
        try:
            length = time.unit(name.text)
        except QueryError as error:
            if error.code == "no-fixed-length":
                raise self._no_fixed_length(error) from None
            if name.token_type is not TokenType.VAR:
                raise self._missing_unit(of) from None
            near = get_close_matches(name.text.upper(), [f"{unit}S" for unit in time.UNITS], 1)
            hint = f"write {near[0]}" if near else error.hint
            raise self.fault(error.code, error.message, self.span(name), hint=hint) from None
        self._advance()
        return length

    def _no_fixed_length(self, error: QueryError) -> ParseError:
        """Months and years have no fixed length; the hint has the days that come nearest."""
        number, name = self._prev, self._curr
        days = _DAYS[name.text.upper().removesuffix("S")]
        if number and number.token_type is TokenType.NUMBER and number.text.isdigit():
            hint = f"write {int(number.text) * days} DAYS"
            return self.fault(error.code, error.message, self.span(number, name), hint=hint)
        return self.fault(error.code, error.message, self.span(name), hint=error.hint)

    def _missing_unit(self, of: str) -> ParseError:
        number = self._prev
        if number and number.token_type is TokenType.NUMBER:
            return self.fault(
                "bad-duration",
                f"{of} needs a unit of time after {number.text}",
                self.span(number),
                hint=f"write {number.text} MINUTES",
            )
        return self.fault("bad-duration", f"{of} needs a unit of time")

    def _quoted(self, first: Token, value: Token) -> int:
        """`'15' MINUTE`, `'1 02:03:04' DAY TO SECOND`, or a text that has its units in it."""
        span = self.span(value)
        if self._curr.text.upper().removesuffix("S") not in _SINGULARS:
            if self._curr.text.upper().removesuffix("S") in _DAYS:
                self._unit("INTERVAL")
            return self._with_units(value.text, span)
        begin = self._curr.text.upper().removesuffix("S")
        length = self._unit("INTERVAL")
        if not self.take("TO"):
            return self._scaled(value, value.text.strip(), length)
        end = self._curr.text.upper().removesuffix("S")
        self._unit("INTERVAL")
        return self._clock(value, begin, end)

    def duration_in(self, text: str, span: Span) -> int:
        """The length of a duration in a text."""
        return self._with_units(text, span)

    def _with_units(self, text: str, span: Span) -> int:
        total, end = Decimal(0), 0
        while match := _PART.match(text, end):
            try:
                length = time.unit(match[3])
            except QueryError as error:
                raise self.fault(error.code, error.message, span, hint=error.hint) from None
            total += Decimal(f"{match[1]}{match[2]}") * length
            end = match.end()
        if end == 0 or text[end:].strip():
            number = text.strip().isdigit()
            raise self.fault(
                "bad-duration",
                f"'{text}' is not a duration",
                span,
                hint=f"write {span.text} MINUTES" if number else f"a duration is {_EXAMPLE}",
            )
        return self._whole(total, span)

    def _clock(self, value: Token, begin: str, end: str) -> int:
        span = self.span(value)
        fields = (
            _FIELDS[_FIELDS.index(begin) : _FIELDS.index(end) + 1]
            if (begin in _FIELDS and end in _FIELDS)
            else ()
        )
        match = _CLOCK.fullmatch(value.text)
        parts = re.split("[ :]", match[2]) if match else []
        if len(fields) < 2 or len(parts) != len(fields):
            raise self.fault(
                "bad-duration",
                f"'{value.text}' is not a duration of {begin} TO {end}",
                span,
                hint="such a duration is written INTERVAL '1 02:03:04' DAY TO SECOND",
            )
        total = sum(
            (Decimal(part) * time.UNITS[field] for part, field in zip(parts, fields, strict=True)),
            Decimal(0),
        )
        return self._whole(-total if match and match[1] == "-" else total, span)

    def _scaled(self, value: Token, text: str, length: int) -> int:
        try:
            amount = Decimal(text)
        except InvalidOperation:
            raise self.fault(
                "bad-duration", f"'{text}' is not a number", self.span(value)
            ) from None
        return self._whole(amount * length, self.span(value))

    def _whole(self, us: Decimal, span: Span) -> int:
        if not us.is_finite() or us != us.to_integral_value() or abs(us) >= time.INF:
            raise self.fault("bad-duration", "a duration is a whole number of microseconds", span)
        return int(us)
