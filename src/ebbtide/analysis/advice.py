"""Words for people: what an operator is called, what it lacks, and what to write instead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from ebbtide.algebra.call import SortKey
from ebbtide.algebra.combination import (
    AntiJoin,
    AsofJoin,
    Difference,
    Intersection,
    Join,
    MaxUnion,
    Outer,
    OuterJoin,
    Product,
    SemiJoin,
    StrictDifference,
    UnionAll,
)
from ebbtide.algebra.emission import Emit
from ebbtide.algebra.expression import Call, Cast, Expression, Literal
from ebbtide.algebra.operators import Joining, Matching, Padding, operator
from ebbtide.algebra.printing import sql
from ebbtide.algebra.ranking import NEIGHBOURS, NUMBERINGS, Over, TopN
from ebbtide.algebra.recursion import Recurrence, Recursion
from ebbtide.algebra.relation import (
    Aggregate,
    Alias,
    ChangingTable,
    Distinct,
    Filter,
    Map,
    Relation,
    StaticTable,
    Stream,
    Unnest,
    Values,
    View,
)
from ebbtide.algebra.traits import EmitsOnce, Stateless
from ebbtide.algebra.window import (
    Cumulate,
    Dstream,
    Hop,
    Istream,
    Rstream,
    Session,
    Tumble,
    Window,
)
from ebbtide.analysis.analysis import Node
from ebbtide.analysis.finality import told
from ebbtide.analysis.formula.progress import NEVER
from ebbtide.analysis.formula.streambound import propagated
from ebbtide.analysis.size import Size
from ebbtide.analysis.stores import Store, waits_for_ever
from ebbtide.analysis.temporal.edge import FROM, Edge
from ebbtide.analysis.temporal.sources import table_progresses
from ebbtide.core.declaration import Declaration, TableDeclaration
from ebbtide.core.schema import Column
from ebbtide.core.tree import find
from ebbtide.core.types import DATE, TIMESTAMP

ALLOW = "ALLOW UNBOUNDED STATE"
_LENGTHS = {
    **{unit: f"1 {unit}" for unit in ("SECOND", "MINUTE", "HOUR", "DAY")},
    "DD": "1 DAY",
}
_ZONE = "the calendar depends on the zone, and FLOOR counts in UTC"
_WINDOW = "put a window of time, such as [RANGE 1 HOUR], after the names of the streams"


def name_of(relation: Relation) -> str:
    """The sources that a relation is made of, in quotes."""
    names = [view.name for view in find(relation, View)]
    names += [own.name for own in find(relation, Recurrence)]
    if not names:
        names = [stream.declaration.name for stream in find(relation, Stream)]
        names += [table.declaration.name for table in find(relation, ChangingTable)]
        names += [table.declaration.name for table in find(relation, StaticTable)]
    return " and ".join(f'"{name}"' for name in dict.fromkeys(names)) or "the query"


def operator_name(relation: Relation) -> str:
    """An operator and what it stands on."""
    node = operator(relation)
    if isinstance(node, Padding):
        return _of_two(node.words, node)
    match node:
        case Stream() | StaticTable() | ChangingTable() | Values() | View():
            return name_of(node)
        case Recursion() | Recurrence():
            return f'"{node.name}"'
        case Product() | Join():
            return _of_two("join", node)
        case SemiJoin():
            return _of_two("semi join", node)
        case AntiJoin():
            return _of_two("anti join", node)
        case UnionAll() | MaxUnion():
            return _of_two("union", node)
        case Difference() | StrictDifference():
            return _of_two("EXCEPT", node)
        case Intersection():
            return _of_two("INTERSECT", node)
        case Distinct():
            return f"DISTINCT on {name_of(node)}"
        case Aggregate():
            return f"grouping of {name_of(node)}"
        case TopN():
            return f"ranking of {name_of(node)}"
        case Over():
            return f"OVER on {name_of(node)}"
        case Alias() | Filter() | Map() | Unnest():
            return name_of(node)
        case Window() | Tumble() | Hop() | Cumulate():
            return f"window on {name_of(node)}"
        case Session():
            return f"SESSION on {name_of(node)}"
        case Istream() | Dstream() | Rstream():
            return f"{type(node).__name__.upper()} of {name_of(node)}"
        case _:
            assert_never(node)


def keeper(node: Node) -> str:
    """Who keeps the rows of a node's stores."""
    name = operator_name(node.relation)
    return name if node.inputs else f"admission of {name}"


