"""Plans as SQL for DuckDB, an evaluator that shares no line with ours.

Columns are `c0`, `c1`, ... by position. TIMESTAMP and INTERVAL are BIGINT there: the plans only add
and compare them. `Unjudged` marks what DuckDB refuses or means otherwise.
"""

from typing import Any

from ebbtide.algebra import (
    Aggregate,
    AggregateCall,
    Alias,
    AntiJoin,
    ChangingTable,
    Difference,
    Distinct,
    Filter,
    Frame,
    FrameUnit,
    Intersection,
    Join,
    Map,
    MaxUnion,
    OuterJoin,
    Over,
    Product,
    Ranking,
    Relation,
    SemiJoin,
    SortKey,
    StrictDifference,
    TopN,
    UnionAll,
    Unnest,
    Values,
    View,
)
from ebbtide.algebra.ranking import NEIGHBOURS, NUMBERINGS
from ebbtide.core.schema import Schema
from ebbtide.core.types import DOUBLE
from laws.duckdb_scalar import Unjudged, listed, rows, scalar

SETS = {
    UnionAll: "UNION ALL",
    Difference: "EXCEPT ALL",
    StrictDifference: "EXCEPT",
}
ORDERED = ("FIRST", "LAST", "ARG_MIN", "ARG_MAX", "COLLECT")
SPREADS = ("VAR_SAMP", "VAR_POP", "STDDEV_SAMP", "STDDEV_POP")
PLAIN = {
    "MEDIAN": "median",
    "TRY_SUM": "sum",
    "TRY_AVG": "avg",
    "VAR_SAMP": "var_samp",
    "VAR_POP": "var_pop",
    "STDDEV_SAMP": "stddev_samp",
    "STDDEV_POP": "stddev_pop",
    "PERCENTILE": "quantile_cont",
    "PERCENTILE_DISC": "quantile_disc",
}


def query(node: Relation, tables: dict[str, str]) -> str:
    """A SELECT for a plan; `tables` has one for each source."""
    below = [f"({query(child, tables)})" for child in node.children]
    match node:
        case ChangingTable():
            return tables[node.declaration.name]
        case Values():
            return rows(node.columns, list(node.rows))
        case View() | Alias():
            return f"SELECT * FROM {below[0]}"
        case Filter():
            condition = scalar(node.predicate, node.input.schema)
            return f"SELECT * FROM {below[0]} l WHERE {condition}"
        case Map():
            terms = [scalar(named.expression, node.input.schema) for named in node.columns]
            return f"SELECT {listed(terms)} FROM {below[0]} l"
        case Unnest():
            return _unnest(node, below[0])
        case Distinct():
            return f"SELECT DISTINCT * FROM {below[0]}"
        case Aggregate():
            return _aggregate(node, below[0])
        case TopN():
            return _top(node, below[0])
        case Over():
            return _over(node, below[0])
        case Product():
            return f"SELECT {_both(node)} FROM {below[0]} l CROSS JOIN {below[1]} r"
        case Join():
            on = _pair(node)
            return f"SELECT {_both(node)} FROM {below[0]} l JOIN {below[1]} r ON {on}"
        case OuterJoin():
            kept = f"{node.kept.value} JOIN {below[1]} r ON {_pair(node)}"
            return f"SELECT {_both(node)} FROM {below[0]} l {kept}"
        case SemiJoin() | AntiJoin():
            word = "EXISTS" if isinstance(node, SemiJoin) else "NOT EXISTS"
            inner = f"SELECT 1 FROM {below[1]} r WHERE {_pair(node)}"
            return f"SELECT * FROM {below[0]} l WHERE {word} ({inner})"
        case UnionAll() | Difference() | StrictDifference():
            return f"{below[0]} {SETS[type(node)]} {below[1]}"
        case Intersection():
            return f"{below[0]} INTERSECT {'ALL ' if node.all else ''}{below[1]}"
        case MaxUnion():
            return f"({below[0]} EXCEPT ALL {below[1]}) UNION ALL {below[1]}"
        case _:
            raise Unjudged(type(node).__name__)


def _unnest(node: Unnest, below: str) -> str:
    array = scalar(node.array, node.input.schema)
    row = [f"l.c{i}" for i in range(len(node.input.schema))]
    items = f"(SELECT UNNEST({array}) AS item, UNNEST(RANGE(1, LEN({array}) + 1)) AS place) u"
    shown = [*row, "u.item", *([] if node.place is None else ["u.place"])]
    join = f"LEFT JOIN LATERAL {items} ON TRUE" if node.pads else f"CROSS JOIN LATERAL {items}"
    return f"SELECT {listed(shown)} FROM {below} l {join}"


def _pair(node: Any) -> str:
    schema = node.left.schema + node.right.schema
    return scalar(node.predicate, schema, len(node.left.schema))


def _both(node: Any) -> str:
    left = [f"l.c{i}" for i in range(len(node.left.schema))]
    return listed([*left, *(f"r.c{i}" for i in range(len(node.right.schema)))])


# --- groups, ranks and frames ------------------------------------------------------------------


def _aggregate(node: Aggregate, below: str) -> str:
    schema = node.input.schema
    keys = [scalar(named.expression, schema) for named in node.keys]
    calls = [_call(named.call, schema) for named in node.calls]
    group = f" GROUP BY {', '.join(keys)}" if keys else ""
    return f"SELECT {listed([*keys, *calls])} FROM {below} l{group}"


