"""How long the changes of views are kept: as their views declare it, or as it is said at the start.

Law: nothing said means for ever.  What is said at the start goes before what a view declares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ebbtide.algebra.relation import Alias, Map, Relation, View
from ebbtide.core.time import Duration, duration
from ebbtide.errors import QueryError
from ebbtide.sql.catalog import Catalog, ViewEntry

if TYPE_CHECKING:
    from ebbtide.engine.query import Query


def keeping(
    catalog: Catalog, queries: Sequence[Query], asked: str | Mapping[str, str] | None
) -> dict[str, Duration]:
    """For how long each view keeps its changes; a view that is not there keeps them for ever."""
    names = [query.name for query in queries]
    by_view = dict.fromkeys(names, asked) if isinstance(asked, str) else dict(asked or {})
    for name in by_view:
        if name not in names:
            raise QueryError(
                "unknown-view",
                f'there is no view "{name}" to keep changes of',
                detail=f"the program has {', '.join(names)}",
            )
    declared = {query.name: _declared(catalog, query.bound.plan) for query in queries}
    said = {name: duration(text) for name, text in by_view.items()}
    return {name: keep for name, keep in (declared | said).items() if keep is not None}


def _declared(catalog: Catalog, plan: Relation) -> Duration | None:
    """What the view says whose rows a query shows, one by one."""
    while isinstance(plan, Map | Alias):
        plan = plan.input
    entry = catalog.find(plan.name) if isinstance(plan, View) else None
    return entry.keep_us if isinstance(entry, ViewEntry) else None
