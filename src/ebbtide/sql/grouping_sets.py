"""GROUPING SETS, ROLLUP and CUBE, said as a union of groupings.

Law: the tree that is left is the one of the same query with UNION ALL: a SELECT for each set, in
which what the set does not group by is NULL, and GROUPING(k) is the number that it is there.

    SELECT k, SUM(x) FROM t GROUP BY ROLLUP (k)
    SELECT * FROM (SELECT k, SUM(x) AS `SUM(x)` FROM t GROUP BY k
                   UNION ALL SELECT NULL AS k, SUM(x) FROM t HAVING TRUE)

The set of nothing has one row at every instant, as an aggregate without GROUP BY has.
"""

from __future__ import annotations

import re
from itertools import combinations, product

from sqlglot import exp

from ebbtide.errors import ParseError
from ebbtide.sql import nodes, refusals
from ebbtide.sql.binding.calls import is_aggregate
from ebbtide.sql.made_nodes import OUTER, aliased, around, column, fresh_names, own_parts, placed
from ebbtide.sql.spans import extent_of, span_of

__all__ = ["MAX_SETS", "cubed", "rolled_up", "with_union_of_groupings"]

MAX_SETS = 32

Keys = tuple[exp.Expr, ...]

_GROUPING = ("GROUPING", "GROUPING_ID")


def rolled_up(parts: list[Keys]) -> list[Keys]:
    """The sets of ROLLUP: all parts, all but the last, ... none."""
    return [sum(parts[:count], ()) for count in range(len(parts), -1, -1)]


def cubed(parts: list[Keys]) -> list[Keys]:
    """The sets of CUBE: every choice of parts."""
    sizes = range(len(parts), -1, -1)
    return [sum(chosen, ()) for size in sizes for chosen in combinations(parts, size)]


def with_union_of_groupings(select: exp.Select, source: str) -> exp.Select:
    """The query with a SELECT for each of its grouping sets."""
    group = select.args.get("group")
    elements: list[list[Keys]] | None = group.meta.pop("sets", None) if group else None
    if group is None or elements is None:
        _check_grouping(select, source)
        return select
    count = 1
    for element in elements:
        count *= len(element)
    if count > MAX_SETS:
        raise refusals.TOO_MANY_SETS(span_of(group, source), count=str(count))
    _check_windows(select, source)
    items = [item.unalias() for item in select.expressions]
    sets = [
        _without_twins(tuple(_meant(key, items, source) for key in sum(chosen, ())))
        for chosen in product(*elements)
    ]
    every = _without_twins(sum(sets, ()))
    outer = {key: select.args.pop(key, None) for key in OUTER}
    select.set("expressions", [_named(item, source) for item in select.expressions])
    if outer["order"] is not None:
        for ordered in outer["order"].expressions:
            for item in select.expressions:
                if _same(ordered.this, item.this):
                    ordered.this.replace(column(item.alias, ordered.this))
    branches = [_branch(select, keys, every, source) for keys in sets]
    union: exp.Expr = branches[0]
    for branch in branches[1:]:
        union = exp.Union(this=union, distinct=False, expression=branch)
        placed(union, group)
    star = exp.Star()
    placed(star, group)
    return around(star, union, next(fresh_names(select, "grouping_sets")), outer)


def _check_windows(select: exp.Select, source: str) -> None:
    """Refuses OVER: it would have to look at the rows of all sets together."""
    for clause in (*select.expressions, *map(select.args.get, ("order", "qualify"))):
        for part in own_parts(clause) if clause is not None else ():
            if isinstance(part, exp.Window | exp.Qualify):
                raise refusals.OVER_OF_SETS(span_of(part, source))


def _meant(key: exp.Expr, items: list[exp.Expr], source: str) -> exp.Expr:
    """A key, or the item of the SELECT list that its number stands for."""
    if not isinstance(key, exp.Literal):
        return key
    if key.is_string or not (key.is_int and 1 <= int(key.name) <= len(items)):
        raise ParseError(
            "bad-position",
            f"GROUP BY {key.name} is not a column of the SELECT list, which has {len(items)}",
            span=span_of(key, source),
            hint=f"write {len(items)}",
        )
    return items[int(key.name) - 1]


