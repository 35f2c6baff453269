"""What stands in FROM: sources, their windows, and the operators that make streams.

source  ::=  item [ '[' window ']' ] [ FOR SYSTEM_TIME AS OF column ] { PIVOT ( pivot ) }
             [ [AS] alias [ (columns) ] ]
item    ::=  name | ( query ) | ( source joins ) | VALUES ... | function ( ... )
          |  TABLE ( function ( ... ) )
          |  [ LATERAL ] UNNEST ( array ) [ WITH ORDINALITY ]
          |  ISTREAM ( query ) | DSTREAM ( query ) | RSTREAM ( query EVERY duration )
window  ::=  spec [ ON name ]
spec    ::=  [ PARTITION BY names ] NAME amounts, by the syntax that a window declares
          |  VALID [ FROM expression ] [ TO expression ]
"""

from collections.abc import Collection, Iterator
from difflib import get_close_matches
from typing import NoReturn

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from ebbtide.algebra.identifiers import identifier
from ebbtide.algebra.window import WINDOWS, Syntax, Unit
from ebbtide.errors import ParseError, Span
from ebbtide.sql import nodes, refusals
from ebbtide.sql.elsewhere import ABSENT, INSTEAD
from ebbtide.sql.pivot_forms import Pivot, named_columns, pivoted
from ebbtide.sql.scalars import ScalarParser
from ebbtide.sql.spans import mark
from ebbtide.sql.token_reader import located

__all__ = ["SourceParser"]

_STREAM_OPERATORS = ("ISTREAM", "DSTREAM", "RSTREAM")

# Table functions, and how their calls are written.
_FUNCTIONS = {
    "TUMBLE": "TUMBLE(bids, at, 10 MINUTES)",
    "HOP": "HOP(bids, at, 1 MINUTE, 10 MINUTES)",
    "SESSION": "SESSION(bids PARTITION BY bidder, at, 10 MINUTES)",
    "CUMULATE": "CUMULATE(bids, at, 1 HOUR, 1 DAY)",
}

_AFTER_A_SOURCE = refusals.by_token(
    {word: refusals.CLAUSES[word] for word in refusals.AFTER_A_SOURCE}
)


