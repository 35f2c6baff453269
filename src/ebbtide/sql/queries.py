"""Queries: their clauses, joins and set operations, read strictly.

What sqlglot would let pass (a missing condition, a second meaning of LIMIT, clauses of other
dialects) is refused here, at the word with which it begins.
"""

import re
from collections.abc import Callable, Collection
from typing import Any, NoReturn

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from ebbtide.algebra.quarantine import OnError
from ebbtide.errors import Span
from ebbtide.sql import nodes, refusals
from ebbtide.sql.group_windows import with_windows_in_from
from ebbtide.sql.grouping_sets import cubed, rolled_up, with_union_of_groupings
from ebbtide.sql.refusals import Refusal
from ebbtide.sql.select_forms import with_named_windows, with_subquery_for_qualify
from ebbtide.sql.sources import SourceParser
from ebbtide.sql.spans import focus, mark
from ebbtide.sql.token_reader import located
from ebbtide.sql.unnest_forms import EXPLODES, alias_of, joined, with_unnest_in_from

__all__ = ["QueryParser"]

# These begin what may follow a source or an expression, so they are no aliases without AS.
_NO_ALIAS = ("EMIT", "EVERY", "ALLOW", "MATCH_CONDITION")

_FETCH = ("FIRST", "NEXT", "ROW", "ROWS", "ONLY")
_ENDS = ("HAVING", "ORDER BY", "LIMIT", "EMIT", "ALLOW", "UNION", "EXCEPT", "INTERSECT")
_TABLE = re.compile(r"(\w+)\.\w+")
_WINDOW_KINDS = ("TUMBLING", "HOPPING", "SESSION")

_GROUPINGS = refusals.by_token(refusals.GROUPINGS)
_SETS = {TokenType.ROLLUP: rolled_up, TokenType.CUBE: cubed}

_KINDS = (
    TokenType.INNER,
    TokenType.OUTER,
    TokenType.CROSS,
    TokenType.SEMI,
    TokenType.ANTI,
)


def _refused(refusal: Refusal) -> Callable[[Any], Any]:
    return lambda self: self.refuse(refusal)


def _refused_to_end(refusal: Refusal) -> Callable[[Any], NoReturn]:
    return lambda self: self._refuse_to_end(refusal)


_SPREAD = refusals.by_token({words: refusals.CLAUSES[words] for words in refusals.SPREAD})


