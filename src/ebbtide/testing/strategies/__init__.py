"""Hypothesis strategies for schemas, values, relations, streams, disorder, steps and plans.

Domains are small on purpose: rows collide, joins find partners, windows overlap, and the naive
evaluator is quick.  ``values`` and ``rows`` have the edges of every type where those are wanted.

This package needs Hypothesis, which the extra ``ebbtide[testing]`` installs.
"""

from ebbtide.errors import UnsupportedError

try:
    import hypothesis as _hypothesis  # noqa: F401
except ModuleNotFoundError as error:
    raise UnsupportedError(
        "extra-needed",
        "ebbtide.testing.strategies needs Hypothesis",
        hint='pip install "ebbtide[testing]"',
    ) from error

from ebbtide.testing.strategies.arrival import cuts, disordered
from ebbtide.testing.strategies.expressions import expressions, join_predicates, predicates
from ebbtide.testing.strategies.plans import plans, queries
from ebbtide.testing.strategies.relations import facts, intervals, relations
from ebbtide.testing.strategies.sources import SOURCES, Source, inputs
from ebbtide.testing.strategies.values import (
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
