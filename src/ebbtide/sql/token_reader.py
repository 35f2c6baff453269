"""What every part of the parser shares: errors of ours, spans, a budget, and small readers.

sqlglot's parser goes back and tries again where a text may mean several things, which for some
nestings takes exponential time; here it may look at each token so many times and not more.
"""

import re
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from functools import wraps
from typing import Any, Concatenate, NoReturn, ParamSpec, TypeVar

from sqlglot import exp
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import Token, TokenType

from ebbtide.errors import ParseError, Span
from ebbtide.sql.refusals import Refusal
from ebbtide.sql.spans import mark
from ebbtide.sql.words import CLAUSES

__all__ = ["Reader", "located"]

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

NOTHING = Token(TokenType.SENTINEL, "")

LOOKS_PER_TOKEN = 400

# What sqlglot says that it expects, in words of ours.
_EXPECTED = (
    (re.compile(r"Expect(?:ed|ing) ([()\]])$"), '"{0}"'),
    (re.compile(r"Expected (END|AS|TYPE) after (CASE|CAST)"), "{0} to complete {1}"),
    (re.compile(r"Expected CTE to have alias"), "a name after WITH"),
    (re.compile(r"Failed to parse any statement following CTE"), "a query after WITH"),
)
_TWICE = re.compile(r"Found multiple '(.*)' clauses")
_NAME = re.compile(r"\w+")
_CAPITALS = re.compile(r"\b[A-Z]{2,}\b")


def _ending(expected: str | None) -> str:
    return "the statement ends too early" + (f", {expected}" if expected else "")


