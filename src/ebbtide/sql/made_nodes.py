"""Nodes that a rewrite makes: where they stand, and names that nothing else has."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from ebbtide.sql import nodes
from ebbtide.sql.spans import mark, marked

__all__ = ["OUTER", "aliased", "around", "column", "fresh_names", "name", "own_parts", "placed"]

OUTER = ("order", "limit", "offset", "distinct")
"""The clauses that come last, and so stand in the query around."""

_QUERIES = (exp.Query, exp.Values, nodes.StreamOperator)


def placed(made: exp.Expr, node: exp.Expr) -> None:
    """Marks a node that was made as standing where another stands."""
    places = [place for part in node.walk() if (place := marked(part)) is not None]
    if places:
        mark(made, min(place[0] for place in places), max(place[1] for place in places))


def name(text: str, node: exp.Expr, *, quoted: bool = False) -> exp.Identifier:
    """A name that stands where a node stands."""
    made = exp.Identifier(this=text, quoted=quoted)
    placed(made, node)
    return made


def column(text: str, node: exp.Expr) -> exp.Column:
    """A column by its name."""
    made = exp.Column(this=name(text, node))
    placed(made, node)
    return made


def aliased(node: exp.Expr, text: str) -> exp.Alias:
    """An expression of a SELECT list under a name."""
    made = exp.Alias(this=node, alias=name(text, node))
    placed(made, node)
    return made


def around(
    star: exp.Star,
    query: exp.Expr,
    text: str,
    outer: dict[str, exp.Expr | None],
    where: exp.Where | None = None,
) -> exp.Select:
    """SELECT * FROM (query) AS name WHERE ..., with the clauses that come last."""
    made = exp.Select(
        distinct=outer["distinct"],
        expressions=[star],
        limit=outer["limit"],
        from_=_from(query, text),
        where=where,
        order=outer["order"],
        offset=outer["offset"],
    )
    placed(made, query)
    return made


def _from(query: exp.Expr, text: str) -> exp.From:
    inside = exp.Subquery(this=query, alias=exp.TableAlias(this=name(text, query)))
    made = exp.From(this=inside)
    for part in (inside.args["alias"], inside, made):
        placed(part, query)
    return made


def own_parts(node: exp.Expr) -> Iterator[exp.Expr]:
    """The node and what is in it, but not in a subquery."""
    if not isinstance(node, _QUERIES):
        yield node
        for child in node.iter_expressions():
            yield from own_parts(child)


def fresh_names(select: exp.Expr, wanted: str) -> Iterator[str]:
    """Names that stand nowhere in a query."""
    used = {node.name.casefold() for node in select.find_all(exp.Identifier)}
    number = 0
    while True:
        number += 1
        if f"{wanted}_{number}" not in used:
            yield f"{wanted}_{number}"
