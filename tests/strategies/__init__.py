"""Hypothesis strategies for schemas, values, relations, streams, disorder, steps and plans.

Domains are small on purpose: rows collide, joins find partners, windows overlap, and the naive
evaluator is quick.  ``values`` and ``rows`` have the edges of every type where those are wanted.

    types, schemas, values, rows                  every type to its edges: NULL, NaN, large decimals
    few_values, rows                              small domains
    relations, facts                              histories whose every prefix is a relation
    disordered, cuts                              orders of arrival within a delay, cuts into steps
    expressions, predicates, join_predicates      typed scalar expressions over a schema
    plans, inputs, queries                        plans of every operator, data for their sources
"""

from strategies.arrival import cuts, disordered
from strategies.expressions import expressions, join_predicates, predicates
from strategies.plans import plans, queries
from strategies.relations import facts, intervals, relations
from strategies.sources import SOURCES, Source, inputs
from strategies.values import (
    few_values,
    instants,
    rows,
    schemas,
    types,
    values,
)

__all__ = [
    "SOURCES",
    "Source",
    "cuts",
    "disordered",
    "expressions",
    "facts",
    "few_values",
    "inputs",
    "instants",
    "intervals",
    "join_predicates",
    "plans",
    "predicates",
    "queries",
    "relations",
    "rows",
    "schemas",
    "types",
    "values",
]
