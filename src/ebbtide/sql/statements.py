"""Statements: queries with how they are emitted, and what is declared, fed, shown and dropped."""

from collections.abc import Callable
from typing import Any

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from ebbtide.core.declaration import Late
from ebbtide.sql.relations import RelationParser
from ebbtide.sql.spans import span_of
from ebbtide.sql.syntax import (
    ColumnDefinition,
    CreateStream,
    CreateTable,
    CreateView,
    Drop,
    Emit,
    Explain,
    Files,
    InsertInto,
    Kind,
    Name,
    Period,
    Progress,
    Query,
    Show,
    Statement,
)
from ebbtide.sql.types import data_type

__all__ = ["StatementParser"]

_FORMATS = ("json", "csv", "parquet")
_STATEMENTS = "CREATE, INSERT INTO, SELECT, EXPLAIN, SHOW or DROP"


class StatementParser(RelationParser):
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
            return self._create(first)
        if self.take("INSERT"):
            return self._insert(first)
        if self.take("EXPLAIN"):
            json = self.take("JSON")
            return Explain(self._query(), json, self.span(first, self._prev))
        if self.take("SHOW"):
            return Show(self._kind(Kind.QUERY, plural=True), self.span(first, self._prev))
        if self.take("DROP"):
            kind = self._kind(plural=False)
            if_exists = self.take("IF", "EXISTS")
            name = self.name(f"the name of a {kind.value.lower()}")
            return Drop(kind, name, if_exists, self.span(first, self._prev))
        return self._query()

    def _query(self) -> Query:
        first = self._curr
        body = self.query()
        emit, allowed = None, False
        while True:
            if self.at("EMIT"):
                emit = self._emit(emit)
            elif self.at("ALLOW"):
                allowed = self._allow(allowed)
            else:
                return Query(body, emit, allowed, self.span(first, self._prev))

    def _emit(self, before: Emit | None) -> Emit:
        first = self._curr
        self._advance()
        for emit in Emit:
            if self.take(emit.value):
                if before is not None:
                    raise self._twice("EMIT", first)
                return emit
        raise self.unexpected("CHANGES or FINAL")

    def _allow(self, before: bool) -> bool:
        first = self._curr
        self._advance()
        self.need("UNBOUNDED", "STATE")
        if before:
            raise self._twice("ALLOW UNBOUNDED STATE", first)
        return True

    def _twice(self, clause: str, first: Token) -> Exception:
        return self.fault(
            "duplicate-clause", f"{clause} stands here a second time", self.span(first, self._prev)
        )

    def _kind(self, *more: Kind, plural: bool) -> Kind:
        words = {"QUERIES" if kind is Kind.QUERY else f"{kind.value}S": kind for kind in Kind}
        if not plural:
            words = {kind.value: kind for kind in Kind}
        for word, kind in words.items():
            if (kind is not Kind.QUERY or kind in more) and self.take(word):
                return kind
        raise self.unexpected(", ".join(words))

    def _insert(self, first: Token) -> InsertInto:
        self.need("INTO")
        self.take("TABLE")
        target = self.name("the name of what is inserted into")
        columns = None
        if self._match(TokenType.L_PAREN):
            listed = not (self.begins_query() or self._match(TokenType.L_PAREN, advance=False))
            self._retreat(self._index - 1)
            columns = self._names("a column") if listed else None
        query = self._query()
        return InsertInto(target, columns, query, self.span(first, self._prev))

    # --- declarations ---------------------------------------------------------------------------

    def _create(self, first: Token) -> Statement:
        replace = self.take("OR", "REPLACE")
        kind = self._kind(plural=False)
        missing = self.take("IF", "NOT", "EXISTS")
        name = self.name(f"the name of the {kind.value.lower()}")
        if kind is Kind.VIEW:
            columns, progress = self._view_columns()
            self.need("AS")
            body = self.query()
            span = self.span(first, self._prev)
            return CreateView(name, columns, progress, body, replace, missing, span)
        parts = self._elements()
        self._clauses(parts, _STREAM if kind is Kind.STREAM else _TABLE)
        parts |= {"name": name, "or_replace": replace, "if_not_exists": missing}
        parts["progress"] = tuple(parts["progress"])
        make = CreateStream if kind is Kind.STREAM else CreateTable
        return make(**parts, span=self.span(first, self._prev))

    def _view_columns(self) -> tuple[tuple[Name, ...] | None, tuple[Name, ...] | None]:
        if not self._match(TokenType.L_PAREN):
            return None, None
        columns: list[Name] = []
        progress: list[Name] = []
        while True:
            if self.take("PROGRESS", "FOR"):
                progress.append(self.name("a column"))
            else:
                columns.append(self.name("a column"))
            if not self._match(TokenType.COMMA):
                break
        self.need_token(TokenType.R_PAREN, ")")
        return tuple(columns) or None, tuple(progress) or None

    def _elements(self) -> dict[str, Any]:
        """What stands in the parentheses of a declaration: columns, the key, promises."""
        parts: dict[str, Any] = {"columns": (), "key": (), "progress": []}
        self.need_token(TokenType.L_PAREN, "(")
        while True:
            first = self._curr
            if self._match(TokenType.PRIMARY_KEY):
                if parts["key"]:
                    raise self._twice("PRIMARY KEY", first)
                parts["key"] = self._names("a column of the key")
            elif self.take("PROGRESS", "FOR"):
                parts["progress"].append(self._progress(first))
            else:
                parts["columns"] += (self._column(),)
            if not self._match(TokenType.COMMA):
                break
        if not self._match(TokenType.R_PAREN):
            raise self.unexpected('"," or ")"')
        return parts

    def _column(self) -> ColumnDefinition:
        first = self._curr
        name = self.name("a column")
        kind = self._parse_types(schema=True)
        if kind is None:
            raise self.unexpected(f'the type of "{name}"')
        type_ = data_type(kind, self.sql)
        nullable = not self.take("NOT", "NULL")
        comment = None
        if self.take("COMMENT"):
            comment = self.string("the comment")
            nullable = nullable and not self.take("NOT", "NULL")
        return ColumnDefinition(name, type_, nullable, comment, self.span(first, self._prev))

    def _progress(self, first: Token) -> Progress:
        attribute = self.name("a column")
        delay_us = 0
        if self.take("AS"):
            start = self._curr
            base = self.name(f'"{attribute}"')
            if self._match(TokenType.DASH):
                delay_us = self.duration("PROGRESS").us
            if base.text.casefold() != attribute.text.casefold() or self._match(TokenType.PLUS):
                raise self.fault(
                    "bad-promise",
                    f'the progress of "{attribute}" is "{attribute}" less a duration',
                    self.span(start, self._prev),
                    hint=f"write {attribute} - INTERVAL 5 SECONDS",
                )
        return Progress(attribute, delay_us, self.span(first, self._prev))

    def _clauses(self, parts: dict[str, Any], known: dict[str, tuple[str, Any, Any]]) -> None:
        parts |= {field: default for field, default, _ in known.values()}
        seen: set[str] = set()
        while self._curr:
            first = self._curr
            if self.take("PROGRESS", "FOR"):
                parts["progress"].append(self._progress(first))
                continue
            clause = next((words for words in known if self.take(*words.split())), None)
            if clause is None:
                raise self.unexpected(f"{', '.join(known)} or the end of the statement")
            field, _, read = known[clause]
            value = read(self, first)
            if field in seen:
                raise self._twice(clause, first)
            seen.add(field)
            parts[field] = value

    def _files(self, first: Token) -> Files:
        path = self.string("the path of the files")
        self.need("FORMAT")
        format_ = self._curr.text.lower()
        if format_ not in _FORMATS:
            raise self.fault(
                "unknown-format",
                f'there is no format "{self._found() if self._curr else ""}"',
                hint=f"the formats are {', '.join(_FORMATS)}",
            )
        self._advance()
        options: list[tuple[str, str]] = []
        if self.take("OPTIONS"):
            self.need_token(TokenType.L_PAREN, "(")
            options.append(self._option())
            while self._match(TokenType.COMMA):
                options.append(self._option())
            self.need_token(TokenType.R_PAREN, ")")
        return Files(path, format_, tuple(options), self.span(first, self._prev))

    def _option(self) -> tuple[str, str]:
        string = self._curr.token_type is TokenType.STRING
        key = self.string("an option") if string else self.name("an option").text
        self._match(TokenType.EQ)
        return key, self.string(f'the value of "{key}"')

    def _late(self, first: Token) -> Late:
        for late in Late:
            if self.take(late.value):
                return late
        raise self.unexpected("REVISE or QUARANTINE")

    # --- small readers --------------------------------------------------------------------------

    def name(self, what: str) -> Name:
        """Reads a name of one part."""
        node = self.identifier(what)
        if self._match(TokenType.DOT, advance=False):
            self.unsupported("a name in two parts", self.span(self._prev, self._next))
        return Name(node.name, span_of(node, self.sql))

    def _names(self, what: str) -> tuple[Name, ...]:
        self.need_token(TokenType.L_PAREN, "(")
        names = [self.name(what)]
        while self._match(TokenType.COMMA):
            names.append(self.name(what))
        self.need_token(TokenType.R_PAREN, ")")
        return tuple(names)

    def string(self, what: str) -> str:
        """Reads a text in quotes."""
        node = self._parse_string()
        if not isinstance(node, exp.Literal):
            raise self.unexpected(f"{what} in quotes")
        return str(node.this)

    def period(self, of: str) -> Period:
        """Reads a duration."""
        node = self.duration(of)
        return Period(node.us, span_of(node, self.sql))


_Reader = Callable[[StatementParser, Token], object]


def _period(of: str) -> _Reader:
    return lambda parser, _: parser.period(of)


def _column_name(parser: StatementParser, _: Token) -> Name:
    return parser.name("a column")


# Clauses: their words, the field that they fill, what it is without them, and who reads the rest.
_COMMON: dict[str, tuple[str, Any, Any]] = {
    "FROM FILES": ("files", None, StatementParser._files),
    "OP": ("op", None, _column_name),
    "RETAIN": ("retain", None, _period("RETAIN")),
    "LATE": ("late", None, StatementParser._late),
    "IDLE AFTER": ("idle_after", None, _period("IDLE AFTER")),
    "NOT BEYOND": ("not_beyond", None, _period("NOT BEYOND")),
}
_STREAM = {**_COMMON, "APPEND ONLY": ("append_only", False, lambda *_: True)}
_TABLE = {
    **_COMMON,
    "TIME": ("time", None, _column_name),
    "SEQUENCE": ("sequence", None, _column_name),
    "LIFETIME": ("lifetime", None, _period("LIFETIME")),
}
