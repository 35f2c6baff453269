"""The library of aggregates, which users can add to."""

from __future__ import annotations

from difflib import get_close_matches

from ebbtide.algebra.aggregates.bags import collect, mode, percentile, single
from ebbtide.algebra.aggregates.extremes import arg_extreme, extreme, first, last, truth
from ebbtide.algebra.aggregates.function import AggregateFunction, Maker, Types
from ebbtide.algebra.aggregates.moments import average, count, sum_, trying, variance
from ebbtide.algebra.aggregates.own import OUTCOME_OF, outcome, owned
from ebbtide.errors import BindError, QueryError

__all__ = ["AGGREGATES", "ALIASES", "AggregateFunction", "aggregate", "register"]

AGGREGATES: dict[str, Maker] = {
    "COUNT": count,
    "SUM": sum_,
    "AVG": average,
    "TRY_SUM": trying(sum_),
    "TRY_AVG": trying(average),
    "MIN": extreme(False, "MIN"),
    "MAX": extreme(True, "MAX"),
    "VAR_SAMP": variance(True, False, "VAR_SAMP"),
    "VAR_POP": variance(False, False, "VAR_POP"),
    "STDDEV_SAMP": variance(True, True, "STDDEV_SAMP"),
    "STDDEV_POP": variance(False, True, "STDDEV_POP"),
    "MEDIAN": percentile("MEDIAN", False, 0.5),
    "PERCENTILE": percentile("PERCENTILE", False),
    "PERCENTILE_DISC": percentile("PERCENTILE_DISC", True),
    "FIRST": first,
    "LAST": last,
    "ARG_MIN": arg_extreme(False, "ARG_MIN"),
    "ARG_MAX": arg_extreme(True, "ARG_MAX"),
    "COLLECT": collect,
    "MODE": mode,
    "BOOL_AND": truth(True, "BOOL_AND"),
    "BOOL_OR": truth(False, "BOOL_OR"),
    "SINGLE": single,
    "TRY_SINGLE": trying(single),
}

ALIASES = {
    "VARIANCE": "VAR_SAMP",
    "VAR": "VAR_SAMP",
    "STDDEV": "STDDEV_SAMP",
    "STD": "STDDEV_SAMP",
    "MEAN": "AVG",
    "PERCENTILE_CONT": "PERCENTILE",
    "FIRST_VALUE": "FIRST",
    "LAST_VALUE": "LAST",
    "MIN_BY": "ARG_MIN",
    "MAX_BY": "ARG_MAX",
    "COLLECT_LIST": "COLLECT",
    "ARRAY_AGG": "COLLECT",
    "EVERY": "BOOL_AND",
    "ANY": "BOOL_OR",
    "SOME": "BOOL_OR",
}


def aggregate(name: str, types: Types) -> AggregateFunction:
    """The aggregate of that name for arguments of those types."""
    if name.startswith(OUTCOME_OF):
        return outcome(aggregate(name.removeprefix(OUTCOME_OF), types))
    if name not in AGGREGATES:
        near = get_close_matches(name, AGGREGATES, 1)
        raise BindError(
            "unknown-function",
            f'there is no aggregate "{name}"',
            hint=f"did you mean {near[0]}?" if near else None,
        )
    return AGGREGATES[name](types)


def register(name: str, make: Maker) -> None:
    """Adds an aggregate of the user's own to the library, under an upper-case name.

    It keeps the rows of its groups as long as they are valid.  What its functions raise is an error
    of the group.
    """
    if name != name.upper():
        raise QueryError("bad-name", f'"{name}" must be in upper case', hint=name.upper())
    if name in AGGREGATES or name in ALIASES:
        raise QueryError("duplicate-name", f'there is an aggregate "{name}" already')

    AGGREGATES[name] = lambda types: owned(name, make(types))