class SourceParser(ScalarParser):
    """Reads sources."""

    def query(self) -> exp.Expr:
        """Reads a query."""
        first = self._curr
        node = self._parse_ddl_select()
        if node is None:
            raise self.unexpected("a query")
        mark(node, first.start, self._prev.end + 1)
        return node

    def begins_query(self) -> bool:
        """Whether the next token begins a query that is not in parentheses."""
        if self._curr.token_type in (TokenType.SELECT, TokenType.WITH, TokenType.VALUES):
            return True
        return self._next.token_type is TokenType.L_PAREN and bool(
            self._match_texts(_STREAM_OPERATORS, advance=False)
        )

    @located
    def _parse_table(
        self,
        schema: bool = False,
        joins: bool = False,
        alias_tokens: Collection[TokenType] | None = None,
        parse_bracket: bool = False,
        is_db_reference: bool = False,
        parse_partition: bool = False,
        consume_pipe: bool = False,
    ) -> exp.Expr | None:
        first = self._curr
        source = self._item()
        if self._match(TokenType.L_BRACKET):
            source = self._windowed(source)
        if self.take("FOR", "SYSTEM_TIME", "AS", "OF"):
            at = self.needed(self._parse_bitwise(), "a time of what it is joined to")
            source = nodes.AsOf(this=source, at=at)
            mark(source, first.start, self._prev.end + 1)
        while self._next.token_type is TokenType.L_PAREN and self.take("PIVOT"):
            source = self._pivoted(source, Span(self.sql, first.start, self._prev.end + 1))
            mark(source, first.start, self._prev.end + 1)
        if self._curr.token_type in _AFTER_A_SOURCE:
            self.refuse(_AFTER_A_SOURCE[self._curr.token_type])
        if not source.args.get("alias") and not isinstance(source, nodes.Joined):
            end = self._prev.end + 1
            source.set("alias", self._parse_table_alias(alias_tokens or self.TABLE_ALIAS_TOKENS))
            if self._match(TokenType.L_BRACKET, advance=False):
                if isinstance(source, nodes.Windowed) or not source.alias:
                    raise self.unexpected()
                raise self._window_after_alias(Span(self.sql, first.start, end), source.alias)
            if source.alias and self.take("FOR", "SYSTEM_TIME", "AS", "OF"):
                self._refuse_as_of(Span(self.sql, first.start, end), source.alias)
        if joins:
            for join in self._parse_joins():
                source.append("joins", join)
        return source

    def _pivoted(self, source: exp.Expr, written: Span) -> exp.Expr:
        """( aggregate [AS name], ... FOR column IN ( value [AS name], ... ) ), behind PIVOT."""
        self.need_token(TokenType.L_PAREN, "(")
        calls = [self._pivot_call()]
        while self._match(TokenType.COMMA):
            calls.append(self._pivot_call())
        self.need("FOR")
        by = self.needed(self._parse_column(), "a column")
        if not isinstance(by, exp.Column):
            raise self.unexpected("a column")
        self.need("IN")
        self.need_token(TokenType.L_PAREN, "(")
        values = [self._pivot_value()]
        while self._match(TokenType.COMMA):
            values.append(self._pivot_value())
        self.need_token(TokenType.R_PAREN, ")")
        self.need_token(TokenType.R_PAREN, ")")
        pivot = Pivot(calls, by, values)
        query = source.this if isinstance(source, exp.Subquery) else source
        columns = named_columns(query)
        if columns is None:
            used, item = ", ".join(sorted(pivot.used)), written.text.rpartition(" ")[0]
            self.refuse(refusals.PIVOT_OF_ALL, written, columns=used, item=item)
        return exp.Subquery(this=pivoted(query, columns, pivot))

    def _pivot_call(self) -> tuple[nodes.Call, str | None]:
        first = self._curr
        call = self.needed(self._parse_disjunction(), "an aggregate")
        if not isinstance(call, nodes.Call):
            raise self.fault("syntax", "PIVOT takes aggregates", self.span(first, self._prev))
        return call, self._pivot_name()

    def _pivot_value(self) -> tuple[exp.Expr, str]:
        first = self._curr
        value = self.needed(self._parse_unary(), "a value")
        inner = value.this if isinstance(value, exp.Neg) else value
        if not isinstance(inner, exp.Literal | exp.Boolean):
            span = self.span(first, self._prev)
            raise self.fault("syntax", "PIVOT takes values that stand in the text", span)
        text = inner.name if inner is value else f"-{inner.name}"
        return value, self._pivot_name() or text

    def _pivot_name(self) -> str | None:
        named = self._curr and self._curr.token_type in (TokenType.VAR, TokenType.IDENTIFIER)
        if self._match(TokenType.ALIAS) or (named and not self.at("FOR")):
            return str(self.identifier("a name").name)
        return None

    def _refuse_as_of(self, item: Span, alias: str) -> NoReturn:
        at = self._curr
        self.needed(self._parse_bitwise(), "a time of what it is joined to")
        time = self.sql[at.start : self._prev.end + 1]
        span = Span(self.sql, item.start, self._prev.end + 1)
        named = identifier(alias)
        self.refuse(refusals.AS_OF_AFTER_ALIAS, span, item=item.text, time=time, alias=named)

    def _window_after_alias(self, item: Span, alias: str) -> ParseError:
        start, depth = self._curr.start, 0
        while self._curr:
            depth += (self._curr.text == "[") - (self._curr.text == "]")
            self._advance()
            if depth == 0:
                break
        else:
            raise self.unexpected('"]"')
        window = Span(self.sql, start, self._prev.end + 1)
        return self.fault(
            "misplaced-window",
            "a window stands before the alias of its source",
            Span(self.sql, item.start, window.end),
            hint=f"write {item.text} {window.text} AS {alias}",
        )

    def _item(self) -> exp.Expr:
        """A source without its window and alias."""
        first = self._curr
        if self._match(TokenType.L_PAREN, advance=False):
            return self._parenthesised()
        if self._match(TokenType.VALUES, advance=False):
            values = self._parse_derived_table_values()
            if values is not None:
                return values
        lateral = self._match(TokenType.LATERAL)
        unnest = self._unnest()
        if unnest is not None:
            return unnest
        if lateral:
            self.refuse(refusals.CLAUSES["LATERAL"], self.span(first))
        operator = self._stream_operator() or self._table_function()
        if operator is not None:
            return operator
        if self._next.token_type is TokenType.L_PAREN and self.take("TABLE"):
            return self._wrapped_function()
        name = self.identifier("a table, a stream or a query")
        if self._match(TokenType.DOT, advance=False):
            self.refuse(refusals.NAME_IN_TWO_PARTS, self.span(first, self._next))
        if self._match(TokenType.L_PAREN, advance=False):
            raise self._unknown_function(first)
        table = exp.Table(this=name)
        mark(table, first.start, self._prev.end + 1)
        return table

    def _called(self, name: Token) -> tuple[str, Span]:
        """What stands in the parentheses of a call in FROM, and where the call stands."""
        depth, start = 0, self._curr.end + 1
        while self._curr:
            depth += (self._curr.text == "(") - (self._curr.text == ")")
            self._advance()
            if depth == 0:
                break
        return self.sql[start : self._prev.start], self.span(name, self._prev)

    def _unknown_function(self, name: Token) -> ParseError:
        message = f'there is no table function "{name.text}"'
        instead = INSTEAD.get((name.text.upper(), 1))
        if instead is not None and instead.startswith("UNNEST("):
            inner, span = self._called(name)
            hint = f"write {instead.format(inner)}"
            return self.fault("unknown-table-function", message, span, hint=hint)
        known = ABSENT.get(name.text.upper())
        if known is not None:
            return self.fault("unknown-table-function", message, self.span(name), hint=known)
        near = get_close_matches(name.text.upper(), (*_FUNCTIONS, *_STREAM_OPERATORS), 1)
        return self.fault(
            "unknown-table-function",
            message,
            self.span(name),
            detail=f"there are {', '.join(_FUNCTIONS)}, ISTREAM, DSTREAM and RSTREAM",
            hint=f"write {near[0]}" if near else None,
        )

    @located
    def _parenthesised(self) -> exp.Expr:
        self._advance()
        if self.begins_query():
            inner: exp.Expr = exp.Subquery(this=self.query())
        else:
            source = self._parse_table(joins=True)
            assert source is not None
            joins = source.args.pop("joins", None)
            if isinstance(source, exp.Subquery) and not joins and not source.args.get("alias"):
                query = self._parse_query_modifiers(self._parse_set_operations(source))
                inner = exp.Subquery(this=query)
            else:
                inner = nodes.Joined(this=source, joins=joins)
        self.need_token(TokenType.R_PAREN, ")")
        return inner

    @located
    def _unnest(self) -> exp.Expr | None:
        if self._next.token_type is not TokenType.L_PAREN:
            return None
        if not self._match_texts(("UNNEST", "EXPLODE")):
            return None
        self._advance()
        array = self.needed(self._parse_disjunction(), "an array")
        self.need_token(TokenType.R_PAREN, ")")
        place = None
        if self._match(TokenType.WITH, advance=False) and self._next.text.upper() == "ORDINALITY":
            self._advance(2)
            place = True
        return nodes.Unnest(this=array, place=place)

    # --- operators that make streams ------------------------------------------------------------

    @located
    def _stream_operator(self) -> exp.Expr | None:
        if self._next.token_type is not TokenType.L_PAREN:
            return None
        if not self._match_texts(_STREAM_OPERATORS):
            return None
        name = self._prev
        kind = name.text.upper()
        self._advance()
        query = self.query()
        word = self._curr
        every = self.duration("EVERY") if self.take("EVERY") else None
        last = self._prev
        self.need_token(TokenType.R_PAREN, ")")
        if kind == "RSTREAM":
            if every is None:
                raise self._missing_every(name)
            return nodes.Rstream(this=query, every=every)
        if every is not None:
            raise self.fault(
                "misplaced-every",
                f"{kind} follows every change, so it takes no EVERY",
                self.span(word, last),
            )
        return nodes.Istream(this=query) if kind == "ISTREAM" else nodes.Dstream(this=query)

    def _missing_every(self, name: Token) -> ParseError:
        written = self.sql[name.start : self._prev.start].rstrip()
        return self.fault(
            "missing-every",
            "RSTREAM needs EVERY: how often it shows the relation",
            self.span(name, self._prev),
            hint=f"write {written} EVERY 10 SECONDS)",
        )

    @located
    def _table_function(self) -> exp.Expr | None:
        if self._next.token_type is not TokenType.L_PAREN:
            return None
        if not self._match_texts(tuple(_FUNCTIONS)):
            return None
        first = self._prev
        name = first.text.upper()
        self._advance()
        named = self._next.token_type not in (TokenType.COMMA, TokenType.PARTITION_BY)
        if named:
            self.take("TABLE")
        source = self._item()
        names = self._partition_and_time()
        lengths: list[nodes.Duration] = []
        while self._match(TokenType.COMMA):
            lengths.append(self.duration(name, signed=len(lengths) == _LENGTHS[name]))
        if self.take("OFFSET"):
            lengths.append(self.duration("OFFSET", signed=True))
        self.need_token(TokenType.R_PAREN, ")")
        match name, names, lengths:
            case "TUMBLE", [on], [size, *offset] if len(offset) < 2:
                return nodes.Tumble(this=source, on=on, size=size, **_moved(offset))
            case "HOP", [on], [slide, size, *offset] if len(offset) < 2:
                return nodes.Hop(this=source, on=on, slide=slide, size=size, **_moved(offset))
            case "SESSION", [*partition, on], [gap]:
                return nodes.Session(this=source, on=on, gap=gap, partition_by=partition or None)
            case "CUMULATE", [on], [step, size, *offset] if len(offset) < 2:
                return nodes.Cumulate(this=source, on=on, step=step, size=size, **_moved(offset))
            case _:
                raise self.fault(
                    "wrong-arguments",
                    f"{name} has other arguments",
                    self.span(first, self._prev),
                    hint=f"write {_FUNCTIONS[name]}",
                )

    @located
    def _wrapped_function(self) -> exp.Expr:
        """TABLE(function(...)), which says no more than the function."""
        self._advance()
        function = self.needed(self._table_function(), " or ".join(_FUNCTIONS))
        self.need_token(TokenType.R_PAREN, ")")
        return function

    def _time(self) -> exp.Identifier:
        """The name of a time, which may stand in DESCRIPTOR(...)."""
        described = self._next.token_type is TokenType.L_PAREN and self.take("DESCRIPTOR")
        if described:
            self._advance()
        name = self.identifier("the time of the facts")
        if described:
            self.need_token(TokenType.R_PAREN, ")")
        return name

    def _partition_and_time(self) -> list[exp.Identifier]:
        """Reads [PARTITION BY names] , name; commas separate all of them alike."""
        names = [self.identifier("a column")] if self._match(TokenType.PARTITION_BY) else []
        self.need_token(TokenType.COMMA, ",")
        names.append(self._time())
        while self._match(TokenType.COMMA):
            if self.begins_duration():
                self._retreat(self._index - 1)
                break
            names.append(self._time())
        return names

    # --- windows --------------------------------------------------------------------------------

    def _windowed(self, source: exp.Expr) -> exp.Expr:
        bracket = self._prev
        window = self._window()
        if self._match(TokenType.ON):
            window.set("on", self.identifier("the time that the window stands on"))
        if not self._match(TokenType.R_BRACKET):
            raise self.unexpected('"]"')
        mark(window, bracket.start, self._prev.end + 1)
        return nodes.Windowed(this=source, window=window)

    def _window(self) -> nodes.WindowNode:
        if self.take("VALID"):
            return self._valid()
        partition = self.identifiers("a column") if self._match(TokenType.PARTITION_BY) else None
        for kind in WINDOWS.values():
            syntax = kind.syntax
            if (syntax.partitioned or not partition) and self.take(syntax.name):
                amounts = list(self._amounts(syntax)) or None
                return nodes.WindowNode(this=syntax.name, amounts=amounts, partition_by=partition)
        if partition:
            parted = [k.syntax.name for k in WINDOWS.values() if k.syntax.partitioned]
            raise self.unexpected(" or ".join(parted))
        if self.take("PARTITION"):
            raise self.unexpected("BY")
        raise self._unknown_window()

    def _valid(self) -> nodes.WindowNode:
        """VALID FROM a TO b, of which either may be left out, but not both."""
        first = last = None
        if self._match(TokenType.FROM):
            first = self.needed(self._parse_disjunction(), "the time at which a row begins")
        if self.take("TO"):
            last = self.needed(self._parse_disjunction(), "the time at which a row ends")
        if first is None and last is None:
            raise self.unexpected("FROM or TO")
        return nodes.WindowNode(this="VALID", valid_from=first, valid_to=last)

    def _amounts(self, syntax: Syntax) -> Iterator[nodes.Duration | int]:
        for amount in syntax.amounts:
            if not amount.word or self.take(amount.word):
                of = amount.word or syntax.name
                yield self.duration(of) if amount.unit is Unit.TIME else self.count(of)

    def _unknown_window(self) -> ParseError:
        if not self._curr:
            return self.unexpected("a window")
        known = (_shown(kind.syntax) for kind in WINDOWS.values())
        near = get_close_matches(self._curr.text.upper(), (*WINDOWS, "PARTITION", "VALID"), 1)
        return self.fault(
            "unknown-window",
            f'there is no window "{self._found()}"',
            detail=f"the windows are {', '.join(known)}, VALID [FROM a] [TO b]",
            hint=f"write {near[0]}" if near else None,
        )


_LENGTHS = {"TUMBLE": 1, "HOP": 2, "SESSION": 1, "CUMULATE": 2}
"""How many durations stand before the offset."""


def _moved(offset: list[nodes.Duration]) -> dict[str, nodes.Duration]:
    """The offset of a function, if it has one."""
    return {"offset": offset[0]} if offset else {}


def _shown(syntax: Syntax) -> str:
    """A window as people write it, what may be left out in brackets."""
    text = f"[PARTITION BY k] {syntax.name}" if syntax.partitioned else syntax.name
    for amount in syntax.amounts:
        letter = "d" if amount.unit is Unit.TIME else "n"
        text += f" [{amount.word} {letter}]" if amount.word else f" {letter}"
    return text
