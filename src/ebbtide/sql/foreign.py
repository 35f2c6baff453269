"""Declarations as other systems write them: what is not in the language is refused by its name.

Law: a clause of another system is never passed over, and its error says what to write in its place;
"leave it out" means that the declaration is good without the text that the error points at.  The
words of the refusals are in `refusals`; here is how far such a clause reaches.
"""

import re

from sqlglot.tokenizer_core import Token, TokenType

from ebbtide.errors import EbbtideError, Span
from ebbtide.sql import refusals
from ebbtide.sql.queries import QueryParser

__all__ = ["ForeignReader"]

_FORMATS = ("csv", "json", "parquet", "text", "xml")
_OPTION = re.compile(r"""['"`]?([\w.-]+)['"`]?\s*=?\s*'([^']*)'""")
_USING = re.compile(r"(?i)\b(?:USING|STORED\s+AS|ENCODE|FORMAT)\s+(\w+)")
_LOCATION = re.compile(r"(?i)\bLOCATION\s+'([^']*)'")
_EMIT = re.compile(r"(?is)\s+EMIT\s+CHANGES\s*;?\s*$")

_CONSTRAINTS = ("PRIMARY", "UNIQUE", "CHECK", "FOREIGN")

# Where a clause of a column ends, besides a comma and the parenthesis.
_COLUMN_WORDS = (("NOT", "NULL"), ("PRIMARY", "KEY"), ("COMMENT",))


class ForeignReader(QueryParser):
    """Reads how far clauses of other systems reach, to refuse them."""

    def foreign_kind(self) -> None:
        """Refuses CREATE SOURCE, CREATE SINK and what else is declared elsewhere."""
        for words, refusal in refusals.KINDS.items():
            if self.at(*words.split()):
                first = self._curr
                last = self._tokens[self._index + len(words.split()) - 1]
                self.refuse(refusal, self.span(first, last))
        for word, refusal in refusals.NOT_DECLARED.items():
            if self.at(word):
                self.refuse(refusal, self.span(self._tokens[0], self._tokens[-1]))

    def foreign_element(self) -> None:
        """Refuses a constraint or a computed column between the parentheses of a declaration."""
        first = self._curr
        if self.at("CONSTRAINT") and self._index + 2 < self._tokens_size:
            name, word = self._next, self._tokens[self._index + 2]
            if word.text.upper() in _CONSTRAINTS:
                self.refuse(refusals.NAMED_CONSTRAINT, self.span(first, name))
        for words, refusal in refusals.ELEMENTS.items():
            if self.at(*words.split()):
                self.refuse(refusal, self.element_from(first))
        if self._next.token_type is TokenType.ALIAS:
            self.refuse(refusals.COMPUTED_COLUMN, self.element_from(first), name=first.text)

    def foreign_column(self) -> None:
        """Refuses a clause behind the type of a column."""
        first = self._curr
        for words, refusal in refusals.COLUMN_CLAUSES.items():
            if self.take(*words.split()):
                self._pass_element()
                self.refuse(refusal, self.span(first, self._prev))

    def foreign_clauses(self) -> None:
        """Refuses clauses behind the columns, all that stand together."""
        first, found = self._curr, None
        while (clause := self._foreign_clause()) is not None:
            found = found or clause
            self._pass_clause()
        if found is not None:
            raise self._instead(found, self.span(first, self._prev))

    def foreign_query(self, first: Token, name: str) -> None:
        """Refuses CREATE STREAM name AS SELECT: what has a query is a view."""
        start = self._curr
        if not self._match(TokenType.ALIAS):
            return
        query = _EMIT.sub("", self.sql[start.start : self._tokens[-1].end + 1])
        span = self.span(first, self._tokens[-1])
        self.refuse(refusals.DECLARED_BY_QUERY, span, name=name, query=query)

    def _instead(self, clause: str, span: Span) -> EbbtideError:
        """The error, with the files that the clauses name, if they do."""
        if clause not in refusals.STORAGE:
            return refusals.DECLARATION_CLAUSES[clause](span)
        options = {key.casefold(): value for key, value in _OPTION.findall(span.text)}
        located, used = _LOCATION.search(span.text), _USING.findall(span.text)
        path = located[1] if located else options.get("path")
        known = [word for word in (options.get("format", ""), *used) if word.casefold() in _FORMATS]
        if path and known:
            return refusals.STORED_IN_FILES(
                span, clause=clause, path=path, format=known[0].casefold()
            )
        return refusals.STORED_ELSEWHERE(span, clause=clause)

    def _foreign_clause(self) -> str | None:
        known = (*refusals.STORAGE, *refusals.DECLARATION_CLAUSES)
        return next((words for words in known if self.take(*words.split())), None)

    def _pass_clause(self) -> None:
        """Reads on to what may be the next clause: past parentheses, words and texts."""
        while self._curr and not self._at_clause():
            self.pass_token()

    def _at_clause(self) -> bool:
        known = (*refusals.STORAGE, *refusals.DECLARATION_CLAUSES, *self.clause_words())
        return any(self.at(*words.split()) for words in known)

    def clause_words(self) -> tuple[str, ...]:
        """The clauses of our own."""
        raise NotImplementedError

    def _pass_element(self) -> None:
        while self._curr and self._curr.token_type not in (TokenType.COMMA, TokenType.R_PAREN):
            if any(self.at(*words) for words in _COLUMN_WORDS):
                return
            self.pass_token()

    def pass_token(self) -> None:
        """Reads a token, or all that stands in parentheses."""
        depth = 0
        while self._curr:
            depth += (self._curr.token_type is TokenType.L_PAREN) - (
                self._curr.token_type is TokenType.R_PAREN
            )
            self._advance()
            if depth <= 0:
                return

    def element_from(self, first: Token) -> Span:
        """An element to its end, with the comma that would be left over without it."""
        while self._curr and self._curr.token_type not in (TokenType.COMMA, TokenType.R_PAREN):
            self.pass_token()
        place = next(i for i, token in enumerate(self._tokens) if token is first)
        before = self._tokens[place - 1]
        if before.token_type is TokenType.COMMA:
            return self.span(before, self._prev)
        self._match(TokenType.COMMA)
        return self.span(first, self._prev)