def what_is_stored(node: Node, store: Store) -> str:
    """Which rows are stored, and why so many."""
    if not node.inputs:
        return f"{keeper(node)} keeps {_operations(store)}"
    rows = f"{operator_name(node.relation)} keeps {store.instead or 'rows'}"
    if store.size is Size.UNBOUNDED:
        return f"{operator_name(node.relation)} keeps every row of {_input(node, store)}"
    return f"{rows} of {_input(node, store)}"


def missing_bound(node: Node, store: Store) -> str:
    """Which bound a store lacks."""
    if waits_for_ever(store):
        silent = " and ".join(f'"{each.name}"' for each in promising_nothing(node.relation))
        if not node.inputs:
            return f"{silent} has a key and promises no progress"
        whom = _input(node, store)
        return f"rows of {whom} wait for {silent or 'an input'}, which promises no progress"
    coming = told(
        [str(a.variable) if _is_plain(a.variable.node) else str(a.bound) for a in clause]
        for clause in store.missing
    )
    if not coming:
        return f"rows of {_input(node, store)} hold for ever"
    among = _among(node.relation)
    if among:
        zone = f"; {_ZONE}" if _by_the_calendar(_keys(operator(node.relation))) else ""
        return f"no condition bounds {' and '.join(coming)} {among}{zone}"
    mine = _times(node.inputs[store.input].edge)
    by = f"by {mine[0]}" if mine else f"by a time of {_input(node, store)}"
    return f"no condition bounds {' and '.join(coming)} {by}"


def _among(relation: Relation) -> str:
    """Among which rows of one input, or of two, an operator would need a bound."""
    node = operator(relation)
    if isinstance(node, EmitsOnce):
        return ""
    match node:
        case Aggregate():
            return "within a group"
        case TopN() | Over():
            return "within a partition"
        case Distinct() | MaxUnion() | Difference() | StrictDifference() | Intersection():
            return "among rows that are equal"
        case _:
            assert_never(node)


def to_forget(node: Node, store: Store) -> str:
    """What to write so that an operator can forget."""
    relation = operator(node.relation)
    if waits_for_ever(store):
        return _promise(relation)
    if any(child.edge.is_snapshot for child in node.inputs):
        moved = (
            to_progress(below.relation, below.inputs[0].edge)
            for below in node.walk()
            if isinstance(below.relation, Window)
        )
        otherwise = "use a window of time, such as [RANGE 1 HOUR], in place of [UNBOUNDED]"
        return next(filter(None, moved), otherwise)
    if isinstance(relation, Stateless):
        return _WINDOW
    if isinstance(relation, Joining):
        band = _band(node)
        if band is None:
            return ALLOW
        return f"add {'WHERE' if isinstance(relation, Product) else 'AND'} {band}"
    match relation:
        case Over() if _is_framed_by_time(relation):
            return "use a frame RANGE BETWEEN INTERVAL 1 HOUR PRECEDING AND CURRENT ROW"
        case Aggregate():
            return _by_the_hour(node, "GROUP BY", _keys(relation))
        case TopN() if not relation.partition_by and relation.number_as is None:
            return _the_best_of_each_hour(node, relation)
        case TopN() | Over():
            return _by_the_hour(node, "PARTITION BY", relation.partition_by)
        case Window() | Session() | Recursion():
            return f"declare PROGRESS FOR {relation.on}"
        case Distinct() | MaxUnion() | Difference() | StrictDifference() | Intersection():
            return _WINDOW
        case Istream() | Dstream() | Rstream():
            return _WINDOW
        case _:
            assert_never(relation)


