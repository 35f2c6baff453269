"""How the answer of a query on views is given, where the query does not say it.

Law: what a query leaves open is as the views that it reads have it: EMIT as the strictest of them,
unbounded state allowed if one of them allows it, and failing expressions fail if they do in one.  A
view that says it itself speaks for the views that it reads.  So nobody sees early what a view shows
only when it is final, unless they ask for it.
"""

from __future__ import annotations

from ebbtide.algebra.quarantine import OnError
from ebbtide.algebra.relation import Relation, View
from ebbtide.core.tree import fold
from ebbtide.sql.catalog import Catalog, StreamEntry, ViewEntry
from ebbtide.sql.syntax import NOTHING_SAID, AnswerOptions, Emit

__all__ = ["answer_of_views", "completed"]

_STRICT = (Emit.FINAL, Emit.CHANGES_WITH_FINALITY, Emit.CHANGES)
_FAILING = (OnError.FAIL, OnError.QUARANTINE)


def answer_of_views(plan: Relation, catalog: Catalog) -> AnswerOptions:
    """What the views of a plan want."""

    def combine(node: Relation, below: tuple[AnswerOptions, ...]) -> AnswerOptions:
        entry = catalog.find(node.name) if isinstance(node, View) else None
        if isinstance(entry, StreamEntry):
            return NOTHING_SAID  # a stream is fed by all that its queries say
        return completed(entry.answer if isinstance(entry, ViewEntry) else NOTHING_SAID, below)

    return fold(plan, combine)


def completed(own: AnswerOptions, below: tuple[AnswerOptions, ...]) -> AnswerOptions:
    """What is wanted, with what is left open as it is below."""
    emits = [answer.emit for answer in below]
    failing = [answer.on_error for answer in below]
    return AnswerOptions(
        own.emit or next((emit for emit in _STRICT if emit in emits), None),
        own.allow_unbounded_state or any(answer.allow_unbounded_state for answer in below),
        own.on_error or next((word for word in _FAILING if word in failing), None),
    )
