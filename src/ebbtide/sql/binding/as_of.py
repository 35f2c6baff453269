"""``s JOIN t FOR SYSTEM_TIME AS OF s.at``: facts with what a table had at their times.

Law: each fact of ``s`` meets the rows of the snapshot of ``t`` at its ``at``, and is a fact with
them; where the table is corrected, so is the fact.  A fact without a time meets nothing, and is not
there.  A window on ``s`` is applied to the result.

    s            x at 3                 y at 6
    t       |---a--------------|---b---------------...
    facts        (x, a)                 (y, b)

It is said by operators that there are: at an instant, ``s [NOW]`` has the facts of that instant, so
what comes in its join with ``t`` is what is wanted.  Facts of different instants differ in ``at``,
so that ISTREAM takes none for one that was there before.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from ebbtide.algebra.expression import Comparison, Expression, Ref
from ebbtide.algebra.identifiers import identifier
from ebbtide.algebra.kind import Kind
from ebbtide.algebra.origin import default_key
from ebbtide.algebra.relation import Alias, Filter, Map, Named, Relation
from ebbtide.algebra.window import INSTANT, Istream, Now, Window
from ebbtide.core.schema import Column
from ebbtide.core.types import TimestampType
from ebbtide.errors import BindError, TemporalError
from ebbtide.sql import nodes, refusals
from ebbtide.sql.binding.columns import column
from ebbtide.sql.binding.context import Context
from ebbtide.sql.binding.environment import Environment
from ebbtide.sql.binding.naming import unique
from ebbtide.sql.binding.places import kind_of
from ebbtide.sql.binding.scalars import scalar
from ebbtide.sql.binding.scope import Scope
from ebbtide.sql.binding.sources import BoundSource

__all__ = ["Facts", "facts_of", "joined_as_of"]

_JOIN = "s JOIN t FOR SYSTEM_TIME AS OF s.at ON ..."


class Facts:
    """The left side of such a join: its facts, and the window that stood on them."""

    def __init__(self, source: BoundSource, window: Window | None, on: Column) -> None:
        self.source = source
        self.window = window
        self.on = on


def facts_of(left: BoundSource, node: nodes.AsOf, context: Context) -> Facts:
    """The facts of a source, whose time is the one that is named."""
    env = Environment(context, left.scope, "FOR SYSTEM_TIME AS OF")
    with context.at(node.args["at"]):
        if not isinstance(node.args["at"], exp.Column):
            raise BindError(
                "not-a-time",
                "FOR SYSTEM_TIME AS OF names a time of the rows on its left, and this is no column",
                detail="each row meets what the table holds at a time of its own",
                hint=f"write {_times(left)}",
            )
        time = column(node.args["at"], env, scalar)
        if not isinstance(time, Ref) or not isinstance(time.type, TimestampType):
            raise BindError(
                "not-a-time", f"FOR SYSTEM_TIME AS OF needs a TIMESTAMP, and this is {time.type}"
            )
    relation = left.relation
    if isinstance(relation, Alias) and isinstance(relation.input, Window):
        window = relation.input
        bare = Alias(window.input, relation.name)
        return Facts(BoundSource(bare, left.scope), window, time.column)
    if kind_of(context.places) is Kind.SNAPSHOT:
        raise TemporalError(
            "facts-needed",
            "FOR SYSTEM_TIME AS OF joins facts, and what stands on the left changes with time",
            hint="join the stream first, as in " + _JOIN,
            span=context.span(node),
        )
    return Facts(left, None, time.column)


def _times(left: BoundSource) -> str:
    """The times of a source that may be named, in the words of SQL."""
    found = [c for c in left.relation.schema if isinstance(c.type, TimestampType)]
    names = (".".join(map(identifier, filter(None, (c.table, c.name)))) for c in found)
    return " or ".join(f"FOR SYSTEM_TIME AS OF {name}" for name in names) or _JOIN


def joined_as_of(
    facts: Facts,
    right: Relation,
    scope: Scope,
    combined: Callable[[Relation, Relation], Relation],
    context: Context,
) -> BoundSource:
    """The facts of the left side with the rows that the right one had at their times.

    ``scope`` are the names of both.
    """
    at_its_time = _now(facts)
    pairs = combined(at_its_time, right)
    named: list[Named] = []
    for each in pairs.schema:
        taken = [INSTANT, *(name.name for name in named)]
        named.append(Named(unique(each.name, taken), Ref(each)))
    came = _at_their_times(Istream(Map(pairs, tuple(named))), pairs.schema.index(facts.on), context)
    places = {each.identity: place for place, each in enumerate(pairs.schema)}
    if facts.window is not None:
        inside = facts.window.input.schema.position(facts.window.on)
        on = came.schema[inside].name
        came = Window(came, facts.window.spec, on, default_key(came))
    # As the facts are called, so that what is said of their times can be typed.
    known = Alias(came, at_its_time.name)

    def shown(expression: Expression) -> Expression:
        assert isinstance(expression, Ref)
        return Ref(known.schema[places[expression.column.identity]])

    return BoundSource(known, scope.mapped(shown))


def _at_their_times(came: Istream, time: int, context: Context) -> Relation:
    """What came without the instant, which is the time of the fact; that helps to prove things."""
    known = Alias(came, context.names.fresh("came"))
    *columns, instant = map(Ref, known.schema)
    rows = Filter(known, Comparison("=", instant, columns[time]))
    return Map(rows, tuple(Named(each.column.name, each) for each in columns))


def _now(facts: Facts) -> Alias:
    """The facts, each at its time alone."""
    relation = facts.source.relation
    if isinstance(relation, Alias):
        name = relation.input.schema[relation.schema.index(facts.on)].name
        window = Window(relation.input, Now(), name, default_key(relation.input))
        return Alias(window, relation.name)
    raise refusals.AS_OF_SEVERAL()
