"""Collecting the columns that a kernel wants of its input, each once, by position."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ebbtide.algebra.call import AggregateCall, SortKey
from ebbtide.algebra.expression import Expression, Literal
from ebbtide.core.folds import Fold
from ebbtide.errors import UnsupportedError
from ebbtide.kernels.aggregates.call import PLACES, Call
from ebbtide.kernels.ordering import SortColumn
from ebbtide.state.types import arrow_type


@dataclass(slots=True)
class Columns:
    """Expressions in the order in which they were first asked for."""

    expressions: list[Expression] = field(default_factory=list)

    def place(self, expression: Expression) -> int:
        """The position of an expression's column."""
        if expression not in self.expressions:
            self.expressions.append(expression)
        return self.expressions.index(expression)

    def places(self, expressions: Iterable[Expression]) -> tuple[int, ...]:
        """The positions of several."""
        return tuple(map(self.place, expressions))

    def sort(self, keys: Iterable[SortKey]) -> tuple[SortColumn, ...]:
        """An order, by position."""
        return tuple(
            SortColumn(self.place(key.expression), key.descending, key.puts_nulls_first)
            for key in keys
        )

    def call(self, call: AggregateCall, row: tuple[Expression, ...]) -> Call:
        """A call of an aggregate; ``row`` are all columns of the input, which break ties."""
        arguments, share = call.arguments, 0.5
        if call.name in ("PERCENTILE", "PERCENTILE_DISC"):
            arguments, share = arguments[:1], _share(call)
        function = call.function
        named = function.fold is not Fold.ROWS or call.name in PLACES
        return Call(
            call.name if named else function,
            self.places(arguments),
            arrow_type(call.type),
            function.fold,
            call.is_distinct,
            None if call.filter is None else self.place(call.filter),
            self.sort(call.order),
            self.places(row) if function.ordered else (),
            share,
            function.reports,
        )


def _share(call: AggregateCall) -> float:
    share = call.arguments[1]
    if not isinstance(share, Literal):
        raise UnsupportedError(
            "share-not-constant", f"the share of {call.name} must be written as a number"
        )
    return float(share.value)
