"""Queries: what stands in FROM, with its windows, and set operations.

source  ::=  item [ '[' window ']' ] [ [AS] alias [ (columns) ] ]
item    ::=  name | ( query ) | ( source joins ) | VALUES ... | function ( ... )
          |  ISTREAM ( query ) | DSTREAM ( query ) | RSTREAM ( query EVERY duration )
"""

from collections.abc import Collection

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from ebbtide.sql import nodes
from ebbtide.sql.reading import located
from ebbtide.sql.scalars import ScalarParser
from ebbtide.sql.spans import mark

__all__ = ["RelationParser"]

_STREAM_OPERATORS = ("ISTREAM", "DSTREAM", "RSTREAM")
_TABLE_FUNCTIONS = ("TUMBLE", "HOP", "SESSION", "CUMULATE")

# These begin what may follow a source or an expression, so they are no aliases without AS.
_NO_ALIAS = ("EMIT", "EVERY", "ALLOW")

_WINDOWS = "[RANGE d], [RANGE d SLIDE s], [FIXED d], [ROWS n], [NOW] or [UNBOUNDED]"


class RelationParser(ScalarParser):
    """Reads queries."""

    QUERY_MODIFIER_PARSERS = {
        key: ScalarParser.QUERY_MODIFIER_PARSERS[key]
        for key in (
            TokenType.WHERE,
            TokenType.GROUP_BY,
            TokenType.HAVING,
            TokenType.ORDER_BY,
            TokenType.LIMIT,
            TokenType.OFFSET,
        )
    }

    _parse_with = located(ScalarParser._parse_with)
    _parse_cte = located(ScalarParser._parse_cte)
    _parse_where = located(ScalarParser._parse_where)
    _parse_group = located(ScalarParser._parse_group)
    _parse_having = located(ScalarParser._parse_having)
    _parse_order = located(ScalarParser._parse_order)
    _parse_limit = located(ScalarParser._parse_limit)
    _parse_offset = located(ScalarParser._parse_offset)

    # --- queries --------------------------------------------------------------------------------

    def query(self) -> exp.Expr:
        """Reads a query."""
        first = self._curr
        node = self._parse_ddl_select()
        if node is None:
            raise self.unexpected("a query")
        mark(node, first.start, self._prev.end + 1)
        return node

    def _parse_statement(self) -> exp.Expr | None:
        """What follows WITH, and what stands in its parentheses."""
        return self.query()

    @located
    def _parse_select_query(
        self,
        nested: bool = False,
        table: bool = False,
        parse_subquery_alias: bool = True,
        parse_set_operation: bool = True,
    ) -> exp.Expr | None:
        operator = self._parse_stream_operator()
        if operator is not None:
            return self._parse_set_operations(operator) if parse_set_operation else operator
        return super()._parse_select_query(
            nested=nested,
            table=table,
            parse_subquery_alias=parse_subquery_alias,
            parse_set_operation=parse_set_operation,
        )

    @located
    def _parse_stream_operator(self) -> exp.Expr | None:
        if self._next.token_type is not TokenType.L_PAREN:
            return None
        if not self._match_texts(_STREAM_OPERATORS):
            return None
        name = self._prev
        self._advance()
        query = self.query()
        every = self.duration("EVERY") if self.take("EVERY") else None
        self.need_token(TokenType.R_PAREN, ")")
        kind = name.text.upper()
        if kind == "RSTREAM":
            if every is None:
                raise self.fault(
                    "missing-every",
                    "RSTREAM needs EVERY: how often the relation is looked at",
                    self.span(name, self._prev),
                    hint=f"write {self._without_last(name)} EVERY 10 SECONDS)",
                )
            return nodes.Rstream(this=query, every=every)
        if every is not None:
            raise self.fault("syntax", f"{kind} takes no EVERY, only RSTREAM does", self.span(name))
        return nodes.Istream(this=query) if kind == "ISTREAM" else nodes.Dstream(this=query)

    def _without_last(self, first: Token) -> str:
        return self.sql[first.start : self._prev.start].rstrip()

    def parse_set_operation(
        self, this: exp.Expr | None, consume_pipe: bool = False, intersect_only: bool = False
    ) -> exp.SetOperation | None:
        first, index = self._curr, self._index
        if first.token_type is TokenType.UNION and self._next.text.upper() == "MAX":
            if intersect_only:
                return None
            self._advance(2)
            last = self._prev
            right = self._parse_select(nested=True, parse_set_operation=False)
            node: exp.SetOperation | None = self.expression(
                nodes.MaxUnion(this=this, expression=right)
            )
        else:
            node = super().parse_set_operation(this, consume_pipe, intersect_only)
            after = self._tokens[min(index + 1, self._tokens_size - 1)]
            modified = after.token_type in (TokenType.ALL, TokenType.DISTINCT)
            last = after if modified else first
        if node is not None:
            node.meta["focus"] = (first.start, last.end + 1)
        return node

    # --- sources --------------------------------------------------------------------------------

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
        source = self._parse_item()
        if self._match(TokenType.L_BRACKET):
            source = self._windowed(source)
        if not source.args.get("alias") and not isinstance(source, nodes.Joined):
            alias = self._parse_table_alias(alias_tokens or self.TABLE_ALIAS_TOKENS)
            source.set("alias", alias)
        if joins:
            for join in self._parse_joins():
                source.append("joins", join)
        return source

    def _parse_item(self) -> exp.Expr:
        """A source without its window and alias."""
        first = self._curr
        if self._match(TokenType.L_PAREN, advance=False):
            return self._parse_parenthesised()
        if self._match(TokenType.VALUES, advance=False):
            values = self._parse_derived_table_values()
            if values is not None:
                return values
        operator = self._parse_stream_operator() or self._parse_table_function()
        if operator is not None:
            return operator
        name = self.identifier("a table, a stream or a query")
        if self._match(TokenType.DOT, advance=False):
            self.unsupported("a name in two parts", self.span(first, self._next))
        if self._match(TokenType.L_PAREN, advance=False):
            raise self.fault(
                "unknown-table-function",
                f'there is no table function "{name.name}"',
                self.span(first),
                detail=f"there are {', '.join(_TABLE_FUNCTIONS)}",
            )
        table = exp.Table(this=name)
        mark(table, first.start, self._prev.end + 1)
        return table

    def _parse_parenthesised(self) -> exp.Expr:
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

    def begins_query(self) -> bool:
        """Whether the next token begins a query that is not in parentheses."""
        if self._curr.token_type in (TokenType.SELECT, TokenType.WITH, TokenType.VALUES):
            return True
        return self._next.token_type is TokenType.L_PAREN and bool(
            self._match_texts(_STREAM_OPERATORS, advance=False)
        )

    def _parse_join(
        self,
        skip_join_token: bool = False,
        parse_bracket: bool = False,
        alias_tokens: Collection[TokenType] | None = None,
    ) -> exp.Join | None:
        first = self._curr
        if self._match(TokenType.COMMA):
            node: exp.Join | None = exp.Join(this=self._parse_table())
        else:
            node = super()._parse_join(skip_join_token, parse_bracket, alias_tokens)
        if node is not None:
            node.meta["focus"] = (first.start, first.end + 1)
        return node

    def _parse_table_alias(
        self, alias_tokens: Collection[TokenType] | None = None
    ) -> exp.TableAlias | None:
        if self._match_texts(_NO_ALIAS, advance=False):
            return None
        first = self._curr
        alias = super()._parse_table_alias(alias_tokens)
        if alias is not None:
            mark(alias, first.start, self._prev.end + 1)
        return alias

    def _parse_alias(self, this: exp.Expr | None, explicit: bool = False) -> exp.Expr | None:
        if self._match_texts(_NO_ALIAS, advance=False):
            return this
        return super()._parse_alias(this, explicit)

    @located
    def _parse_table_function(self) -> exp.Expr | None:
        if self._next.token_type is not TokenType.L_PAREN:
            return None
        if not self._match_texts(_TABLE_FUNCTIONS):
            return None
        name = self._prev.text.upper()
        self._advance()
        source = self._parse_item()
        partition = self.identifiers("a column") if self._match(TokenType.PARTITION_BY) else None
        self.need_token(TokenType.COMMA, ",")
        on = self.identifier("the time of the facts")
        lengths = []
        while self._match(TokenType.COMMA):
            lengths.append(self.duration(name))
        self.need_token(TokenType.R_PAREN, ")")
        match name, lengths:
            case "TUMBLE", [size] if partition is None:
                return nodes.Tumble(this=source, on=on, size=size)
            case "HOP", [slide, size] if partition is None:
                return nodes.Hop(this=source, on=on, slide=slide, size=size)
            case "SESSION", [gap]:
                return nodes.Session(this=source, on=on, gap=gap, partition_by=partition)
            case "CUMULATE", [step, size] if partition is None:
                return nodes.Cumulate(this=source, on=on, step=step, size=size)
        raise self.unexpected("other arguments")

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
        if self.take("RANGE"):
            size = self.duration("RANGE")
            slide = self.duration("SLIDE") if self.take("SLIDE") else None
            return nodes.RangeWindow(size=size, slide=slide)
        if self.take("FIXED"):
            return nodes.FixedWindow(size=self.duration("FIXED"))
        if self.take("NOW"):
            return nodes.NowWindow()
        if self.take("UNBOUNDED"):
            return nodes.UnboundedWindow()
        partition = self.identifiers("a column") if self._match(TokenType.PARTITION_BY) else None
        if self.take("ROWS"):
            count = self.count("ROWS")
            slide_rows = self.count("SLIDE") if self.take("SLIDE") else None
            return nodes.RowsWindow(count=count, slide=slide_rows, partition_by=partition)
        raise self.fault(
            "unknown-window",
            f'there is no window "{self._found() if self._curr else ""}"',
            hint=f"the windows are {_WINDOWS}",
        )
