"""What Ebbtide's SQL has and sqlglot's has not: the nodes of windows, streams, calls and durations.

Law: two texts that mean the same duration, window or call give equal nodes, whichever way they are
written; what is written differently but printed alike is one node.

    Duration         a fixed length of time; wherever SQL has INTERVAL, and in windows and clauses
    Quantified       x < ANY (query)
    Call             a function, with DISTINCT, ORDER BY, FILTER and the treatment of NULLs in it
    FloorTo, CeilTo  FLOOR(t TO d), CEIL(t TO d)
    *Window          what stands in brackets behind a source
    Windowed         a source and its window
    Tumble, ...      the table functions on facts
    Istream, ...     the way from a relation back to facts
    MaxUnion         UNION MAX: the greater multiplicity counts (paper 4)
    Joined           a join in parentheses

Nothing here parses or prints; `scalars`, `relations` and `generator` do.
"""

from sqlglot import exp

__all__ = [
    "AsOf",
    "Call",
    "CeilTo",
    "Cumulate",
    "Dstream",
    "Duration",
    "FloorTo",
    "Hop",
    "Istream",
    "Joined",
    "MaxUnion",
    "Quantified",
    "Quantifier",
    "Rstream",
    "Session",
    "StreamOperator",
    "TableFunction",
    "Tumble",
    "Unnest",
    "WindowNode",
    "Windowed",
]


class Duration(exp.Expression, exp.Condition):
    """A fixed length of time; `us` is the number of microseconds and may be negative."""

    arg_types = {"us": True}

    @property
    def us(self) -> int:
        """The length in microseconds."""
        return int(self.args["us"])


class Call(exp.Expression, exp.Func):
    """A function applied to `expressions`, scalar or aggregate; `this` is its name in upper case.

    `distinct` is set for F(DISTINCT ...); `order` is what WITHIN GROUP orders by (a list of
    exp.Ordered); `filter` is the condition of FILTER (WHERE ...); `nulls` is IGNORE or RESPECT.
    """

    arg_types = {
        "this": True,
        "expressions": False,
        "distinct": False,
        "order": False,
        "filter": False,
        "nulls": False,
    }
    is_var_len_args = True


class FloorTo(exp.Expression, exp.Condition):
    """FLOOR(this TO grid); `grid` is a Duration."""

    arg_types = {"this": True, "grid": True}


class CeilTo(exp.Expression, exp.Condition):
    """CEIL(this TO grid); `grid` is a Duration."""

    arg_types = {"this": True, "grid": True}


class Quantifier(exp.Expression, exp.Condition):
    """ANY (this) or, with `all`, ALL (this), while its comparison is read; never left in a tree."""

    arg_types = {"this": True, "all": False}


class Quantified(exp.Expression, exp.Condition):
    """this op ANY (query): whether some row of a query compares so; `op` is <, <=, >, >= or <>.

    ALL is NOT of the opposite, = ANY is IN, and <> ALL is NOT IN.
    """

    arg_types = {"this": True, "op": True, "query": True}


# --- windows -----------------------------------------------------------------------------------


class WindowNode(exp.Expression):
    """[PARTITION BY partition_by name amounts ON on]: what stands in brackets behind a source.

    `this` is the name of the window; `amounts` are Durations and integers, in the order of its
    syntax; `partition_by` and `on` are exp.Identifiers.  VALID has two expressions instead, of
    which one may be missing: `valid_from` and `valid_to`.
    """

    arg_types = {
        "this": True,
        "amounts": False,
        "partition_by": False,
        "on": False,
        "valid_from": False,
        "valid_to": False,
    }


# --- what stands in FROM -----------------------------------------------------------------------


class Windowed(exp.Expression):
    """this [window] AS alias; `this` is any source without an alias of its own."""

    arg_types = {"this": True, "window": True, "alias": False}


class AsOf(exp.Expression):
    """this FOR SYSTEM_TIME AS OF at AS alias: a source at a time of what it is joined to."""

    arg_types = {"this": True, "at": True, "alias": False}


class Joined(exp.Expression):
    """(this JOIN ...): a source and, as everywhere, its `joins`."""

    arg_types = {"this": True, "joins": False}


class Unnest(exp.Expression):
    """UNNEST(this) WITH ORDINALITY AS alias: the items of an array, and their places if `place`."""

    arg_types = {"this": True, "place": False, "alias": False}


class TableFunction(exp.Expression):
    """A function of a source `this` and its time `on` (exp.Identifier)."""

    arg_types = {"this": True, "on": True, "alias": False}


class Tumble(TableFunction):
    """TUMBLE(this, on, size, offset)."""

    arg_types = {"this": True, "on": True, "size": True, "offset": False, "alias": False}


class Hop(TableFunction):
    """HOP(this, on, slide, size, offset)."""

    arg_types = {
        "this": True,
        "on": True,
        "slide": True,
        "size": True,
        "offset": False,
        "alias": False,
    }


class Session(TableFunction):
    """SESSION(this PARTITION BY partition_by, on, gap)."""

    arg_types = {"this": True, "on": True, "gap": True, "partition_by": False, "alias": False}


class Cumulate(TableFunction):
    """CUMULATE(this, on, step, size, offset)."""

    arg_types = {
        "this": True,
        "on": True,
        "step": True,
        "size": True,
        "offset": False,
        "alias": False,
    }


class StreamOperator(exp.Expression):
    """The facts of how the relation `this`, a query, changes; a query itself, and a source."""

    arg_types = {"this": True, "with_": False, "alias": False}


class Istream(StreamOperator):
    """ISTREAM(this): what came."""


class Dstream(StreamOperator):
    """DSTREAM(this): what went."""


class Rstream(StreamOperator):
    """RSTREAM(this EVERY every): what was there at each multiple of `every`, a Duration."""

    arg_types = {"this": True, "every": True, "with_": False, "alias": False}


class MaxUnion(exp.SetOperation):
    """this UNION MAX expression."""