def located(method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """A parsing method that marks the node it returns with the tokens that it read."""

    @wraps(method)
    def parse(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        first, index = self._curr, self._index
        node = method(self, *args, **kwargs)
        if isinstance(node, exp.Expr) and self._index > index:
            mark(node, first.start, self._prev.end + 1)
        return node

    return parse


class Reader(SparkParser):
    """sqlglot's parser for Spark, with errors that point at the source."""

    _looks = 0

    # --- errors ---------------------------------------------------------------------------------

    def span(self, first: Token = NOTHING, last: Token = NOTHING) -> Span:
        """The source from one token to another; without any, the current one."""
        first = first or self._curr
        if not first:
            end = self._prev.end + 1 if self._prev else len(self.sql)
            return Span(self.sql, end, end)
        return Span(self.sql, first.start, max(first, last or first, key=lambda t: t.end).end + 1)

    def fault(
        self,
        code: str,
        message: str,
        span: Span | None = None,
        *,
        hint: str | None = None,
        detail: str | None = None,
    ) -> ParseError:
        """An error at a place in the source; without one, at the current token."""
        return ParseError(code, message, span=span or self.span(), hint=hint, detail=detail)

    def refuse(self, refusal: Refusal, span: Span | None = None, **words: str) -> NoReturn:
        """Refuses what SQL has and Ebbtide has not, at a place or at the current token."""
        raise refusal(span or self.span(), **words)

    def unexpected(self, expected: str | None = None) -> ParseError:
        """The error that the current token is not what should stand here."""
        if misplaced := self._misplaced():
            return misplaced
        if not self._curr:
            return self.fault("syntax", _ending(f"expected {expected}" if expected else None))
        found = f'unexpected "{self._found()}"'
        message = f"{found}, expected {expected}" if expected else found
        words = _CAPITALS.findall(expected) if expected else []
        if misspelt := self._misspelt(words or CLAUSES):
            token, word = misspelt
            return self.fault("syntax", message, self.span(token), hint=f"write {word}")
        return self.fault("syntax", message)

    def twice(self, clause: str, first: Token) -> ParseError:
        """The error that a clause stands here again; it begins at a token."""
        return self.fault(
            "duplicate-clause", f"{clause} stands here a second time", self.span(first, self._prev)
        )

    def _misspelt(self, words: Sequence[str]) -> tuple[Token, str] | None:
        """A token here that looks like one of the words, and the word."""
        for token in (self._curr, self._prev):
            if token.token_type is TokenType.VAR and token.text.upper() not in words:
                near = get_close_matches(token.text.upper(), words, 1, 0.74)
                if near:
                    return token, near[0]
        return None

    def _misplaced(self) -> ParseError | None:
        """The error that EMIT or ALLOW stands inside of a query."""
        first, index = self._curr, self._index
        emit = self._match_text_seq("EMIT") and (
            self._match_texts(("CHANGES", "FINAL")) or self._match_text_seq("ON", "WINDOW", "CLOSE")
        )
        on_error = not emit and self._match_text_seq("ON", "ERROR")
        on_error = on_error and self._match_texts(("QUARANTINE", "FAIL"))
        if emit or on_error or self._match_text_seq("ALLOW", "UNBOUNDED", "STATE"):
            span = self.span(first, self._prev)
            return self.fault(
                "misplaced-emit",
                f"{span.text.upper()} belongs at the end of a query that is started",
                span,
                hint="say it once, after the outermost query, or behind a view of its own: "
                "CREATE VIEW v AS SELECT ... EMIT FINAL",
            )
        self._retreat(index)
        return None

    def _found(self) -> str:
        text = self.sql[self._curr.start : self._curr.end + 1].split("\n")[0]
        return text if len(text) <= 40 else f"{text[:37]}..."

    def raise_error(self, message: str, token: Token = NOTHING) -> None:
        """Turns what sqlglot has to say into an error of ours."""
        for pattern, expected in _EXPECTED:
            if match := pattern.match(message):
                raise self.unexpected(expected.format(*match.groups()))
        if match := _TWICE.match(message):
            words = f"{match[1]} stands here a second time"
            raise self.fault("duplicate-clause", words, self.span(token))
        raise self.unexpected()

    def _try_parse(self, parse_method: Callable[[], T], retreat: bool = False) -> T | None:
        index, this = self._index, None
        try:
            this = parse_method()
        except ParseError as error:
            if error.code == "too-deep":
                raise
        finally:
            if not this or retreat:
                self._retreat(index)
        return this

    def _advance(self, times: int = 1) -> None:
        self._looks += 1
        if self._looks > LOOKS_PER_TOKEN * (self._tokens_size + 10):
            raise self.fault("too-deep", "the statement is nested too deeply")
        super()._advance(times)

    # --- small readers --------------------------------------------------------------------------

    def start(self, tokens: list[Token], sql: str) -> None:
        """Goes to the beginning of a statement, given as some of the tokens of a source."""
        self.reset()
        self._looks = 0
        self.sql = sql
        self._chunks = [tokens]
        self._advance_chunk()

    def at(self, *words: str) -> bool:
        """Whether the next words are these, in any case and unquoted."""
        return self._match_text_seq(*words, advance=False)

    def take(self, *words: str) -> bool:
        """Reads these words if they come next."""
        return bool(self._match_text_seq(*words))

    def need(self, *words: str) -> None:
        """Reads these words, which have to come next."""
        for word in words:
            if not self.take(word):
                raise self.unexpected(word)

    def need_token(self, token_type: TokenType, text: str) -> None:
        """Reads a token, which has to come next."""
        if not self._match(token_type):
            raise self.unexpected(f'"{text}"')

    def needed(self, found: T | None, what: str) -> T:
        """What was read here, if there was anything."""
        if not found:
            raise self.unexpected(what)
        return found

    def identifier(self, what: str) -> exp.Identifier:
        """Reads a name."""
        first = self._curr
        if first and first.token_type not in (TokenType.STRING, TokenType.NUMBER):
            node = self._parse_id_var(any_token=False)
            if isinstance(node, exp.Identifier) and (node.quoted or _NAME.fullmatch(node.name)):
                mark(node, first.start, self._prev.end + 1)
                return node
            self._retreat(self._index - (self._prev is first))
        raise self.unexpected(what)

    def _advance_any(self, ignore_reserved: bool = False) -> Token | None:
        """Reads a word that becomes a name, as after AS; sqlglot would read a literal too."""
        quoted = self._curr.token_type in self.TEXT_MATCH_EXCLUDED_TOKENS
        if not _NAME.fullmatch(self._curr.text) or quoted or self._curr.text.isdecimal():
            return None
        return super()._advance_any(ignore_reserved)

    def at_double_quotes(self, token: Token | None = None) -> bool:
        """Whether a name in double quotes stands here, or is the token that is given."""
        found = token or self._curr
        return found.token_type is TokenType.IDENTIFIER and self.sql[found.start] == '"'

    def identifiers(self, what: str) -> list[exp.Identifier]:
        """Reads one or more names, with commas between."""
        names = [self.identifier(what)]
        while self._match(TokenType.COMMA):
            names.append(self.identifier(what))
        return names

    def count(self, what: str) -> int:
        """Reads a number of rows."""
        if self._curr.token_type is not TokenType.NUMBER or not self._curr.text.isdigit():
            raise self.fault("bad-count", f"{what} needs a whole number of rows")
        self._advance()
        if int(self._prev.text) == 0:
            raise self.fault(
                "bad-count", f"{what} must be greater than zero", self.span(self._prev)
            )
        return int(self._prev.text)