def _call(call: AggregateCall, schema: Schema, framed: bool = False) -> str:
    arguments = [scalar(argument, schema) for argument in call.arguments]
    if call.name in SPREADS and call.arguments[0].type == DOUBLE:
        raise Unjudged("the variance of NaN is 0 or an error there")
    conditions = [] if call.filter is None else [scalar(call.filter, schema)]
    name = PLAIN.get(call.name, call.name)
    if call.name in ORDERED:
        if framed or (call.distinct and call.name != "FIRST"):
            raise Unjudged(f"{call.name} with DISTINCT or a frame")
        text, conditions = _ordered_call(call, arguments, schema, conditions)
    elif call.name == "MODE":
        if framed:
            raise Unjudged("MODE in a frame, where DuckDB takes no order")
        text = f"mode({arguments[0]} ORDER BY {arguments[0]})"
        if call.distinct:
            text = f"min({arguments[0]})"
    elif not arguments:
        text = "count(*)"
    else:
        word = "DISTINCT " if call.distinct else ""
        text = f"{name}({word}{', '.join(arguments)})"
    if conditions:
        text += f" FILTER (WHERE {' AND '.join(conditions)})"
    if call.name == "COLLECT":
        return f"coalesce({text}, [])"
    return (
        f"CAST({text} AS BIGINT)"
        if call.name in ("SUM", "TRY_SUM") and call.type.sql == "BIGINT"
        else text
    )


def _ordered_call(
    call: AggregateCall, arguments: list[str], schema: Schema, conditions: list[str]
) -> tuple[str, list[str]]:
    order = [*(_key(key, schema) for key in call.order), *_all(schema)]
    if call.name.startswith("ARG"):
        direction = "DESC" if call.name == "ARG_MAX" else "ASC"
        order = [f"{arguments[1]} {direction}", *order]
        conditions = [*conditions, f"{arguments[1]} IS NOT NULL"]
    if call.name == "COLLECT":
        conditions = [*conditions, f"{arguments[0]} IS NOT NULL"]
    name = {"COLLECT": "list", "LAST": "last"}.get(call.name, "first")
    return f"{name}({arguments[0]} ORDER BY {', '.join(order)})", conditions


def _key(key: SortKey, schema: Schema) -> str:
    direction = "DESC" if key.descending else "ASC"
    nulls = "FIRST" if key.puts_nulls_first else "LAST"
    return f"{scalar(key.expression, schema)} {direction} NULLS {nulls}"


def _all(schema: Schema) -> list[str]:
    return [f"l.c{i} ASC NULLS FIRST" for i in range(len(schema))]


def _window(node: TopN | Over, total: bool, frame: str = "") -> str:
    schema = node.input.schema
    order = [_key(key, schema) for key in node.order_by] + (_all(schema) if total else [])
    parts = [scalar(expression, schema) for expression in node.partition_by]
    partition = f"PARTITION BY {', '.join(parts)} " if parts else ""
    return f"({partition}{'ORDER BY ' + ', '.join(order) if order else ''} {frame})"


def _top(node: TopN, below: str) -> str:
    number = f"{node.ranking.value}() OVER {_window(node, node.ranking is Ranking.ROW_NUMBER)}"
    kept = f"BETWEEN {node.offset + 1} AND {node.offset + node.count}"
    width = len(node.input.schema)
    columns = [f"c{i}" for i in range(width + (node.number_as is not None))]
    numbered = f"SELECT l.*, {number} AS c{width} FROM {below} l"
    return f"SELECT {', '.join(columns)} FROM ({numbered}) WHERE c{width} {kept}"


def _over(node: Over, below: str) -> str:
    schema = node.input.schema
    columns = []
    for place, framed in enumerate(node.calls, len(schema)):
        call = framed.call
        arguments = [scalar(argument, schema) for argument in call.arguments]
        if call.name in NUMBERINGS:
            text = f"{call.name}() OVER {_window(node, call.name == 'ROW_NUMBER')}"
        elif call.name in NEIGHBOURS:
            text = f"{call.name}({', '.join(arguments)}) OVER {_window(node, True)}"
        else:
            counted = node.frame is not None and node.frame.unit is FrameUnit.ROWS
            over = _window(node, counted, _frame(node.frame))
            text = _call(call, schema, framed=True)
            text = f"{text.removesuffix(' AS BIGINT)')} OVER {over}" + (
                " AS BIGINT)" if text.endswith(" AS BIGINT)") else ""
            )
        columns.append(f"{text} AS c{place}")
    return f"SELECT l.*, {', '.join(columns)} FROM {below} l"


def _frame(frame: Frame | None) -> str:
    if frame is None:
        return ""

    def bound(offset: int | None, unbounded: str) -> str:
        if offset is None:
            return f"UNBOUNDED {unbounded}"
        if offset == 0:
            return "CURRENT ROW"
        return f"{abs(offset)} {'PRECEDING' if offset < 0 else 'FOLLOWING'}"

    start, end = bound(frame.start, "PRECEDING"), bound(frame.end, "FOLLOWING")
    return f"{frame.unit.value} BETWEEN {start} AND {end}"