def _named(item: exp.Expr, source: str) -> exp.Expr:
    """An item under the name that it has in every branch."""
    if isinstance(item, exp.Alias):
        return item
    star = isinstance(item, exp.Star) or (
        isinstance(item, exp.Column) and isinstance(item.this, exp.Star)
    )
    if star:
        raise refusals.STAR_OF_SETS(span_of(item, source))
    if isinstance(item, exp.Column):
        made = aliased(item, item.name)
        made.args["alias"].set("quoted", item.this.quoted)
        return made
    made = aliased(item, re.sub(r"\s+", " ", extent_of(item, source).text.strip()))
    made.args["alias"].set("quoted", True)
    return made


def _branch(select: exp.Select, keys: Keys, every: Keys, source: str) -> exp.Select:
    branch = select.copy()
    absent = tuple(key for key in every if not _is_in(key, keys))
    for item in branch.expressions:
        by_alias = _is_in(exp.column(item.alias), absent) and _reads_no_key(item.this, every)
        shown = _null(item.this) if by_alias else _shown(item.this, keys, absent, source)
        item.set("this", shown)
    having = branch.args.get("having")
    if having is not None:
        having.set("this", _shown(having.this, keys, absent, source))
    if keys:
        group = exp.Group(expressions=[key.copy() for key in keys])
        placed(group, select.args["group"])
        branch.set("group", group)
        return branch
    branch.args.pop("group")
    if having is None:
        true = exp.Boolean(this=True)
        always = exp.Having(this=true)
        placed(true, select.args["group"])
        placed(always, select.args["group"])
        branch.set("having", always)
    return branch


def _shown(node: exp.Expr, keys: Keys, absent: Keys, source: str) -> exp.Expr:
    """An expression in the branch of a set."""
    if isinstance(node, nodes.Call):
        if node.this in _GROUPING:
            return _grouping(node, keys, absent, source)
        if is_aggregate(node.this):
            return node
    if _is_in(node, absent):
        return _null(node)
    for child in list(node.iter_expressions()):
        if not isinstance(child, exp.Query):
            shown = _shown(child, keys, absent, source)
            if shown is not child:
                child.replace(shown)
    return node


def _reads_no_key(node: exp.Expr, every: Keys) -> bool:
    """Whether an item is known to GROUP BY by its alias alone."""
    read = [part for part in own_parts(node) if isinstance(part, exp.Column)]
    return bool(read) and not any(_is_in(part, every) for part in read)


def _null(node: exp.Expr) -> exp.Null:
    made = exp.Null()
    placed(made, node)
    return made


def _grouping(node: nodes.Call, keys: Keys, absent: Keys, source: str) -> exp.Expr:
    """A bit for each argument, the first the highest: 1 where rows are not grouped by it."""
    bits = 0
    for argument in node.expressions:
        if not _is_in(argument, (*keys, *absent)):
            raise ParseError(
                "wrong-arguments",
                f"{node.this} is of what the query groups by",
                span=span_of(argument, source),
            )
        bits = 2 * bits + _is_in(argument, absent)
    if not node.expressions:
        raise ParseError(
            "wrong-arguments", f"{node.this} needs an argument", span=span_of(node, source)
        )
    made = exp.Literal.number(bits)
    placed(made, node)
    return made


def _check_grouping(select: exp.Select, source: str) -> None:
    """GROUPING of a query with one set is 0; there is no such function besides."""
    group = select.args.get("group")
    if group is None:
        return
    keys = tuple(group.expressions)
    for clause in (*select.expressions, select.args.get("having")):
        for node in clause.find_all(nodes.Call) if clause is not None else ():
            if node.this in _GROUPING and node.find_ancestor(exp.Select) is select:
                node.replace(_grouping(node, keys, (), source))


def _is_in(node: exp.Expr, keys: Keys) -> bool:
    return any(_same(node, key) for key in keys)


def _same(one: exp.Expr, other: exp.Expr) -> bool:
    """Whether two expressions are one; a column may be written with its source or without."""
    if isinstance(one, exp.Column) and isinstance(other, exp.Column):
        ours = [part.name.casefold() for part in one.parts]
        theirs = [part.name.casefold() for part in other.parts]
        short = min(len(ours), len(theirs))
        return ours == theirs or (short == 1 and ours[-1] == theirs[-1])
    return one == other


def _without_twins(keys: Keys) -> Keys:
    left: list[exp.Expr] = []
    for key in keys:
        if not _is_in(key, tuple(left)):
            left.append(key)
    return tuple(left)