def to_progress(window: Window, below: Edge) -> str | None:
    """Which time to put a window on whose own does not progress, if another one does."""
    progressing = {
        below.schema[place].name
        for place, variable in below.columns.items()
        if propagated(variable, below.facts, below.bounds) != NEVER
    }
    if not progressing or window.on in progressing:
        return None
    times = ", ".join(f"ON {name}" for name in sorted(progressing))
    return f"put the window on a time that progresses: {times}"


def _is_framed_by_time(node: Over) -> bool:
    """Whether the values are over frames, in the order of a time."""
    numbered = {framed.call.name for framed in node.calls} & (NUMBERINGS | NEIGHBOURS)
    return not numbered and [key.expression.type for key in node.order_by] == [TIMESTAMP]


def _by_the_hour(node: Node, where: str, keys: Sequence[Expression]) -> str:
    times = _times(node.inputs[0].edge)
    if not times:
        return ALLOW
    if (calendar := _by_the_calendar(keys)) is not None:
        return calendar or ALLOW
    hour = f"FLOOR({times[0]} TO 1 HOUR)"
    return f"add {hour} to {where}" if keys else f"add {where} {hour}"


def _the_best_of_each_hour(node: Node, relation: TopN) -> str:
    """LIMIT has no partitions, so that its order moves into QUALIFY."""
    times = _times(node.inputs[0].edge)
    if not times:
        return ALLOW
    order = f" ORDER BY {', '.join(map(_sort, relation.order_by))}" if relation.order_by else ""
    over = f"PARTITION BY FLOOR({times[0]} TO 1 HOUR){order}"
    last = relation.offset + relation.count
    rows = f"BETWEEN {relation.offset + 1} AND {last}" if relation.offset else f"<= {last}"
    said = "ORDER BY ... LIMIT" if order else "LIMIT"
    return f"write QUALIFY {relation.ranking.value}() OVER ({over}) {rows} in place of {said}"


def _sort(key: SortKey) -> str:
    text = f"{sql(key.expression, _aggregate)}{' DESC' * key.descending}"
    nulls = {None: "", True: " NULLS FIRST", False: " NULLS LAST"}
    return text + nulls[key.nulls_first]


def _aggregate(column: Column) -> str | None:
    """The text of a column that is an aggregate, which is named by it."""
    return column.name if column.table is None and column.name.endswith(")") else None


def _by_the_calendar(keys: Sequence[Expression]) -> str | None:
    """The same rows by a grid, which has bounds; "" for months, which have no length."""
    found = [_on_a_grid(key) for key in keys]
    return next((grid for grid in found if grid is not None), None)


def _keys(relation: Relation) -> Sequence[Expression]:
    """What makes rows one group or partition."""
    if isinstance(relation, Aggregate):
        return [key.expression for key in relation.keys]
    return relation.partition_by if isinstance(relation, TopN | Over) else ()


def _on_a_grid(key: Expression) -> str | None:
    match key:
        case Call(name="DATE_TRUNC", arguments=(Literal(value=str(unit)), of)):
            time = sql(of)
            if unit.upper() == "WEEK":
                # Weeks begin on a Monday, and the epoch was a Thursday.
                monday = "INTERVAL 4 DAYS"
                return f"write FLOOR({time} - {monday} TO 7 DAYS) + {monday} in place of {sql(key)}"
            length = _LENGTHS.get(unit.upper())
        case Cast(operand=of, to=to) if to == DATE and of.type == TIMESTAMP:
            time, length = sql(of), "1 DAY"
        case _:
            return None
    return "" if length is None else f"write FLOOR({time} TO {length}) in place of {sql(key)}"


def asked(emit: Emit) -> str:
    """What a query says to ask for finality, and can do without."""
    return "WITH FINALITY" if emit is Emit.CHANGES_WITH_FINALITY else "EMIT FINAL"


