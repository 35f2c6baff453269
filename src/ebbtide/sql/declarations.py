"""Declarations: the columns, keys, promises and clauses of a stream, a table or a view.

Clauses stand behind the columns in any order, each at most once.
"""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from ebbtide.core.declaration import Late, Way
from ebbtide.core.time import INF
from ebbtide.errors import ParseError, Span
from ebbtide.sql import refusals
from ebbtide.sql.answer_options import AnswerOptionsParser
from ebbtide.sql.literals import double_quoted
from ebbtide.sql.spans import span_of
from ebbtide.sql.syntax import (
    ArchiveClause,
    ColumnDefinition,
    CreateStream,
    CreateTable,
    CreateView,
    EntryKind,
    FilesClause,
    HistogramClause,
    Name,
    Period,
    Progress,
    SampleClause,
)
from ebbtide.sql.types import data_type

__all__ = ["DeclarationParser"]


class DeclarationParser(AnswerOptionsParser):
    """Reads declarations."""

    def declaration(
        self, first: Token, kind: EntryKind, replace: bool
    ) -> CreateStream | CreateTable | CreateView:
        """Reads what follows CREATE [OR REPLACE] and the kind of what is declared."""
        missing = self.take("IF", "NOT", "EXISTS")
        name = self.name(f"the name of the {kind.value.lower()}")
        if kind is EntryKind.VIEW:
            columns, progress = self._view_columns()
            keep = self.period("KEEP CHANGES") if self.take("KEEP", "CHANGES") else None
            self.need("AS")
            body, answer = self.query(), self.answer_options()
            span = self.span(first, self._prev)
            return CreateView(name, columns, progress, keep, body, answer, replace, missing, span)
        self.foreign_query(first, name.text)
        parts = self._elements()
        self._clauses(parts, _STREAM if kind is EntryKind.STREAM else _TABLE)
        parts |= {"name": name, "or_replace": replace, "if_not_exists": missing}
        parts["progress"] = tuple(parts["progress"])
        make = CreateStream if kind is EntryKind.STREAM else CreateTable
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
            if self.take("PRIMARY", "KEY"):
                if parts["key"]:
                    raise self.twice("PRIMARY KEY", first)
                parts["key"] = self.names("a column of the key")
                self._check_enforced()
            elif self.promised():
                parts["progress"].append(self._progress(first))
            else:
                self.foreign_element()
                parts["columns"] += (self._column(parts),)
            if not self._match(TokenType.COMMA):
                break
        if not self._match(TokenType.R_PAREN):
            raise self.unexpected('"," or ")"')
        return parts

    def promised(self) -> bool:
        """Reads PROGRESS FOR, which others call WATERMARK FOR."""
        return self.take("PROGRESS", "FOR") or self.take("WATERMARK", "FOR")

    def _check_enforced(self) -> None:
        first = self._curr
        if self.take("NOT", "ENFORCED"):
            self.refuse(refusals.NOT_ENFORCED, self.span(first, self._prev))

    def _column(self, parts: dict[str, Any]) -> ColumnDefinition:
        first = self._curr
        try:
            name = self.name("a column")
            written = self.type_name(f'the type of "{name}"', schema=True)
        except ParseError as error:
            raise self._clause_among_columns(first) or error from None
        type_ = data_type(written, self.sql, declared=True)
        nullable, comment, arrival = True, None, False
        while True:
            word = self._curr
            if not arrival and self.take("ARRIVAL"):
                arrival = True
            elif nullable and self.take("NOT", "NULL"):
                nullable = False
            elif comment is None and self.take("COMMENT"):
                comment = self.string("the comment")
            elif self.take("PRIMARY", "KEY"):
                if parts["key"]:
                    raise self.twice("PRIMARY KEY", word)
                parts["key"] = (name,)
                self._check_enforced()
            else:
                break
        self.foreign_column()
        span = self.span(first, self._prev)
        return ColumnDefinition(name, type_, nullable, comment, span, arrival)

    def _clause_among_columns(self, first: Token) -> ParseError | None:
        """The error that a clause stands between the parentheses; None if it is another one."""
        words = [words.split()[0] for words in self.clause_words()]
        if first.token_type is TokenType.IDENTIFIER or first.text.upper() not in words:
            return None
        element = self.element_from(first)
        while self._curr and self._curr.token_type is not TokenType.R_PAREN:
            self.pass_token()
        if not self._curr:
            return None
        clause = element.text.strip(", \n")
        rest = self.sql[element.end : self._curr.start].strip()
        return self.fault(
            "misplaced-clause",
            f"{first.text.upper()} stands behind the columns, not among them",
            Span(self.sql, element.start, self._curr.end + 1),
            hint=f"write {rest}) {clause}",
        )

    def _progress(self, first: Token) -> Progress:
        attribute = self.name("a column")
        delay_us = 0
        if self.take("AS"):
            start = self._curr
            base = self.name(f'"{attribute}"')
            late = self._match(TokenType.DASH)
            early = not late and self._match(TokenType.PLUS)
            if late or early:
                delay_us = self.duration("PROGRESS").us
            if base.text.casefold() != attribute.text.casefold() or early:
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
            if self.promised():
                parts["progress"].append(self._progress(first))
                continue
            clause = next((words for words in known if self.take(*words.split())), None)
            if clause is None:
                self.foreign_clauses()
                raise self.unexpected(f"{', '.join(known)} or the end of the statement")
            field, _, read = known[clause]
            value = read(self, first)
            if field in seen:
                raise self.twice(clause, first)
            seen.add(field)
            parts[field] = value

    def clause_words(self) -> tuple[str, ...]:
        """The clauses that may stand behind the columns."""
        return (*_STREAM, *_TABLE, "PROGRESS FOR", "WATERMARK FOR")

    def _files(self, first: Token) -> FilesClause:
        path = self.string("the path of the files")
        self.need("FORMAT")
        word = self._curr
        if not word or not word.text.isidentifier():
            raise self.unexpected("the name of a format")
        self._advance()
        format_ = Name(word.text.lower(), self.span(word, word))
        options: list[tuple[str, str]] = []
        if self.take("OPTIONS"):
            self.need_token(TokenType.L_PAREN, "(")
            options.append(self._option())
            while self._match(TokenType.COMMA):
                options.append(self._option())
            self.need_token(TokenType.R_PAREN, ")")
        return FilesClause(path, format_, tuple(options), self.span(first, self._prev))

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

    def _revise(self, first: Token) -> Period:
        """EVERY and a duration, or ON DEMAND."""
        if self.take("EVERY"):
            return self.period("REVISE EVERY")
        if self.take("ON", "DEMAND"):
            return Period(INF, self.span(first, self._prev))
        raise self.unexpected("EVERY or ON DEMAND")

    def _replay(self, first: Token) -> Way:
        for way in Way:
            if self.take(way.value):
                return way
        raise self.unexpected("ALL, MINIMAL or DIRECT")

    def _archive(self, first: Token) -> ArchiveClause:
        """A duration, and SAMPLE 10 PERCENT or AS HISTOGRAM behind it."""
        length, start = self.period("ARCHIVE"), self._curr
        if self.take("SAMPLE"):
            return ArchiveClause(length, self._sample(start))
        if self.take("AS", "HISTOGRAM"):
            of = self._listed("a column of numbers") if self.take("OF") else ()
            every = self.period("AS HISTOGRAM EVERY") if self.take("EVERY") else None
            return ArchiveClause(length, HistogramClause(of, every, self.span(start, self._prev)))
        return ArchiveClause(length)

    def _sample(self, start: Token) -> SampleClause:
        part = Decimal(self._counted("how many percent")) * 10_000
        if part != int(part):
            raise self.fault(
                "bad-sample",
                "a sample has at most four decimals of a percent",
                self.span(self._prev),
            )
        self.need("PERCENT")
        by_impact, impact = self.take("BY", "IMPACT"), None
        if by_impact and self.take("OF"):
            impact = self.name("a column of numbers")
        seed = 0
        if self.take("SEED"):
            text = self._counted("a whole number")
            if not text.isdigit() or int(text) >= 1 << 63:
                raise self.fault("syntax", f"{text} is not a seed", self.span(self._prev))
            seed = int(text)
        return SampleClause(int(part), by_impact, impact, seed, self.span(start, self._prev))

    def _counted(self, what: str) -> str:
        """Reads a number, without a sign."""
        if not self._match(TokenType.NUMBER):
            raise self.unexpected(what)
        return self._prev.text

    def _listed(self, what: str) -> tuple[Name, ...]:
        """Reads names with commas between them."""
        names = [self.name(what)]
        while self._match(TokenType.COMMA):
            names.append(self.name(what))
        return tuple(names)

    def _lifetime(self, first: Token) -> Period | Name:
        """A duration, or UNTIL and the column with the time at which a row ends."""
        return self.name("a column") if self.take("UNTIL") else self.period("LIFETIME")

    def _encoded(self, first: Token) -> Name:
        """The name of an encoding, in quotes if it has a hyphen."""
        word = self._curr
        text = self.string("an encoding") if word.token_type is TokenType.STRING else None
        return self.name("an encoding") if text is None else Name(text, self.span(word))

    # --- small readers --------------------------------------------------------------------------

    def name(self, what: str) -> Name:
        """Reads a name of one part."""
        node = self.identifier(what)
        if self._match(TokenType.DOT, advance=False):
            self.refuse(refusals.NAME_IN_TWO_PARTS, self.span(self._prev, self._next))
        return Name(node.name, span_of(node, self.sql))

    def names(self, what: str) -> tuple[Name, ...]:
        """Reads names in parentheses."""
        self.need_token(TokenType.L_PAREN, "(")
        names = [self.name(what)]
        while self._match(TokenType.COMMA):
            names.append(self.name(what))
        self.need_token(TokenType.R_PAREN, ")")
        return tuple(names)

    def string(self, what: str) -> str:
        """Reads a text in quotes."""
        if self.at_double_quotes():
            raise double_quoted(self.span(), _single_quoted(self._curr.text))
        node = self._parse_string()
        if not isinstance(node, exp.Literal):
            raise self.unexpected(f"{what} in quotes")
        return str(node.this)

    def period(self, of: str) -> Period:
        """Reads a duration."""
        node = self.duration(of)
        return Period(node.us, span_of(node, self.sql))


