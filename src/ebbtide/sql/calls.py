"""Calls of functions: a name and arguments, with DISTINCT, WITHIN GROUP, FILTER and OVER.

sqlglot knows hundreds of functions by classes of their own, some with changed arguments; here the
library of functions is Ebbtide's, so every call is a Call, and the special forms of a few functions
(EXTRACT, TRIM, POSITION, SUBSTRING) are calls as well.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from sqlglot import exp
from sqlglot.parser import Parser
from sqlglot.tokenizer_core import Token, TokenType

from ebbtide.sql import refusals
from ebbtide.sql.call_forms import said_by_others
from ebbtide.sql.durations import DurationReader
from ebbtide.sql.nodes import Call, CeilTo, FloorTo, Quantifier
from ebbtide.sql.spans import mark, marked
from ebbtide.sql.token_reader import located
from ebbtide.sql.types import SAME_TYPES, TYPE_WORDS, unknown_type

__all__ = ["CallParser"]

_TRIMS = {"BOTH": "TRIM", "LEADING": "LTRIM", "TRAILING": "RTRIM"}

_NO_PARENTHESES = {
    TokenType.CURRENT_DATE: "CURRENT_DATE",
    TokenType.CURRENT_TIMESTAMP: "CURRENT_TIMESTAMP",
    TokenType.LOCALTIMESTAMP: "LOCALTIMESTAMP",
}


def _calls(name: str) -> Callable[[], Call]:
    return lambda: Call(this=name, expressions=[])


class CallParser(DurationReader):
    """Reads calls."""

    FUNCTIONS = {}
    FUNCTION_PARSERS = {
        "CAST": lambda self: self._cast(exp.Cast),
        "TRY_CAST": lambda self: self._cast(exp.TryCast),
        "FLOOR": lambda self: self._round_to("FLOOR", FloorTo),
        "CEIL": lambda self: self._round_to("CEIL", CeilTo),
        "CEILING": lambda self: self._round_to("CEIL", CeilTo),
        "EXISTS": lambda self: self._exists(),
        "ANY": lambda self: self._quantifier("ANY"),
        "SOME": lambda self: self._quantifier("SOME"),
        "ALL": lambda self: self._quantifier("ALL"),
        "EXTRACT": lambda self: self._extract(),
        "TRIM": lambda self: self._trim(),
        "POSITION": lambda self: self._position(),
        "SUBSTRING": lambda self: self._substring(),
        "SUBSTR": lambda self: self._substring(),
        "JSON_VALUE": lambda self: self._json("JSON_VALUE"),
        "JSON_QUERY": lambda self: self._json("JSON_QUERY"),
    }
    NO_PAREN_FUNCTIONS = {token: _calls(name) for token, name in _NO_PARENTHESES.items()}
    SUBQUERY_PREDICATES = {}
    LAMBDAS = {
        TokenType.FARROW: lambda self, _: self.refuse(
            refusals.ARGUMENT_BY_NAME, self.span(self._prev)
        ),
    }

    _parse_lambda = located(DurationReader._parse_lambda)
    _parse_function_call = located(DurationReader._parse_function_call)

    def _parse_window(self, this: exp.Expr | None, alias: bool = False) -> exp.Expr | None:
        """What may follow a call: WITHIN GROUP, FILTER, IGNORE NULLS and OVER."""
        if not isinstance(this, exp.Anonymous):
            return this
        call = self._call(this)
        first = self._curr
        if self.take("WITHIN", "GROUP"):
            if call.args.get("order"):
                raise self.fault(
                    "duplicate-clause",
                    "ORDER BY stands here a second time",
                    self.span(first, self._prev),
                )
            call.set("order", self._parse_wrapped(self._order).expressions)
        self._nulls(call)
        if self._next.token_type is TokenType.L_PAREN and self.take("FILTER"):
            self._advance()
            if not self._match(TokenType.WHERE):
                raise self.unexpected("WHERE")
            call.set("filter", self.needed(self._parse_disjunction(), "a condition"))
            self.need_token(TokenType.R_PAREN, ")")
        self._nulls(call)
        name = marked(call)
        if name is not None:
            mark(call, name[0], self._prev.end + 1)
        node = self._over(call) if self._match(TokenType.OVER) else call
        return said_by_others(node, self.sql)

    def _over(self, call: Call) -> exp.Expr:
        if not self._match(TokenType.L_PAREN):
            named = self.identifier("a window in parentheses, or its name")
            return self.expression(exp.Window(this=call, first=named, over="OVER"))
        return self.window_definition(call)

    @located
    def window_definition(self, this: exp.Expr | None) -> exp.Window:
        """Reads what stands in the parentheses of OVER, or of a window with a name."""
        base = partition = None
        named = self._curr.token_type in (TokenType.VAR, TokenType.IDENTIFIER)
        if named and not self.at("GROUPS"):
            base = self.identifier("a window")
        if self._match(TokenType.PARTITION_BY):
            partition = self.needed(self._parse_csv(self._parse_disjunction), "a partition")
        order = self._parse_order()
        spec = self._frame()
        if not self._match(TokenType.R_PAREN):
            raise self.unexpected('")"')
        definition = {"partition_by": partition, "order": order, "spec": spec}
        return exp.Window(this=this, first=base, **definition, over="OVER")

    def _frame(self) -> exp.Expr | None:
        kind = next((word for word in ("ROWS", "RANGE") if self.take(word)), None)
        if kind is None:
            if self.at("GROUPS"):
                self.refuse(refusals.FRAME_OF_GROUPS)
            if self.at("SESSION"):
                self.refuse(refusals.FRAME_OF_SESSIONS)
            return None
        if not self._match(TokenType.BETWEEN):
            start, side = self._bound()
            return exp.WindowSpec(kind=kind, start=start, start_side=side, end="CURRENT ROW")
        start, side = self._bound()
        if not self._match(TokenType.AND):
            raise self.unexpected("AND")
        end, end_side = self._bound()
        return exp.WindowSpec(kind=kind, start=start, start_side=side, end=end, end_side=end_side)

    def _bound(self) -> tuple[object, str | None]:
        if self.take("CURRENT", "ROW"):
            return "CURRENT ROW", None
        bound = "UNBOUNDED" if self.take("UNBOUNDED") else self._parse_bitwise()
        for side in ("PRECEDING", "FOLLOWING"):
            if bound is not None and self.take(side):
                return bound, side
        raise self.unexpected("PRECEDING or FOLLOWING" if bound else "a bound of the frame")

    def _order(self) -> exp.Expr:
        order = self._parse_order()
        if order is None:
            raise self.unexpected("ORDER BY")
        return order

    def _nulls(self, call: Call) -> None:
        for treatment in ("IGNORE", "RESPECT"):
            if self.take(treatment, "NULLS"):
                if call.args.get("nulls"):
                    raise self.fault(
                        "duplicate-clause",
                        "NULLS are treated here a second time",
                        self.span(self._tokens[self._index - 2], self._prev),
                    )
                call.set("nulls", treatment)

    def _call(self, anonymous: exp.Anonymous) -> Call:
        name = anonymous.this
        call = Call(this=(name if isinstance(name, str) else name.name).upper(), expressions=[])
        call.meta.update(anonymous.meta)
        arguments = anonymous.expressions
        order = None
        if arguments and isinstance(arguments[-1], exp.Order):  # ARRAY_AGG(a ORDER BY b)
            *arguments, ordered = arguments
            order = ordered.expressions
            arguments.append(self.needed(ordered.this, "an argument"))
        if len(arguments) == 1 and isinstance(arguments[0], exp.Distinct):
            call.set("distinct", True)
            arguments = self.needed(arguments[0].expressions, "what is DISTINCT")
        if len(arguments) == 1 and isinstance(arguments[0], exp.IgnoreNulls | exp.RespectNulls):
            call.set("nulls", "IGNORE" if isinstance(arguments[0], exp.IgnoreNulls) else "RESPECT")
            arguments = [arguments[0].this]
        call.set("expressions", arguments)
        call.set("order", order)
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

    def _operand(self) -> exp.Expr | None:
        """An argument of a special form, which a word follows."""
        node = self._parse_bitwise()
        if isinstance(node, exp.Not):
            raise self.unexpected("no NOT without parentheses")
        return node

    def _closed(self, node: exp.Expr) -> exp.Expr:
        """The node, if the parenthesis of its call is closed; sqlglot does not insist on that."""
        if not self._match(TokenType.R_PAREN, advance=False):
            raise self.unexpected('")"')
        return node

    def _cast(self, kind: type[exp.Cast]) -> exp.Expr:
        operand = self.needed(self._parse_disjunction(), "an expression")
        if not self._match(TokenType.ALIAS):
            raise self.unexpected("AS")
        to = self.type_name("a type")
        return self._closed(self.expression(kind(this=operand, to=to)))

    @located
    def _parse_types(
        self,
        check_func: bool = False,
        schema: bool = False,
        allow_identifiers: bool = True,
        with_collation: bool = False,
    ) -> exp.Expr | None:
        if self._match(TokenType.INTERVAL):
            self.need("DAY", "TO", "SECOND")
            return exp.DataType(this=exp.DType.INTERVAL, nested=False)
        if self._curr.token_type is TokenType.VAR and self._match_texts(TYPE_WORDS):
            return self._type_by_word(TYPE_WORDS[self._prev.text.upper()])
        # There are no types of the user's; sqlglot would read the name of one as a text of its own.
        first = self._index
        # Spark's reader would drop the length of VARCHAR(20) in a cast.
        node = Parser._parse_types(self, check_func, schema, False, with_collation)
        if isinstance(node, exp.DataType):
            self._check_closed(self._tokens[first : self._index])
            if node.this is exp.DType.DOUBLE:
                self.take("PRECISION")
            if not node.expressions:
                node.set("this", SAME_TYPES.get(node.this, node.this))
        return node

    def _check_closed(self, tokens: Sequence[Token]) -> None:
        """Refuses INT[ and VARCHAR(), which sqlglot would let pass."""
        if tokens[-1].token_type is TokenType.L_BRACKET:
            raise self.unexpected('"]"')
        for one, other in pairwise(tokens):
            if (one.token_type, other.token_type) == (TokenType.L_PAREN, TokenType.R_PAREN):
                message = "there is no length between the parentheses"
                raise self.fault("syntax", message, self.span(one, other))

    @located
    def _parse_struct_types(self, type_required: bool = False) -> exp.Expr | None:
        """A field of a STRUCT, whose name may be that of a type."""
        name = self.identifier("the name of a field")
        self._match(TokenType.COLON)
        return exp.ColumnDef(this=name, kind=self.type_name(f'the type of "{name.name}"'))

    def _type_by_word(self, kind: exp.DType) -> exp.DataType:
        """TEXT, TIMESTAMPTZ(3) or CHARACTER VARYING(20)."""
        if kind is exp.DType.VARCHAR:
            self.take("VARYING")
        sizes = None
        if self._match(TokenType.L_PAREN):
            sizes = self.needed(self._parse_csv(self._parse_type_size), "a length")
            self.need_token(TokenType.R_PAREN, ")")
        kind = kind if sizes else SAME_TYPES.get(kind, kind)
        return exp.DataType(this=kind, expressions=sizes, nested=False)

    def type_name(self, what: str, schema: bool = False) -> exp.Expr:
        """Reads the name of a type."""
        first = self._curr
        node = self._parse_types(schema=schema)
        if node is not None:
            return node
        if first.token_type in self.TYPE_TOKENS:
            raise self.fault("unknown-type", f"{first.text} is not written like this")
        named = first.token_type in self.IDENTIFIER_TOKENS
        raise unknown_type(self.span()) if named else self.unexpected(what)

    def build_cast(self, strict: bool, **kwargs: Any) -> exp.Expr:
        cast = super().build_cast(strict, **kwargs)
        cast.args["to"].set("nested", False)
        return exp.Cast(this=cast.this, to=cast.args["to"])

    def _exists(self) -> exp.Expr:
        return self._closed(exp.Exists(this=self.query()))

    def _quantifier(self, name: str) -> exp.Expr:
        """ANY (query), or the aggregate of that name."""
        if self.begins_query():
            return self._closed(Quantifier(this=self.query(), all=name == "ALL"))
        arguments = self._parse_csv(lambda: self._parse_lambda())
        return self._closed(self._named(name, *arguments))

    def query(self) -> exp.Expr:
        """Reads a query."""
        raise NotImplementedError

    def begins_query(self) -> bool:
        """Whether a query stands here."""
        raise NotImplementedError

    def _extract(self) -> exp.Expr:
        field = self._curr
        if field.token_type is not TokenType.STRING and not field.text.isidentifier():
            raise self.unexpected("a field of a time")
        self._advance()
        if not self._match(TokenType.FROM):
            raise self.unexpected("FROM")
        name = exp.Literal.string(field.text.upper()).update_positions(field)
        return self._closed(self._named("EXTRACT", name, self._operand()))

    def _trim(self) -> exp.Expr:
        kind = self._prev.text.upper() if self._match_texts(tuple(_TRIMS)) else None
        first = self._operand()
        if self._match(TokenType.FROM):
            return self._closed(self._named(_TRIMS[kind or "BOTH"], self._operand(), first))
        if kind is not None:
            raise self.unexpected("FROM")
        rest = [self._operand()] if self._match(TokenType.COMMA) else []
        return self._closed(self._named("TRIM", first, *rest))

    def _position(self) -> exp.Expr:
        first = self._operand()
        if not self._match(TokenType.IN):
            self.need_token(TokenType.COMMA, ",")
        return self._closed(self._named("POSITION", first, self._operand()))

    def _json(self, name: str) -> exp.Expr:
        """JSON_VALUE(json, path RETURNING type NULL ON EMPTY NULL ON ERROR)."""
        arguments = self._parse_csv(lambda: self._parse_lambda())
        made: exp.Expr = self._named(name, *arguments)
        if name == "JSON_VALUE" and self.take("RETURNING"):
            call = self._call(exp.Anonymous(this=name, expressions=list(arguments)))
            made = exp.TryCast(this=call, to=self.type_name("a type"))
        while self.take("NULL", "ON", "EMPTY") or self.take("NULL", "ON", "ERROR"):
            pass
        for word in ("DEFAULT", "ERROR", "EMPTY", "WITH", "WITHOUT"):
            if self.at(word):
                self.refuse(refusals.JSON_OTHERWISE, self.span())
        return self._closed(made)

    def _substring(self) -> exp.Expr:
        arguments: list[exp.Expr | None] = list(self._parse_csv(self._operand))
        if len(arguments) == 1 and self._match(TokenType.FROM):
            arguments.append(self._operand())
            if self.take("FOR"):
                arguments.append(self._operand())
        return self._closed(self._named("SUBSTRING", *arguments))
