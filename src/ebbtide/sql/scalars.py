"""Scalar expressions: Spark's operators, read strictly.

The operators of other dialects are taken out of sqlglot's tables, so they are errors; what sqlglot
would let pass, such as BETWEEN without AND or a comma with nothing behind it, is an error too.
"""

from collections.abc import Callable
from typing import Any

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from ebbtide.sql import literals, nodes, refusals
from ebbtide.sql.calls import CallParser
from ebbtide.sql.spans import extent_of, mark, marked
from ebbtide.sql.token_reader import located

__all__ = ["ScalarParser"]

_NO_ALIAS = {TokenType.ALL, TokenType.LIMIT, TokenType.OFFSET}
_SIGNS: dict[type[exp.Binary], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
_OPPOSITES: dict[type[exp.Binary], type[exp.Binary]] = {
    exp.EQ: exp.NEQ,
    exp.NEQ: exp.EQ,
    exp.LT: exp.GTE,
    exp.LTE: exp.GT,
    exp.GT: exp.LTE,
    exp.GTE: exp.LT,
}
_LITERAL_TYPES = (TokenType.DATE, TokenType.TIMESTAMP, TokenType.TIMESTAMPTZ)


class ScalarParser(CallParser):
    """Reads expressions."""

    NO_PAREN_FUNCTION_PARSERS = {"CASE": lambda self: self._case()}
    # SELECT ALL a has no column of the name ALL, and LIMIT begins a clause wherever it can.
    ID_VAR_TOKENS = CallParser.ID_VAR_TOKENS - {TokenType.ALL}
    ALIAS_TOKENS = CallParser.ALIAS_TOKENS - _NO_ALIAS
    TABLE_ALIAS_TOKENS = CallParser.TABLE_ALIAS_TOKENS - _NO_ALIAS
    PLACEHOLDER_PARSERS = {}
    ARRAY_CONSTRUCTORS = {}
    JSON_OPERATORS = {}
    ASSIGNMENT = {}
    STRING_PARSERS = {TokenType.STRING: literals.text, TokenType.RAW_STRING: literals.text}
    NUMERIC_PARSERS = {TokenType.NUMBER: literals.number, TokenType.HEX_STRING: literals.binary}
    PRIMARY_PARSERS = {
        **STRING_PARSERS,
        **NUMERIC_PARSERS,
        TokenType.NULL: lambda self, token: self.expression(exp.Null(), token),
        TokenType.TRUE: lambda self, token: self.expression(exp.Boolean(this=True), token),
        TokenType.FALSE: lambda self, token: self.expression(exp.Boolean(this=False), token),
        TokenType.STAR: CallParser.PRIMARY_PARSERS[TokenType.STAR],
    }
    COLUMN_OPERATORS = {
        **{key: CallParser.COLUMN_OPERATORS[key] for key in (TokenType.DOT, TokenType.DCOLON)},
        TokenType.ARROW: lambda self, this, key: self._json_part("JSON_GET", this, key),
        TokenType.DARROW: lambda self, this, key: self._json_part("JSON_GET_TEXT", this, key),
    }
    RANGE_PARSERS = {
        TokenType.BETWEEN: lambda self, this: self._between(this),
        TokenType.IN: lambda self, this: self._in(this),
        **{
            key: CallParser.RANGE_PARSERS[key]
            for key in (TokenType.IS, TokenType.LIKE, TokenType.ILIKE, TokenType.RLIKE)
        },
    }
    UNARY_PARSERS = {
        TokenType.PLUS: lambda self: self._positive(),
        **{
            key: CallParser.UNARY_PARSERS[key]
            for key in (TokenType.NOT, TokenType.DASH, TokenType.TILDE)
        },
    }
    FACTOR = {
        key: CallParser.FACTOR[key]
        for key in (TokenType.DIV, TokenType.MOD, TokenType.SLASH, TokenType.STAR)
    }
    TERM = {key: CallParser.TERM[key] for key in (TokenType.DASH, TokenType.PLUS)}

    _parse_unary = located(CallParser._parse_unary)
    _parse_range = located(CallParser._parse_range)
    _parse_equality = located(CallParser._parse_equality)
    _parse_paren = located(CallParser._parse_paren)
    _parse_expression = located(CallParser._parse_expression)
    _parse_bracket = located(CallParser._parse_bracket)

    @located
    def _parse_type(
        self, parse_interval: bool = True, fallback_to_identifier: bool = False
    ) -> exp.Expr | None:
        if not fallback_to_identifier and (atom := self._parse_atom()) is not None:
            return atom
        if parse_interval and (interval := self._parse_interval()) is not None:
            return interval
        literal = self._curr.token_type in _LITERAL_TYPES and (
            self._next.token_type is TokenType.STRING
        )
        typed = self._curr.token_type in _LITERAL_TYPES and self.at_double_quotes(self._next)
        if typed and self._next.text[:1].isdigit():  # no alias of a column of that name
            written = f"{self._curr.text} '{self._next.text}'"
            raise literals.double_quoted(self.span(self._curr, self._next), written)
        if literal:
            to = self._parse_types()
            assert to is not None
            self._advance()
            return literals.typed(self, to, self._prev)
        return self._parse_id_var() if fallback_to_identifier else self._parse_column()

    @located
    def _parse_primary(self) -> exp.Expr | None:
        if self._match_pair(TokenType.DOT, TokenType.NUMBER):
            return literals.fraction(self, self._prev)
        node = super()._parse_primary()
        if isinstance(node, exp.Concat):  # 'a' 'b' is one text
            return exp.Literal.string("".join(part.name for part in node.expressions))
        return node

    def _json_part(self, name: str, this: exp.Expr, key: exp.Expr | None) -> exp.Expr:
        """json -> key and json ->> key."""
        negative = isinstance(key, exp.Neg) and isinstance(key.this, exp.Literal)
        if key is None:
            raise self.unexpected("a key")
        if not (negative or isinstance(key, exp.Literal | exp.Column | exp.Paren)):
            self.refuse(refusals.COMPUTED_KEY, extent_of(key, self.sql))
        call = nodes.Call(this=name, expressions=[this, key])
        first = marked(this)
        start = self._prev.start if first is None else first[0]
        mark(call, start, self._prev.end + 1)
        return call

    def _positive(self) -> exp.Expr:
        return self.needed(self._parse_unary(), "an expression")

    def _between(self, this: exp.Expr | None) -> exp.Between:
        low = self._parse_bitwise()
        if not self._match(TokenType.AND):
            raise self.unexpected("AND to complete BETWEEN")
        high = self._parse_bitwise()
        return self.expression(exp.Between(this=this, low=low, high=high))

    def _build_predicate(
        self,
        klass: type[exp.Binary],
        this: exp.Expr | None,
        expression: exp.Expr | None,
        comments: list[str] | None = None,
        negate: bool = False,
    ) -> exp.Expr:
        # sqlglot takes `a NOT NULL` for `a IS NOT NULL`, and makes a NULL for it that was not read.
        if isinstance(expression, exp.Null) and marked(expression) is None:
            span = self.span(self._tokens[self._index - 2], self._prev)
            raise self.fault("syntax", "a test for NULL has IS", span, hint="write IS NOT NULL")
        if isinstance(expression, nodes.Quantifier) and this is not None:
            return self._quantified(klass, this, expression)
        return super()._build_predicate(klass, this, expression, comments, negate)

    def _quantified(
        self, klass: type[exp.Binary], this: exp.Expr, quantifier: nodes.Quantifier
    ) -> exp.Expr:
        """this op ANY (query) and this op ALL (query)."""
        if klass not in _OPPOSITES:
            raise self.fault("syntax", "ANY and ALL follow =, <>, <, <=, > or >=")
        query = exp.Subquery(this=quantifier.this)
        mark(query, *(marked(quantifier) or (self._prev.start, self._prev.end + 1)))
        every = bool(quantifier.args.get("all"))
        op = _OPPOSITES[klass] if every else klass
        some: exp.Expr
        if op is exp.EQ:
            some = exp.In(this=this, query=query)
        else:
            some = nodes.Quantified(this=this, op=_SIGNS[op], query=query)
        return exp.Not(this=some) if every else some

    @located
    def _in(self, this: exp.Expr | None) -> exp.In:
        if not self._match(TokenType.L_PAREN, advance=False):
            raise self.unexpected('"("')
        return self._parse_in(this)

    @located
    def _parse_ordered(
        self, parse_method: Callable[[], exp.Expr | None] | None = None
    ) -> exp.Ordered | None:
        key = self._parse_disjunction()
        if key is None:
            return None
        desc = None if self._match(TokenType.ASC) else self._match(TokenType.DESC) or None
        nulls_first = not desc
        if self.take("NULLS"):
            nulls_first = self.take("FIRST")
            if not nulls_first:
                self.need("LAST")
        return self.expression(exp.Ordered(this=key, desc=desc, nulls_first=nulls_first))

    def _case(self) -> exp.Expr | None:
        start = self._prev
        operand = None if self._match(TokenType.WHEN, advance=False) else self._parse_disjunction()
        branches = []
        while self._match(TokenType.WHEN):
            condition = self._parse_disjunction()
            if not self._match(TokenType.THEN):
                raise self.unexpected("THEN")
            value = self._parse_disjunction()
            branches.append(self.expression(exp.If(this=condition, true=value)))
        if not branches:
            raise self.unexpected("WHEN")
        default = self._parse_disjunction() if self._match(TokenType.ELSE) else None
        if not self._match(TokenType.END):
            raise self.unexpected("WHEN, ELSE or END to complete CASE")
        node = self.expression(exp.Case(this=operand, ifs=branches, default=default))
        node.meta["span"] = (start.start, self._prev.end + 1)
        return node

    def _parse_csv(
        self,
        parse_method: Callable[[], Any],
        sep: TokenType = TokenType.COMMA,
    ) -> list[Any]:
        items = [parse_method()]
        while self._match(sep):
            comma = self._prev
            items.append(parse_method())
            if items[0] is None or items[-1] is None:
                side = "before" if items[0] is None else "after"
                message = f"something is missing {side} the comma"
                raise self.fault("syntax", message, self.span(comma))
        return [item for item in items if item is not None]
