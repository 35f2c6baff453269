"""An independent judge: the snapshots of random plans, against DuckDB on the same snapshots."""

from collections import Counter
from typing import Any

import duckdb
from hypothesis import reject
from hypothesis import strategies as st

from ebbtide.algebra import (
    Aggregate,
    ChangingTable,
    Cumulate,
    Hop,
    Kind,
    OuterJoin,
    Over,
    Relation,
    Session,
    TopN,
    Tumble,
)
from ebbtide.algebra.combination import AsofJoin
from ebbtide.core.change import Change, end_points, snapshot
from ebbtide.core.declaration import TableDeclaration
from ebbtide.core.schema import schema
from ebbtide.core.values import normalise
from ebbtide.reference import evaluate
from ebbtide.testing import rows_to_text
from laws import Law
from laws.duckdb_scalar import Unjudged, rows
from laws.duckdb_sql import query
from laws.reducibility import POINTWISE
from strategies import plans, relations

FIRST = schema(x="BIGINT", y="BOOLEAN")
SECOND = schema(x="BIGINT", word="STRING", d="DOUBLE")
TABLES = (
    ChangingTable(TableDeclaration("first", FIRST)),
    ChangingTable(TableDeclaration("second", SECOND)),
)
# The dialect of these laws has no text for an ASOF JOIN with our order of ties; it has other tests.
UNJUDGED = (AsofJoin, Cumulate, Hop, Session, Tumble)
JUDGED = tuple(operator for operator in POINTWISE if operator not in UNJUDGED)
SNAPSHOTS = 3

_connection = duckdb.connect(":memory:", config={"threads": 1})

Case = tuple[Relation, dict[str, tuple[Change, ...]]]


def cases(root: type[Relation], depth: int = 2) -> st.SearchStrategy[Case]:
    """Plans over two tables, and relations for them."""
    below = plans(TABLES, depth=depth, kind=Kind.SNAPSHOT, root=root, operators=JUDGED)
    data = {"first": relations(FIRST, 8), "second": relations(SECOND, 8)}
    return st.tuples(below, st.fixed_dictionaries(data))


def check(case: Case) -> None:
    plan, data = case
    output = evaluate(plan, data)
    points = end_points(*data.values())
    for t in points[:: 1 + len(points) // SNAPSHOTS]:
        tables = {
            table.declaration.name: rows(
                table.schema, list(snapshot(data[table.declaration.name], t).elements())
            )
            for table in TABLES
        }
        theirs, ours = _judged(plan, tables), _rounded(snapshot(output, t))
        if theirs != ours:
            raise AssertionError(
                f"DuckDB disagrees at {t}\n\ntheirs\n{rows_to_text(theirs, plan.schema)}\n\n"
                f"ours\n{rows_to_text(ours, plan.schema)}\n\n{query(plan, tables)}"
            )


def _judged(plan: Relation, tables: dict[str, str]) -> Counter[Any]:
    try:
        found = _connection.execute(query(plan, tables)).fetchall()
    except (Unjudged, duckdb.OutOfRangeException, duckdb.NotImplementedException):
        reject()  # nested constants; deviations of NaN, an error there
    return _rounded(Counter(tuple(_frozen(value) for value in row) for row in found))


def _rounded(counted: Counter[Any]) -> Counter[Any]:
    """Doubles to nine digits: sums may be taken in another order."""
    result: Counter[Any] = Counter()
    for row, n in counted.items():
        short = (float(f"{v:.9g}") if isinstance(v, float) else v for v in row)
        result[tuple(normalise(value) for value in short)] += n
    return result


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


LAWS = [
    *(
        Law(f"DuckDB agrees on {operator.__name__}", cases(operator), check, 0.25)
        for operator in JUDGED
    ),
    # By themselves, where their many forms meet many rows.
    *(
        Law(f"DuckDB agrees on {operator.__name__} of a table", cases(operator, 1), check)
        for operator in (Aggregate, TopN, Over, OuterJoin)
    ),
]