class QueryParser(SourceParser):
    """Reads queries."""

    ADD_JOIN_ON_TRUE = False
    QUERY_MODIFIER_PARSERS = {
        TokenType.WHERE: lambda self: ("where", self._where()),
        TokenType.GROUP_BY: lambda self: ("group", self._group()),
        TokenType.HAVING: lambda self: ("having", self._having()),
        TokenType.ORDER_BY: lambda self: ("order", self._parse_order()),
        TokenType.LIMIT: lambda self: ("limit", self._limit()),
        TokenType.OFFSET: lambda self: ("offset", self._offset()),
        TokenType.QUALIFY: lambda self: ("qualify", self._qualify()),
        TokenType.WINDOW: lambda self: ("windows", self._windows()),
        **{key: _refused(found) for key, found in refusals.by_token(refusals.CLAUSES).items()},
        TokenType.FETCH: lambda self: self._refuse_fetch(),
        TokenType.PARTITION_BY: lambda self: self._refuse_to_end(refusals.REPARTITIONED),
        **{token: _refused_to_end(refusal) for token, refusal in _SPREAD.items()},
    }
    QUERY_MODIFIER_TOKENS = set(QUERY_MODIFIER_PARSERS)

    _parse_with = located(SourceParser._parse_with)
    _parse_order = located(SourceParser._parse_order)

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
        if self._match(TokenType.FROM, advance=False):
            raise self.unexpected("SELECT before it")
        if self._curr.token_type is TokenType.SELECT and self._next.token_type is TokenType.HINT:
            self.refuse(refusals.OPTIMIZER_HINT, self.span(self._next))
        operator = self._stream_operator()
        if operator is not None:
            return self._parse_set_operations(operator) if parse_set_operation else operator
        return super()._parse_select_query(
            nested=nested,
            table=table,
            parse_subquery_alias=parse_subquery_alias,
            parse_set_operation=parse_set_operation,
        )

    @located
    def _parse_query_modifiers(self, this: Any) -> Any:
        node = super()._parse_query_modifiers(this)
        if isinstance(node, exp.Select):
            with_unnest_in_from(node, self.sql)
            with_windows_in_from(node, self.sql, self.duration_in)
            with_named_windows(node, self.sql)
            return with_subquery_for_qualify(with_union_of_groupings(node, self.sql), self.sql)
        return node

    @located
    def _parse_cte(self) -> exp.CTE | None:
        alias = exp.TableAlias(this=self.identifier("a name after WITH"))
        if self._match(TokenType.L_PAREN):
            alias.set("columns", self.identifiers("a column"))
            self.need_token(TokenType.R_PAREN, ")")
        if not self._match(TokenType.ALIAS):
            raise self.unexpected("AS")
        return exp.CTE(this=self._parse_wrapped(self.query), alias=alias)

    def _parse_projections(self) -> tuple[list[exp.Expr], list[exp.Expr] | None]:
        if self._match(TokenType.FROM, advance=False) or not self._curr:
            raise self.unexpected("what to select")
        if self.at("TOP") and self._next.token_type is TokenType.NUMBER:
            span = self.span(self._curr, self._next)
            self.refuse(refusals.TOP, span, count=self._next.text)
        projections, exclude = super()._parse_projections()
        return self.needed(projections, "what to select"), exclude

    def _parse_lateral(self) -> Any:
        """LATERAL VIEW [OUTER] EXPLODE(array) [table] [AS item], as a join."""
        first = self._curr
        if not self._match(TokenType.LATERAL):
            return None
        if not self.take("VIEW"):
            self.refuse(refusals.CLAUSES["LATERAL"], self.span(first))
        outer = self._match(TokenType.OUTER)
        if not self._match_texts(tuple(EXPLODES), advance=False):
            self.refuse(refusals.LATERAL_VIEW, self.span(first, self._curr), name=self._curr.text)
        outer = EXPLODES[self._curr.text.upper()] or outer
        self._advance()
        self.need_token(TokenType.L_PAREN, "(")
        array = self.needed(self._parse_disjunction(), "an array")
        self.need_token(TokenType.R_PAREN, ")")
        named = self._curr.token_type in (TokenType.VAR, TokenType.IDENTIFIER)
        table = self.identifier("a name") if named else None
        item = self.identifier("a name") if self._match(TokenType.ALIAS) else None
        node = nodes.Unnest(this=array)
        mark(node, first.start, self._prev.end + 1)
        shown = "col" if item is None else item.name
        node.set("alias", alias_of(shown if table is None else table.name, [shown], node))
        join = joined(node, bool(outer))
        mark(join, first.start, self._prev.end + 1)
        return join

    # --- clauses --------------------------------------------------------------------------------

    @located
    def _where(self) -> exp.Where:
        self._advance()
        return self.expression(exp.Where(this=self._parse_disjunction()))

    @located
    def _having(self) -> exp.Having:
        self._advance()
        return self.expression(exp.Having(this=self._parse_disjunction()))

    @located
    def _qualify(self) -> exp.Qualify:
        self._advance()
        condition = self.needed(self._parse_disjunction(), "a condition")
        return self.expression(exp.Qualify(this=condition))

    def _windows(self) -> list[exp.Window]:
        """WINDOW name AS (definition), ..."""
        self._advance()
        if self._next.token_type is TokenType.L_PAREN and self._match_texts(_WINDOW_KINDS, False):
            self._refuse_window(self._prev)
        found = []
        while True:
            name = self.identifier("the name of a window")
            if not self._match(TokenType.ALIAS):
                raise self.unexpected("AS")
            self.need_token(TokenType.L_PAREN, "(")
            window = self.window_definition(None)
            window.set("alias", name)
            found.append(window)
            if not self._match(TokenType.COMMA):
                return found

    def _refuse_window(self, first: Token) -> NoReturn:
        """WINDOW TUMBLING (SIZE 1 HOUR), HOPPING (SIZE d, ADVANCE BY s) or SESSION (d)."""
        kind, lengths = self._curr.text.upper(), []
        while self._curr and self._curr.token_type is not TokenType.R_PAREN:
            if self._curr.token_type is TokenType.NUMBER:
                lengths.append(f"INTERVAL {self._curr.text} {self._next.text}")
            self._advance()
        size, *slide = lengths or ["INTERVAL 10 MINUTES"]
        window = {
            "TUMBLING": f"TUMBLE(at, {size})",
            "HOPPING": f"HOP(at, {(slide or [size])[0]}, {size})",
            "SESSION": f"SESSION(at, {size})",
        }[kind]
        last = self._curr or self._prev
        self._advance()
        rest, grouped = self._to_clause(()), f"GROUP BY {window}"
        if rest is not None:
            again = f"{rest.text}, {window}" if "GROUP BY" in rest.text.upper() else None
            grouped = again or f"{rest.text} {grouped}"
        span = self.span(first, last) if rest is None else Span(self.sql, first.start, rest.end)
        self.refuse(refusals.WINDOW_BEHIND_SOURCE, span, grouped=grouped)

    def _to_clause(self, ends: tuple[str, ...]) -> Span | None:
        """What stands here up to one of some clauses, or to the end of the query."""
        first, last, depth = self._curr, None, 0
        while self._curr:
            opened = self._curr.token_type is TokenType.L_PAREN
            closed = self._curr.token_type is TokenType.R_PAREN
            ended = " ".join(self._curr.text.upper().split()) in (*ends, *_ENDS)
            if depth == 0 and (closed or ended):
                break
            depth, last = depth + opened - closed, self._curr
            self._advance()
        return None if last is None else self.span(first, last)

    def _refuse_to_end(self, refusal: Refusal) -> NoReturn:
        """Refuses a clause, whole, so that it can be left out."""
        first, last, depth = self._curr, self._curr, 0
        self._advance()
        while self._curr:
            ends = self._curr.token_type in self.QUERY_MODIFIER_TOKENS or self.at("EMIT")
            depth += (self._curr.token_type is TokenType.L_PAREN) - (
                self._curr.token_type is TokenType.R_PAREN
            )
            if depth < 0 or (ends and depth == 0):
                break
            last = self._curr
            self._advance()
        self.refuse(refusal, self.span(first, last))

    @located
    def _group(self) -> exp.Group:
        self._advance()
        elements = [self._group_element()]
        while self._match(TokenType.COMMA):
            elements.append(self._group_element())
        keys = [key for element in elements for key in element[0]]
        several = any(len(element) > 1 for element in elements)
        if self._match(TokenType.WITH, advance=False) and self._next.token_type in _SETS:
            self._advance(2)
            if several:
                raise self.fault("syntax", "there are grouping sets already", self.span(self._prev))
            make = _SETS[self._prev.token_type]
            elements, several = [make([(key,) for key in keys])], True
        node = exp.Group(expressions=keys or [exp.Null()])
        if several or not keys:
            node.meta["sets"] = elements
        return self.expression(node)

    def _group_element(self) -> list[tuple[exp.Expr, ...]]:
        """The sets of keys that an element of GROUP BY stands for: a key is one set."""
        if self._match_set(tuple(_SETS)):
            make = _SETS[self._prev.token_type]
            self.need_token(TokenType.L_PAREN, "(")
            parts = [self._key_set()]
            while self._match(TokenType.COMMA):
                parts.append(self._key_set())
            self.need_token(TokenType.R_PAREN, ")")
            return make(parts)
        if self._match(TokenType.GROUPING_SETS):
            self.need_token(TokenType.L_PAREN, "(")
            sets = self._set_or_sets()
            while self._match(TokenType.COMMA):
                sets += self._set_or_sets()
            self.need_token(TokenType.R_PAREN, ")")
            return sets
        if self._curr.token_type in _GROUPINGS:
            self.refuse(_GROUPINGS[self._curr.token_type])
        if self._match_pair(TokenType.L_PAREN, TokenType.R_PAREN):
            return [()]
        return [(self.needed(self._parse_disjunction(), "what to group by"),)]

    def _set_or_sets(self) -> list[tuple[exp.Expr, ...]]:
        nested = self._curr.token_type in (*_SETS, TokenType.GROUPING_SETS)
        return self._group_element() if nested else [self._key_set()]

    def _key_set(self) -> tuple[exp.Expr, ...]:
        """A key, or keys in parentheses, or none in them."""
        if self._match_pair(TokenType.L_PAREN, TokenType.R_PAREN):
            return ()
        key = self.needed(self._parse_disjunction(), "what to group by")
        if isinstance(key, exp.Tuple):
            return tuple(key.expressions)
        return (key.unnest(),)

    @located
    def _limit(self) -> exp.Limit:
        first = self._curr
        self._advance()
        if self._match(TokenType.ALL, advance=False):
            self.refuse(refusals.LIMIT_ALL, self.span(first, self._curr))
        return exp.Limit(expression=self._rows("LIMIT"))

    def _refuse_fetch(self) -> NoReturn:
        """FETCH FIRST 5 ROWS ONLY."""
        first, count = self._curr, "1"
        self._advance()
        while self._match_texts(_FETCH) or self._match(TokenType.NUMBER):
            count = self._prev.text if self._prev.token_type is TokenType.NUMBER else count
        self.refuse(refusals.CLAUSES["FETCH"], self.span(first, self._prev), count=count)

    @located
    def _offset(self) -> exp.Offset:
        self._advance()
        return exp.Offset(expression=self._rows("OFFSET"))

    def _rows(self, clause: str) -> exp.Expr:
        if self._curr.token_type is not TokenType.NUMBER or not self._curr.text.isdigit():
            raise self.fault("bad-count", f"{clause} needs a whole number of rows")
        self._advance()
        return self.expression(exp.Literal(this=self._prev.text, is_string=False), self._prev)

    def _parse_table_alias(
        self, alias_tokens: Collection[TokenType] | None = None
    ) -> exp.TableAlias | None:
        if self._ends_source() or self._begins_asof():
            return None
        self._check_foreign()
        first = self._curr
        name = self._next if first.token_type is TokenType.ALIAS else first
        if name.token_type is TokenType.STRING:
            raise self._quoted_name(name)
        alias = super()._parse_table_alias(alias_tokens)
        if alias is None and first.token_type is TokenType.ALIAS:
            raise self.unexpected("an alias")
        if alias is not None:
            mark(alias, first.start, self._prev.end + 1)
            self._check_foreign()
        return alias

    def _parse_alias(self, this: exp.Expr | None, explicit: bool = False) -> exp.Expr | None:
        if self._ends_source():
            return this
        return super()._parse_alias(this, explicit)

    def _ends_source(self) -> bool:
        """Whether what follows is no alias."""
        split = self._next.text.upper() == "EVERY" and self.at("SPLIT")
        return split or bool(self._match_texts(_NO_ALIAS, advance=False))

    def _quoted_name(self, token: Token) -> Exception:
        return self.fault(
            "syntax",
            "a name is quoted with backquotes",
            self.span(token),
            hint=f"write `{token.text.replace('`', '``')}`",
        )

    # --- joins ----------------------------------------------------------------------------------

    def _parse_join(
        self,
        skip_join_token: bool = False,
        parse_bracket: bool = False,
        alias_tokens: Collection[TokenType] | None = None,
    ) -> exp.Join | None:
        first = self._curr
        if first.token_type is TokenType.NATURAL:
            self.refuse(refusals.JOINS["NATURAL"])
        if self._match(TokenType.COMMA):
            comma = exp.Join(this=self._parse_table())
            focus(comma, self.span(first))
            return comma
        asof = self._takes_asof()
        side = self._prev.text.upper() if self._match_set(self.JOIN_SIDES) else None
        asof = asof or self._takes_asof()
        kind = self._prev.text.upper() if not asof and self._match_set(_KINDS) else None
        kind = "ASOF" if asof else kind
        if not self._match(TokenType.JOIN):
            if side or kind:
                raise self.unexpected("JOIN")
            return None
        span = self.span(first, self._prev)
        on, using, source = None, None, self._parse_table()
        if kind == "ASOF" and self.take("MATCH_CONDITION"):
            on = self.needed(self._parse_wrapped(self._parse_disjunction), "a condition")
        if not self._at_on_error() and self._match(TokenType.ON):
            more = self.needed(self._parse_disjunction(), "a condition")
            # What is near is said first.
            on = more if on is None else exp.And(this=_operand(on), expression=_operand(more))
        elif self._match(TokenType.USING):
            using = self._parse_wrapped(lambda: self.identifiers("a column"))
        if kind == "ASOF" and (side not in (None, "LEFT") or (using and on is not None)):
            raise self.fault(
                "syntax",
                "ASOF JOIN takes ON or USING, and keeps no side but the left",
                span,
                hint="write ASOF JOIN or LEFT ASOF JOIN, and ON",
            )
        self._check_join(span, side, kind, on is not None or using is not None)
        kept = kind if kind in ("CROSS", "SEMI", "ANTI", "ASOF") else None
        node = exp.Join(this=source, side=side, kind=kept, on=on, using=using)
        focus(node, span)
        return node

    def _at_on_error(self) -> bool:
        """Whether what begins with ON belongs to the query, and not to a join."""
        return any(self.at("ON", "ERROR", on_error.value) for on_error in OnError)

    def _check_foreign(self) -> None:
        """Refuses what would be taken for an alias, or for what follows one."""
        if self._next.token_type is TokenType.NUMBER and self.at("WITHIN"):
            self._refuse_within()
        if self._next.token_type is TokenType.L_PAREN and self.at("MATCH_RECOGNIZE"):
            self.refuse(refusals.MATCH_RECOGNIZE)

    def _refuse_within(self) -> NoReturn:
        """WITHIN 1 HOUR ON ..., behind the right side of a join."""
        first, right = self._curr, self._prev.text
        unit = self._tokens[min(self._index + 2, self._tokens_size - 1)]
        length = f"{self._next.text} {unit.text}"
        self._advance(3)
        on = self._to_clause(("WHERE", "GROUP BY", "JOIN", "LEFT", "INNER", "FULL", "RIGHT"))
        tables = _TABLE.findall(on.text) if on else []
        left = next((name for name in tables if name.casefold() != right.casefold()), "a")
        span = self.span(first, unit) if on is None else Span(self.sql, first.start, on.end)
        told = "ON ..." if on is None else on.text
        self.refuse(refusals.WITHIN, span, on=told, left=left, right=right, length=length)

    def _begins_asof(self) -> bool:
        """Whether ASOF stands before a join here; elsewhere it is a name."""
        after = self._next.token_type if self._next else None
        joins = after is TokenType.JOIN or after in self.JOIN_SIDES
        return joins and self._curr.text.upper() == "ASOF"

    def _takes_asof(self) -> bool:
        begins = self._begins_asof()
        if begins:
            self._advance()
        return begins

    def _check_join(self, span: Span, side: str | None, kind: str | None, condition: bool) -> None:
        if kind == "CROSS":
            if condition or side:
                raise self.fault(
                    "syntax", "CROSS JOIN takes no side and no condition", span, hint="write JOIN"
                )
        elif not condition:
            raise self.fault(
                "missing-condition",
                "a join needs ON or USING",
                span,
                hint="add ON ..." if side or kind else "write CROSS JOIN",
            )
        elif kind == "OUTER" and side is None:
            raise self.fault("syntax", "OUTER JOIN needs a side", span, hint="write FULL JOIN")
        elif kind in ("SEMI", "ANTI") and side not in (None, "LEFT"):
            wanted = f"LEFT {kind} JOIN"
            raise self.fault("syntax", f"{kind} JOIN is of the left", span, hint=f"write {wanted}")
        elif kind == "INNER" and side is not None:
            raise self.fault("syntax", "INNER JOIN has no side", span, hint=f"write {side} JOIN")

    # --- set operations -------------------------------------------------------------------------

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
            node: exp.SetOperation | None = nodes.MaxUnion(this=this, expression=right)
        elif first.token_type in self.SET_OPERATIONS:
            node = super().parse_set_operation(this, consume_pipe, intersect_only)
            after = self._tokens[min(index + 1, self._tokens_size - 1)]
            last = after if after.token_type in (TokenType.ALL, TokenType.DISTINCT) else first
        else:
            return None
        if node is not None:
            if node.args.get("expression") is None:
                raise self.unexpected("a query")
            focus(node, self.span(first, last))
        return node


def _operand(node: exp.Expr) -> exp.Expr:
    """A condition as a part of an AND."""
    return exp.Paren(this=node) if isinstance(node, exp.Or) else node