def _single_quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


_Reader = Callable[[DeclarationParser, Token], object]


def _period(of: str) -> _Reader:
    return lambda parser, _: parser.period(of)


def _column_name(parser: DeclarationParser, _: Token) -> Name:
    return parser.name("a column")


# Clauses: their words, the field that they fill, what it is without them, and who reads the rest.
_COMMON: dict[str, tuple[str, Any, Any]] = {
    "FROM FILES": ("files", None, DeclarationParser._files),
    "OP": ("op", None, _column_name),
    "LIFETIME": ("lifetime", None, DeclarationParser._lifetime),
    "RETAIN": ("retain", None, _period("RETAIN")),
    "LATE": ("late", None, DeclarationParser._late),
    "IDLE AFTER": ("idle_after", None, _period("IDLE AFTER")),
    "NOT BEYOND": ("not_beyond", None, _period("NOT BEYOND")),
}
_STREAM = {
    **_COMMON,
    "APPEND ONLY": ("append_only", False, lambda *_: True),
    "ARCHIVE": ("archive", None, DeclarationParser._archive),
    "REVISE": ("revise", None, DeclarationParser._revise),
    "REPLAY": ("replay", None, DeclarationParser._replay),
}
_TABLE = {
    **_COMMON,
    "TIME": ("time", None, _column_name),
    "SEQUENCE": ("sequence", None, _column_name),
    "ENCODING": ("encoding", None, DeclarationParser._encoded),
}