def to_be_final(root: Node, emit: Emit) -> str:
    """What to write so that an answer becomes final."""
    node, otherwise = breaking(root), f"leave out {asked(emit)}"
    if () in node.edge.bounds.clauses:
        return _promise(node.relation)
    if isinstance(node.relation, Matching):
        if _is_padded_in_time(node):
            first, second = (_times(child.edge)[0] for child in node.inputs)
            return f"select COALESCE({first}, {second}) too, a time that every row has"
        band = _band(node)
        return f"add AND {band}" if band else otherwise
    match node.relation:
        case Aggregate() if calendar := _by_the_calendar(_keys(node.relation)):
            return calendar
        case Aggregate() if _times(node.inputs[0].edge):
            hour = f"FLOOR({_times(node.inputs[0].edge)[0]} TO 1 HOUR)"
            return f"GROUP BY {hour} too, and select it"
        case Map() if _times(node.inputs[0].edge):
            return f"select {_times(node.inputs[0].edge)[0]} too"
        case _:
            return otherwise


def breaking(root: Node) -> Node:
    """The lowest node that does not progress though all of its inputs do."""
    stuck = [node for node in root.walk() if not _progresses(node.edge)]
    ready = [n for n in stuck if all(_progresses(child.edge) for child in n.inputs)]
    return max(ready or stuck or [root], key=lambda node: len(node.path))


def _progresses(edge: Edge) -> bool:
    attributes = (FROM,) if edge.is_snapshot else edge.columns.values()
    return edge.bounds.is_static or any(
        propagated(variable, edge.facts, edge.bounds) != NEVER for variable in attributes
    )


def _is_padded_in_time(node: Node) -> bool:
    """Whether both sides of a join are bounded by each other, and either may be missing."""
    full = isinstance(node.relation, OuterJoin) and node.relation.kept is Outer.FULL
    bounded = all(store.size is not Size.UNBOUNDED for store in node.stores)
    return full and bounded and all(_times(child.edge) for child in node.inputs)


def _band(node: Node) -> str | None:
    first, second = (_times(child.edge) for child in node.inputs)
    if not first or not second:
        return None
    if isinstance(node.relation, AsofJoin) and node.relation.order_by[0].descending:
        # The near row comes before the one that it is near to.
        first, second = second, first
    return f"{second[0]} BETWEEN {first[0]} AND {first[0]} + INTERVAL 1 HOUR"


def _times(edge: Edge) -> list[str]:
    """The time columns, those first that progress or that something waits for."""
    columns = [
        (variable, edge.schema[place])
        for place, variable in edge.columns.items()
        if not edge.schema[place].nullable
    ]
    waited = edge.bounds.variables
    alone = {v for v, _ in columns if propagated(v, edge.facts, edge.bounds) != NEVER}
    ranked = sorted(columns, key=lambda pair: (pair[0] not in alone, pair[0] not in waited))
    return [str(column) for variable, column in ranked if variable in alone or variable in waited]


def promising_nothing(relation: Relation) -> list[Declaration]:
    """The sources below a node of which any row may still come."""
    found: dict[str, Declaration] = {}
    for stream in find(relation, Stream):
        if not stream.declaration.promises:
            found[stream.declaration.name] = stream.declaration
    for table in find(relation, ChangingTable):
        if not table_progresses(table.declaration):
            found[table.declaration.name] = table.declaration
    return list(found.values())


def _promise(relation: Relation) -> str:
    for source in promising_nothing(relation):
        if isinstance(source, TableDeclaration):
            kind, time = "TABLE", source.time
        else:
            times = (c.name for c in source.schema if c.type == TIMESTAMP)
            kind, time = "STREAM", next(times, None)
        if time is not None:
            promise = f"PROGRESS FOR {time} AS {time} - INTERVAL 5 SECONDS"
            return f"declare {promise} in CREATE {kind} {source.name}"
    return ALLOW


def _operations(store: Store) -> str:
    return "every operation" if store.size is Size.UNBOUNDED else store.instead.removesuffix(",")


def _is_plain(node: str) -> bool:
    return not node.startswith("~")


def _input(node: Node, store: Store) -> str:
    return name_of(node.relation.children[store.input] if node.relation.children else node.relation)


def _of_two(word: str, node: Relation) -> str:
    left, right = node.children
    return f"{word} of {name_of(left)} and {name_of(right)}"
