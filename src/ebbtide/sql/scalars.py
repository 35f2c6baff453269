"""Scalar expressions: Spark's, with every function a Call and every interval a Duration.

sqlglot knows hundreds of functions by classes of their own, some with changed arguments; here the
library of functions is Ebbtide's, so a call is a name and arguments, and the special forms of a
few functions (EXTRACT, TRIM, POSITION, SUBSTRING) are calls as well.
"""

from collections.abc import Callable
from typing import Any

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from ebbtide.sql.durations import DurationReader
from ebbtide.sql.nodes import Call, CeilTo, FloorTo
from ebbtide.sql.reading import located

__all__ = ["ScalarParser"]

# The functions that EXTRACT(field FROM t) stands for.
_EXTRACTS = {
    "YEAR": "YEAR",
    "QUARTER": "QUARTER",
    "MONTH": "MONTH",
    "WEEK": "WEEKOFYEAR",
    "DAY": "DAY",
    "DAYOFMONTH": "DAY",
    "DAYOFWEEK": "DAYOFWEEK",
    "DOW": "DAYOFWEEK",
    "DAYOFYEAR": "DAYOFYEAR",
    "DOY": "DAYOFYEAR",
    "HOUR": "HOUR",
    "MINUTE": "MINUTE",
    "SECOND": "SECOND",
}

_TRIMS = {"BOTH": "BTRIM", "LEADING": "LTRIM", "TRAILING": "RTRIM"}

_LITERAL_TYPES = (TokenType.DATE, TokenType.TIMESTAMP, TokenType.TIMESTAMPTZ)

_NO_PARENTHESES = {
    TokenType.CURRENT_DATE: "CURRENT_DATE",
    TokenType.CURRENT_TIMESTAMP: "CURRENT_TIMESTAMP",
    TokenType.CURRENT_USER: "CURRENT_USER",
}


def _calls(name: str) -> Callable[[], Call]:
    return lambda: Call(this=name, expressions=[])


def _text(self: Any, token: Token) -> exp.Expr:
    return self.expression(exp.Literal(this=token.text, is_string=True), token)  # type: ignore[no-any-return]


