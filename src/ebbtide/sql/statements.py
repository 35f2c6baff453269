"""Statements: queries with how they are emitted, and what is declared, fed, shown and dropped."""

from typing import NoReturn

from sqlglot.tokenizer_core import Token, TokenType

from ebbtide.sql import refusals
from ebbtide.sql.output_options import NOT_ASKED, OutputParser
from ebbtide.sql.syntax import Drop, EntryKind, Explain, InsertInto, Query, Show, Statement

__all__ = ["StatementParser"]

_DESCRIBED = ("TABLE", "STREAM", "VIEW", "EXTENDED", "FORMATTED")
_STATEMENTS = "CREATE, INSERT INTO, SELECT, WITH, EXPLAIN, SHOW or DROP"

_DECLARED = (EntryKind.STREAM, EntryKind.TABLE, EntryKind.VIEW)


class StatementParser(OutputParser):
    """Reads statements."""

    def statement(self) -> Statement:
        """Reads one statement, all of it."""
        statement = self._statement()
        if self._curr:
            raise self.unexpected()
        return statement

    def query_statement(self) -> Query:
        """Reads a query with how it is emitted, and nothing else."""
        query = self._query()
        if self._curr:
            raise self.unexpected()
        return query

    def _statement(self) -> Statement:
        first = self._curr
        if self.take("CREATE"):
            replace = self.take("OR", "REPLACE")
            self.foreign_kind()
            return self.declaration(first, self._kind(plural=False), replace)
        if self.take("INSERT"):
            return self._insert(first)
        if self.take("EXPLAIN"):
            verbose = self.take("VERBOSE")
            json = not verbose and self.take("JSON")
            return Explain(self._query(), json, verbose, self.span(first, self._prev))
        if self.take("SHOW"):
            return Show(self._kind(plural=True), self.span(first, self._prev))
        if self.take("DROP"):
            kind = self._kind(plural=False)
            if_exists = self.take("IF", "EXISTS")
            name = self.name(f"the name of a {kind.value.lower()}")
            self.take("RESTRICT")
            if self.at("CASCADE"):
                self.refuse(refusals.DROP_CASCADE, self.span(), name="CASCADE")
            return Drop(kind, name, if_exists, self.span(first, self._prev))
        if self._match_texts(refusals.STATEMENTS, advance=False):
            self._refuse_statement(first.text.upper())
        if not self.begins_query() and not self._match(TokenType.L_PAREN, advance=False):
            raise self.unexpected(_STATEMENTS)
        return self._query()

    def _refuse_statement(self, name: str) -> NoReturn:
        whole = self.span(self._curr, self._tokens[-1])
        if name in refusals.LEFT_OUT_STATEMENTS:
            self.refuse(refusals.STATEMENT_LEFT_OUT, whole, name=name)
        if name in refusals.RUNS:
            self.refuse(refusals.STATEMENT_OF_RUNS, whole, name=name)
        first = self._curr
        if self.take("EXECUTE", "STATEMENT", "SET"):
            self.take("BEGIN")
            self.refuse(refusals.STATEMENT_SET, self.span(first, self._prev))
        self._advance()
        self.take("TO")
        known = refusals.INSTEAD_OF_STATEMENTS.get(name)
        while name in ("DESC", "DESCRIBE") and self._match_texts(_DESCRIBED):
            pass
        if name in refusals.ADVICE_FOR_STATEMENTS:
            advice = refusals.ADVICE_FOR_STATEMENTS[name]
            self.refuse(refusals.STATEMENT_ADVISED, whole, name=name, advice=advice)
        if known is not None and self._curr:
            rest = self.sql[self._curr.start : whole.end]
            written = known.format(rest=rest)
            self.refuse(refusals.STATEMENT_INSTEAD, whole, name=name, instead=written)
        self.refuse(refusals.STATEMENT, self.span(self._tokens[0]), name=name, known=_STATEMENTS)

    def _query(self) -> Query:
        first = self._curr
        body = self.query()
        answer, said = self.answer_options(), NOT_ASKED
        while self.at_output():
            said = self.output(said)
            answer = self.answer_options(answer)
        span = self.span(first, self._prev)
        return Query(body, answer, said.output, said.expiry, said.lineage, span)

    def _kind(self, plural: bool) -> EntryKind:
        words = {f"{kind.value}S" if plural else kind.value: kind for kind in _DECLARED}
        if plural:
            words["QUERIES"] = EntryKind.QUERY
            elsewhere = refusals.SHOWN_AS.get(self._curr.text.upper()) if self._curr else None
            if elsewhere is not None:
                span, named = self.span(self._prev, self._curr), self._curr.text.upper()
                self.refuse(refusals.SHOWN_ELSEWHERE, span, name=named, instead=elsewhere)
        for word, kind in words.items():
            if self.take(word) or (kind is EntryKind.VIEW and self.take("MATERIALIZED", word)):
                return kind
        raise self.unexpected(" or ".join(words))

    def _insert(self, first: Token) -> InsertInto:
        self.need("INTO")
        self.take("TABLE")
        target = self.name("the name of what is inserted into")
        columns = None
        if self._match(TokenType.L_PAREN):
            listed = not (self.begins_query() or self._match(TokenType.L_PAREN, advance=False))
            self._retreat(self._index - 1)
            columns = self.names("a column") if listed else None
        query = self._query()
        return InsertInto(target, columns, query, self.span(first, self._prev))
