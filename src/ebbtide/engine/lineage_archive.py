"""The lineage that is stored beside an answer: what it runs, and whether it may run.

Law: it is an output of the same program as the answer, so it commits with it, is revised with it
and goes back with it; without its intervals it has the rows of the answer (``lineage.intervals``).
"""

from __future__ import annotations

from ebbtide.algebra.emission import answer_schema
from ebbtide.analysis import Analysis, check
from ebbtide.core.output_name import lineage_name
from ebbtide.errors import QueryError, TemporalError
from ebbtide.lineage.intervals import with_intervals
from ebbtide.optimizer import prepared
from ebbtide.sql.bound import BoundQuery
from ebbtide.store.readers import View


def lineage_analysis(bound: BoundQuery) -> Analysis:
    """What is proved of the plan that stores the lineage of a query that asks for it."""
    plan = with_intervals(bound.plan, bound.written.span)
    runs = prepared(plan, bound.on_error)
    try:
        return check(runs.plan, bound.emit, bound.allow_unbounded, expiry=bound.expiry)
    except TemporalError as error:
        raise TemporalError(
            error.code,
            f"to keep the lineage of the answer, {error.message}",
            detail=error.detail,
            hint=f"leave out lineage = TRUE, or {error.hint}" if error.hint else None,
        ) from None


def lineage_view(root: str, name: str, bound: BoundQuery) -> View:
    """What is stored of the lineage of a query in the directory of its program."""
    if not bound.lineage:
        raise QueryError(
            "no-lineage",
            f'the lineage of "{name}" is not kept',
            hint="ask for it with the query: WITH (lineage = TRUE); why() needs nothing stored",
        )
    schema = answer_schema(with_intervals(bound.plan).schema, bound.emit)
    return View(root, lineage_name(name), schema, bound.emit.needs_finality)
