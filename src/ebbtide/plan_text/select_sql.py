"""One SELECT as SQL.

A TopN that numbers the rows of a query in FROM is printed as a condition on the number.  Columns
that aggregates and OVER make are printed as what makes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from ebbtide.algebra.combination import AntiJoin, AsofJoin, Join, OuterJoin, Product, SemiJoin
from ebbtide.algebra.expression import (
    Call,
    Case,
    Cast,
    CeilTo,
    Expression,
    FloorTo,
    Literal,
    Or,
    Ref,
    conjuncts,
)
from ebbtide.algebra.operators import Joining, Matching
from ebbtide.algebra.printing import identifier, sql
from ebbtide.algebra.ranking import TopN
from ebbtide.algebra.relation import Alias, Filter, Named, Relation, Unnest
from ebbtide.core.schema import Column
from ebbtide.core.types import BOOLEAN
from ebbtide.plan_text.block import (
    Block,
    as_one_table,
    block_of,
    is_nothing,
    numbers,
    rows_of,
    with_numbers,
)
from ebbtide.plan_text.call_sql import (
    Text,
    aggregate_sql,
    given_call,
    given_number,
    given_order,
    given_over,
    order_sql,
)
from ebbtide.plan_text.source_sql import default_name, source_sql


def limit_sql(node: TopN, text: Text) -> str:
    """ORDER BY ... LIMIT behind a query."""
    order = given_order(node.order_by, node.input)
    printed = f" ORDER BY {order_sql(order, text)}" if order else ""
    offset = f" OFFSET {node.offset}" if node.offset else ""
    return f"{printed} LIMIT {node.count}{offset}"


@dataclass(slots=True)
class Select:
    """A SELECT while it is printed.

    ``made`` has the texts of columns that aggregates and OVER make, ``keys`` the expressions that
    groups are made by, ``bounds`` the conditions on numbers by which queries in FROM are limited.
    """

    block: Block
    query: Callable[[Relation], str]
    made: dict[str, str] = field(default_factory=dict)
    keys: dict[str, Expression] = field(default_factory=dict)
    bounds: list[str] = field(default_factory=list)

    def text(self) -> str:
        """The text of the whole."""
        block = self.block
        source = f" FROM {self._from(block.source)}" if block.has_source else ""
        where = _clause(" WHERE", self.conditions())
        grouped = self._grouped()
        self._numbered()
        columns = ", ".join(map(self._column, block.columns))
        limit = "" if block.limit is None else limit_sql(block.limit, self._ordering)
        distinct = "DISTINCT " if block.distinct else ""
        return f"SELECT {distinct}{columns}{source}{where}{grouped}{limit}"

    def rows(self, *more: Expression) -> str:
        """FROM and WHERE alone, with a space before them, and with further conditions."""
        source = f" FROM {self._from(self.block.source)}" if self.block.has_source else ""
        return f"{source}{_clause(' WHERE', [*self.conditions(), *_terms(more, sql)])}"

    def conditions(self) -> list[str]:
        """The conditions of WHERE."""
        where = self.block.where
        terms = () if where is None else conjuncts(where)
        return [*self.bounds, *_terms(terms, sql), *map(self._exists, self.block.semis)]

    def _exists(self, semi: SemiJoin | AntiJoin) -> str:
        word = "NOT EXISTS" if isinstance(semi, AntiJoin) else "EXISTS"
        inner = Select(rows_of(semi.right), self.query)
        return f"{word} (SELECT 1{inner.rows(*_meant(semi.predicate))})"

    def _expression(self, expression: Expression) -> str:
        return sql(expression, self._made)

    def _made(self, column: Column) -> str | None:
        return self.made.get(column.name) if column.table is None else None

    def _ordering(self, expression: Expression) -> str:
        if self.block.distinct and isinstance(expression, Ref):
            return identifier(expression.column.name)
        return _unlike_position(expression, self._expression(expression))

    def _column(self, named: Named) -> str:
        text, shown = self._expression(named.expression), named.expression
        if isinstance(shown, Ref) and shown.column.table is None:
            shown = self.keys.get(shown.column.name, shown)
        own = isinstance(shown, Ref) and shown.column.table is not None
        same = isinstance(shown, Ref) and shown.column.name == named.name
        return text if own and same else f"{text} AS {identifier(named.name)}"

    # --- FROM -----------------------------------------------------------------------------------

    def _from(self, node: Relation) -> str:
        match node:
            case Alias():
                return self._alias(node)
            case Unnest():
                return self._unnest(node)
            case Filter(input=Unnest() as items) if not is_nothing(items.input) and not items.pads:
                terms = " AND ".join(_terms(conjuncts(node.predicate), sql))
                return f"{self._from(items.input)} JOIN {self._items(items)} ON {terms}"
            case Product() if is_nothing(node.left):
                return self._from(node.right)
            case Product():
                return f"{self._from(node.left)} CROSS JOIN {self._operand(node.right)}"
            case Join():
                return self._join(node, "JOIN", node.right, ())
            case OuterJoin() | AsofJoin():
                return self._join(node, node.words, node.right, ())
            case SemiJoin() | AntiJoin():
                words = "LEFT SEMI JOIN" if isinstance(node, SemiJoin) else "LEFT ANTI JOIN"
                right = rows_of(node.right)
                more = () if right.where is None else conjuncts(right.where)
                plain = right.source if not right.semis else node.right
                return self._join(node, words, plain, more if plain is right.source else ())
            case _ if default_name(node) is not None:
                return source_sql(node, self.query)
            case _:
                return self._alias(Alias(as_one_table(node), "plan"))

    def _join(
        self,
        node: Matching,
        words: str,
        right: Relation,
        more: tuple[Expression, ...],
    ) -> str:
        terms = (*more, *_meant(node.predicate)) or (node.predicate,)
        condition = " AND ".join(_terms(terms, sql))
        return f"{self._from(node.left)} {words} {self._operand(right)} ON {condition}"

    def _unnest(self, node: Unnest) -> str:
        items = self._items(node)
        if is_nothing(node.input) and not node.pads:
            return items
        left = self._from(node.input)
        return f"{left} LEFT JOIN {items} ON TRUE" if node.pads else f"{left} CROSS JOIN {items}"

    def _items(self, node: Unnest) -> str:
        names = [node.item] if node.place is None else [node.item, node.place]
        place = "" if node.place is None else " WITH ORDINALITY"
        shown = f"{identifier(node.table)} ({', '.join(map(identifier, names))})"
        return f"UNNEST({sql(node.array)}){place} AS {shown}"

    def _operand(self, node: Relation) -> str:
        text = self._from(node)
        compound = isinstance(node, Joining | Unnest)
        return f"({text})" if compound else text

    def _alias(self, node: Alias) -> str:
        shown = with_numbers(node.input)
        for top, column in numbers(shown):
            name = f"{identifier(node.name)}.{identifier(column)}"
            self.bounds.append(f"{name} <= {top.offset + top.count}")
            if top.offset:
                self.bounds.append(f"{name} > {top.offset}")
        block = block_of(shown)
        select = None if block is None else Select(block, self.query)
        inner = source_sql(shown, self.query) if select is None else f"({select.text()})"
        return inner if default_name(shown) == node.name else f"{inner} AS {identifier(node.name)}"

    # --- groups and OVER ------------------------------------------------------------------------

    def _grouped(self) -> str:
        node = self.block.aggregate
        if node is None:
            return ""
        self.keys = {key.name: key.expression for key in node.keys}
        keys = [_unlike_position(key.expression, sql(key.expression)) for key in node.keys]
        self.made |= {key.name: _as_primary(key.expression) for key in node.keys}
        for named in node.calls:
            self.made[named.name] = aggregate_sql(
                given_call(named.call, node.input, named.name), sql
            )
        having = () if self.block.having is None else conjuncts(self.block.having)
        text = f" GROUP BY {', '.join(keys)}" if keys else ""
        return text + _clause(" HAVING", _terms(having, self._expression))

    def _numbered(self) -> None:
        made: dict[str, str] = {}
        for over in self.block.overs:
            for framed in over.calls:
                made[framed.name] = given_over(over, framed.call, self._expression)
        for top in self.block.numbered:
            made[top.number_as or ""] = given_number(top, self._expression)
        self.made |= made


def _meant(predicate: Expression) -> tuple[Expression, ...]:
    """The terms of a predicate; TRUE is what has none."""
    return () if predicate == Literal(True, BOOLEAN) else conjuncts(predicate)


# --- parts -------------------------------------------------------------------------------------


def _clause(words: str, terms: Iterable[str]) -> str:
    text = " AND ".join(terms)
    return f"{words} {text}" if text else ""


def _terms(terms: Iterable[Expression], text: Text) -> list[str]:
    return [f"({text(term)})" if isinstance(term, Or) else text(term) for term in terms]


def _as_primary(expression: Expression) -> str:
    text = sql(expression)
    return (
        text if isinstance(expression, Ref | Call | Case | Cast | FloorTo | CeilTo) else f"({text})"
    )


def _unlike_position(expression: Expression, text: str) -> str:
    """A bare number in GROUP BY or ORDER BY would be a position."""
    return f"({text})" if isinstance(expression, Literal) else text