class ScalarParser(DurationReader):
    """Reads expressions."""

    FUNCTIONS = {}
    FUNCTION_PARSERS = {
        "CAST": lambda self: self._parse_cast(True),
        "TRY_CAST": lambda self: self._parse_cast(False, safe=True),
        "FLOOR": lambda self: self._round_to("FLOOR", FloorTo),
        "CEIL": lambda self: self._round_to("CEIL", CeilTo),
        "CEILING": lambda self: self._round_to("CEIL", CeilTo),
        "EXTRACT": lambda self: self._extract(),
        "TRIM": lambda self: self._trim(),
        "POSITION": lambda self: self._position(),
        "SUBSTRING": lambda self: self._substring(),
        "SUBSTR": lambda self: self._substring(),
    }
    NO_PAREN_FUNCTION_PARSERS = {"CASE": lambda self: self._parse_case()}
    NO_PAREN_FUNCTIONS = {token: _calls(name) for token, name in _NO_PARENTHESES.items()}
    SUBQUERY_PREDICATES = {TokenType.EXISTS: exp.Exists}
    PLACEHOLDER_PARSERS = {}
    ARRAY_CONSTRUCTORS = {}
    JSON_OPERATORS = {}
    ASSIGNMENT = {}
    LAMBDAS = {
        TokenType.ARROW: lambda self, _: self.unsupported(
            "a lambda function", self.span(self._prev)
        ),
    }
    FUNC_TOKENS = DurationReader.FUNC_TOKENS | {TokenType.SESSION}
    STRING_PARSERS = {TokenType.STRING: _text, TokenType.RAW_STRING: _text}
    NUMERIC_PARSERS = {
        key: DurationReader.NUMERIC_PARSERS[key] for key in (TokenType.HEX_STRING, TokenType.NUMBER)
    }
    PRIMARY_PARSERS = {
        **STRING_PARSERS,
        **NUMERIC_PARSERS,
        **{
            key: DurationReader.PRIMARY_PARSERS[key]
            for key in (TokenType.NULL, TokenType.TRUE, TokenType.FALSE, TokenType.STAR)
        },
    }
    COLUMN_OPERATORS = {
        key: DurationReader.COLUMN_OPERATORS[key] for key in (TokenType.DOT, TokenType.DCOLON)
    }
    RANGE_PARSERS = {
        key: DurationReader.RANGE_PARSERS[key]
        for key in (
            TokenType.BETWEEN,
            TokenType.IN,
            TokenType.IS,
            TokenType.LIKE,
            TokenType.ILIKE,
            TokenType.RLIKE,
        )
    }
    UNARY_PARSERS = {
        key: DurationReader.UNARY_PARSERS[key]
        for key in (TokenType.PLUS, TokenType.NOT, TokenType.DASH, TokenType.TILDE)
    }
    FACTOR = {
        key: DurationReader.FACTOR[key]
        for key in (TokenType.DIV, TokenType.MOD, TokenType.SLASH, TokenType.STAR)
    }
    TERM = {key: DurationReader.TERM[key] for key in (TokenType.DASH, TokenType.PLUS)}

    _parse_unary = located(DurationReader._parse_unary)
    _parse_range = located(DurationReader._parse_range)
    _parse_equality = located(DurationReader._parse_equality)
    _parse_types = located(DurationReader._parse_types)
    _parse_paren = located(DurationReader._parse_paren)
    _parse_expression = located(DurationReader._parse_expression)
    _parse_lambda = located(DurationReader._parse_lambda)
    _parse_bracket = located(DurationReader._parse_bracket)
    _parse_ordered = located(DurationReader._parse_ordered)
    _parse_function_call = located(DurationReader._parse_function_call)

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
        if literal:
            to = self._parse_types()
            self._advance()
            return self.expression(exp.Cast(this=_text(self, self._prev), to=to))
        return self._parse_id_var() if fallback_to_identifier else self._parse_column()

    @located
    def _parse_primary(self) -> exp.Expr | None:
        node = super()._parse_primary()
        if isinstance(node, exp.Concat):  # 'a' 'b' is one text
            return exp.Literal.string("".join(part.name for part in node.expressions))
        return node

    def _parse_between(self, this: exp.Expr | None) -> exp.Between:
        low = self._parse_bitwise()
        if not self._match(TokenType.AND):
            raise self.unexpected("AND to complete BETWEEN")
        high = self._parse_bitwise()
        return self.expression(exp.Between(this=this, low=low, high=high))

    def _parse_case(self) -> exp.Expr | None:
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
            if items[-1] is None:
                raise self.fault("syntax", "something is missing after the comma", self.span(comma))
        return [item for item in items if item is not None]

    # --- calls ----------------------------------------------------------------------------------

    def _parse_window(self, this: exp.Expr | None, alias: bool = False) -> exp.Expr | None:
        """What may follow a call: WITHIN GROUP, FILTER, IGNORE NULLS and OVER."""
        if alias or not isinstance(this, exp.Anonymous):
            return this if not alias else super()._parse_window(this, alias)
        call = self._call(this)
        if self.take("WITHIN", "GROUP"):
            order = self._parse_wrapped(self._parse_order)
            call.set("order", order.expressions if order else None)
            if order is None:
                raise self.unexpected("ORDER BY")
        self._parse_nulls(call)
        if self._match_pair(TokenType.FILTER, TokenType.L_PAREN):
            if not self._match(TokenType.WHERE):
                raise self.unexpected("WHERE")
            call.set("filter", self._parse_disjunction())
            self._match_r_paren()
        self._parse_nulls(call)
        if not self._match(TokenType.OVER):
            return call
        if not self._match(TokenType.L_PAREN, advance=False):
            self.unsupported("a named window", hint="repeat the window in parentheses after OVER")
        self._retreat(self._index - 1)
        return super()._parse_window(call)

    def _parse_nulls(self, call: Call) -> None:
        for treatment in ("IGNORE", "RESPECT"):
            if self.take(treatment, "NULLS"):
                call.set("nulls", treatment)

    def _call(self, anonymous: exp.Anonymous) -> Call:
        name = anonymous.this
        call = Call(this=(name if isinstance(name, str) else name.name).upper(), expressions=[])
        call.meta.update(anonymous.meta)
        arguments = anonymous.expressions
        if len(arguments) == 1 and isinstance(arguments[0], exp.Distinct):
            call.set("distinct", True)
            arguments = arguments[0].expressions
        if len(arguments) == 1 and isinstance(arguments[0], exp.IgnoreNulls | exp.RespectNulls):
            call.set("nulls", "IGNORE" if isinstance(arguments[0], exp.IgnoreNulls) else "RESPECT")
            arguments = [arguments[0].this]
        call.set("expressions", arguments)
        return call

    def _named(self, name: str, *arguments: exp.Expr | None) -> exp.Anonymous:
        """A call of a function in a special form, for `_parse_window` to make a Call of."""
        if any(argument is None for argument in arguments):
            raise self.unexpected("an argument")
        return exp.Anonymous(this=name, expressions=list(arguments))

    def _round_to(self, name: str, node: type[exp.Expression]) -> exp.Expr:
        arguments = self._parse_csv(lambda: self._parse_lambda())
        if len(arguments) == 1 and self.take("TO"):
            rounded = node(this=arguments[0], grid=self.unit_or_duration(name))
            return self._closed(rounded)
        return self._closed(self._named(name, *arguments))

    def _closed(self, node: exp.Expr) -> exp.Expr:
        """The node, if the parenthesis of its call is closed; sqlglot does not insist on that."""
        if not self._match(TokenType.R_PAREN, advance=False):
            raise self.unexpected('")"')
        return node

    def _parse_cast(self, strict: bool, safe: bool | None = None) -> exp.Expr:
        operand = self._parse_disjunction()
        if not self._match(TokenType.ALIAS):
            raise self.unexpected("AS")
        to = self._parse_types()
        if operand is None or to is None:
            raise self.unexpected("a type")
        node = exp.Cast(this=operand, to=to) if strict else exp.TryCast(this=operand, to=to)
        return self._closed(self.expression(node))

    def build_cast(self, strict: bool, **kwargs: Any) -> exp.Expr:
        cast = super().build_cast(strict, **kwargs)
        cast.args["to"].set("nested", False)
        return exp.Cast(this=cast.this, to=cast.args["to"])

    def _extract(self) -> exp.Expr:
        field = self._curr
        self._advance()
        function = _EXTRACTS.get(field.text.upper())
        if function is None:
            raise self.fault(
                "unknown-field",
                f'EXTRACT knows no field "{field.text}"',
                self.span(field),
                detail=f"the fields are {', '.join(_EXTRACTS)}",
            )
        if not self._match(TokenType.FROM):
            raise self.unexpected("FROM")
        return self._closed(self._named(function, self._parse_bitwise()))

    def _trim(self) -> exp.Expr:
        kind = self._prev.text.upper() if self._match_texts(tuple(_TRIMS)) else None
        first = self._parse_bitwise()
        if self._match(TokenType.FROM):
            return self._closed(self._named(_TRIMS[kind or "BOTH"], self._parse_bitwise(), first))
        if kind is not None:
            raise self.unexpected("FROM")
        rest = [self._parse_bitwise()] if self._match(TokenType.COMMA) else []
        return self._closed(self._named("TRIM", first, *rest))

    def _position(self) -> exp.Expr:
        first = self._parse_bitwise()
        if not self._match(TokenType.IN):
            self.need_token(TokenType.COMMA, ",")
        return self._closed(self._named("POSITION", first, self._parse_bitwise()))

    def _substring(self) -> exp.Expr:
        arguments = self._parse_csv(self._parse_bitwise)
        if len(arguments) == 1 and self._match(TokenType.FROM):
            arguments.append(self._parse_bitwise())
            if self._match(TokenType.FOR):
                arguments.append(self._parse_bitwise())
        return self._closed(self._named("SUBSTRING", *arguments))
