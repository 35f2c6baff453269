"""The fact/snapshot rule, with the place in the text to which it points.

Law: a block, with all blocks inside it, has either bare streams or windowed ones and changing
tables; static tables go with both.  ISTREAM, DSTREAM and RSTREAM lead from the second to the
first, windows from the first to the second.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from ebbtide.algebra.identifiers import identifier
from ebbtide.algebra.kind import Kind, kind
from ebbtide.algebra.origin import default_time
from ebbtide.algebra.relation import Relation
from ebbtide.core.types import TimestampType
from ebbtide.errors import Span, TemporalError
from ebbtide.sql.binding.context import Context, Place

__all__ = ["check", "check_snapshot", "kind_of", "note"]

_WINDOW = "[RANGE 1 HOUR"


def note(relation: Relation, name: str, node: exp.Expr, context: Context) -> None:
    """Notes that a source stands at a node."""
    its = kind(relation)
    if its is not Kind.STATIC:
        span = context.span(node)
        windowed = _windowed(relation, span.text) if its is Kind.FACT else None
        time = _first_time(relation, name, node) if its is Kind.FACT else None
        alias = _joined(node) if its is Kind.SNAPSHOT else None
        context.places.append(Place(its, name, span, windowed, time, alias))


def kind_of(places: Iterable[Place]) -> Kind:
    """What a query on these sources is."""
    kinds = {place.kind for place in places}
    return Kind.SNAPSHOT if Kind.SNAPSHOT in kinds else (kinds or {Kind.STATIC}).pop()


def check(places: Iterable[Place]) -> None:
    """Refuses a query with both bare streams and relations that change with time."""
    distinct = list(dict.fromkeys(places))
    bare = [place for place in distinct if place.kind is Kind.FACT]
    moving = [place for place in distinct if place.kind is Kind.SNAPSHOT]
    if bare and moving:
        raise TemporalError(
            "mixed-block",
            f'"{bare[0].name}" has no window, but "{moving[0].name}" changes with time',
            detail="a query is on streams alone, or on windows and tables that change",
            hint=_as_of(bare, moving) or _hint(bare),
            span=bare[0].span,
        )


def check_snapshot(places: Iterable[Place], operator: str, span: Span) -> None:
    """Refuses to turn facts into facts."""
    bare = [place for place in dict.fromkeys(places) if place.kind is Kind.FACT]
    if bare:
        raise TemporalError(
            "facts-need-window",
            f'{operator} needs a relation that changes with time, and "{bare[0].name}" has no'
            " window",
            hint=_hint(bare),
            span=bare[0].span,
        )


def _hint(bare: list[Place]) -> str:
    if len(bare) == 1 and bare[0].windowed is not None:
        return f"write {bare[0].windowed}"
    names = ", ".join(dict.fromkeys(place.name for place in bare))
    return f"give each of {names} a window, such as [RANGE 1 HOUR] or [UNBOUNDED]"


def _as_of(bare: list[Place], moving: list[Place]) -> str | None:
    """Facts that are joined with a table mostly want what it had at their time."""
    if len(bare) > 1 or len(moving) > 1 or bare[0].time is None or moving[0].alias is None:
        return None
    joined = f"{moving[0].span.text} FOR SYSTEM_TIME AS OF {bare[0].time}{moving[0].alias}"
    return f"join {joined}, or {_hint(bare)}"


def _first_time(relation: Relation, name: str, node: exp.Expr) -> str | None:
    """The time of facts that stand first in FROM, by the name that they have there."""
    time, source = default_time(relation), node.parent
    if time is None or not isinstance(source, exp.Table) or not isinstance(source.parent, exp.From):
        return None
    return f"{identifier(source.alias or name)}.{identifier(time)}"


def _joined(node: exp.Expr) -> str | None:
    """The alias of a source that JOIN or LEFT JOIN brings; None if it does not."""
    source = node.parent
    if not isinstance(source, exp.Table):
        return None
    join = source.parent
    if not isinstance(join, exp.Join) or join.side not in ("", "LEFT") or join.kind:
        return None
    if not join.args.get("on") and not join.args.get("using"):
        return None
    return f" AS {identifier(source.alias)}" if source.alias else ""


def _windowed(relation: Relation, text: str) -> str | None:
    if default_time(relation) is not None:
        return f"{text} {_WINDOW}]"
    times = [c.name for c in relation.schema if isinstance(c.type, TimestampType)]
    return f"{text} {_WINDOW} ON {identifier(times[0])}]" if times else None
