"""Other ways to ask for a row for each item of an array, said by UNNEST in FROM.

Law: the tree that is left is the one of the query with the join.

    FROM s LATERAL VIEW EXPLODE(a) t AS v       FROM s CROSS JOIN UNNEST(a) AS t (v)
    FROM s LATERAL VIEW OUTER EXPLODE(a) t AS v FROM s LEFT JOIN UNNEST(a) AS t (v) ON TRUE
    SELECT x, EXPLODE(a) AS v FROM s            SELECT x, v FROM s CROSS JOIN UNNEST(a) AS _ (v)

A list of SELECT has one such call, and stands on rows that are not grouped: grouping is of the rows
that there are, and a call in the list would make more of them afterwards.
"""

from __future__ import annotations

from sqlglot import exp

from ebbtide.sql import nodes, refusals
from ebbtide.sql.made_nodes import fresh_names, name, placed
from ebbtide.sql.spans import span_of

__all__ = ["EXPLODES", "with_unnest_in_from"]

_LATER = ("where", "group", "having", "qualify", "windows", "order", "offset")

EXPLODES = {"EXPLODE": False, "UNNEST": False, "EXPLODE_OUTER": True}
"""Functions that give a row for each item, and whether they pad."""


def with_unnest_in_from(select: exp.Select, source: str) -> None:
    """Puts what LATERAL VIEW and a call in the list ask for into FROM."""
    for view in select.args.pop("laterals", None) or ():
        select.append("joins", view)
    found = [item for item in select.expressions if _call(item) is not None]
    if not found:
        return
    first = _call(found[0])
    assert first is not None
    if len(found) > 1 or select.args.get("group") or select.args.get("having"):
        raise refusals.UNNEST_IN_LIST(span_of(first, source), name=first.this)
    if len(first.expressions) != 1:
        return
    _moved(select, found[0], first)


def _call(item: exp.Expr) -> nodes.Call | None:
    inner = item.this if isinstance(item, exp.Alias) else item
    return inner if isinstance(inner, nodes.Call) and inner.this in EXPLODES else None


def _moved(select: exp.Select, item: exp.Expr, call: nodes.Call) -> None:
    shown = item.alias if isinstance(item, exp.Alias) else "col"
    table = next(fresh_names(select, "items"))
    array = call.expressions[0]
    unnest = nodes.Unnest(this=array.copy(), alias=alias_of(table, [shown], call))
    join = joined(unnest, EXPLODES[call.this])
    for part in (unnest, join):
        placed(part, call)
    value = exp.Column(this=name(shown, call), table=name(table, call))
    placed(value, call)
    made = exp.Alias(this=value, alias=name(shown, call))
    placed(made, item)
    select.set("expressions", [made if one is item else one for one in select.expressions])
    later = {key: select.args.pop(key) for key in _LATER if key in select.args}
    if select.args.get("from_") is None:
        start = exp.From(this=unnest)
        placed(start, call)
        select.set("from_", start)
    else:
        select.append("joins", join)
    select.args.update(later)  # in the order in which they are read


def alias_of(table: str, names: list[str], node: exp.Expr) -> exp.TableAlias:
    """AS table (names)."""
    columns = [name(each, node) for each in names]
    made = exp.TableAlias(this=name(table, node), columns=columns)
    placed(made, node)
    return made


def joined(unnest: nodes.Unnest, pads: bool) -> exp.Join:
    """The join by which items stand beside their row."""
    if not pads:
        return exp.Join(this=unnest, kind="CROSS")
    return exp.Join(this=unnest, side="LEFT", on=exp.Boolean(this=True))
