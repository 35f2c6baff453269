"""Draw what the documentation shows: the operators on time lines, a revision, a plan.

The page's own SQL is bound, and the reference evaluator says what each operator makes of a few
rows; what goes in and what comes out is drawn.  `make drawings` writes the files beside the page.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from ebbtide.algebra.recursion import Recursion
from ebbtide.algebra.relation import Relation, Stream
from ebbtide.algebra.window import Window
from ebbtide.analysis import explain
from ebbtide.core.change import Change, fact, minus, until
from ebbtide.core.schema import Schema
from ebbtide.core.time import INF, MINUTE, NEG_INF, SECOND, Instant, format_instant, instant
from ebbtide.core.tree import find
from ebbtide.core.types import TIMESTAMP
from ebbtide.core.values import Row
from ebbtide.drawing import Bar, plan_svg, timeline_svg
from ebbtide.reference import evaluate
from ebbtide.sql import parse
from ebbtide.sql.binder import bind
from ebbtide.sql.binding.insertion import inserted
from ebbtide.sql.bound import BoundInsert, BoundQuery, Declared
from ebbtide.sql.catalog import Catalog

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/reference/operators.md"
DRAWINGS = PAGE.parent / "drawings"
REVISION = ROOT / "docs/explanation/drawings/revision.svg"
HOME_PAGE = ROOT / "docs/index.md"
HOME = ROOT / "docs/explanation/drawings/home.svg"
VERDICT = ROOT / "docs/explanation/verdict.md"

NOON = instant("2026-01-01 12:00:00")
WINDOWS = (
    "[RANGE 10 SECONDS]",
    "[RANGE 10 SECONDS SLIDE 4 SECONDS]",
    "[FIXED 10 SECONDS]",
    "[ROWS 2]",
    "[NOW]",
    "[UNBOUNDED]",
)

Inputs = Mapping[str, Iterable[Change]]


def minute(number: float) -> Instant:
    """So many minutes after noon."""
    return NOON + round(number * MINUTE)


def facts(*rows: tuple[int, float, float]) -> list[Change]:
    """Bids or asks: auction, price, minute."""
    return [fact((auction, price, minute(at))) for auction, price, at in rows]


def limits(*versions: tuple[float, float, float]) -> list[Change]:
    """Versions of the limit of auction 1: most, from, to."""
    return [Change((1, most, minute(a)), minute(a), minute(b)) for most, a, b in versions]


ROWS: dict[str, list[Change]] = {
    "bids": facts((1, 5.0, 0), (1, 3.0, 2), (2, 8.0, 3)),
    "asks": facts((1, 5.0, 3), (2, 4.0, 1)),
    "shops": [fact((1, "north")), fact((2, "south"))],
    "limits": limits((10.0, 1, 4), (20.0, 4, 6)),
}
OTHER_ROWS: dict[str, dict[str, list[Change]]] = {
    "Filter": {"bids": facts((1, 5.0, 0), (1, 1.0, 2), (2, 8.0, 3))},
    "Unnest": {"bids": facts((1, 6.0, 0), (2, 8.0, 3))},
    "TopN": {"bids": facts((1, 1.0, 0), (1, 2.0, 1), (2, 3.0, 2), (2, 4.0, 3), (1, 5.0, 4))},
    "MaxUnion": {"bids": facts((1, 5.0, 0), (1, 3.0, 1)), "asks": facts((1, 5.0, 3))},
    "Difference": {"bids": facts((1, 5.0, 0), (1, 3.0, 1)), "asks": facts((1, 5.0, 3))},
    "StrictDifference": {"bids": facts((1, 5.0, 0), (2, 3.0, 1)), "asks": facts((1, 5.0, 3))},
    "Intersection": {
        "bids": facts((1, 5.0, 0), (1, 3.0, 1)),
        "asks": facts((1, 5.0, 2), (1, 6.0, 3)),
    },
    "SemiJoin": {"limits": limits((10.0, 1, 3), (20.0, 4, 6))},
    "AntiJoin": {"limits": limits((10.0, 1, 3), (20.0, 4, 6))},
    "OuterJoin": {"bids": facts((1, 5.0, 0)), "limits": limits((10.0, 1, 3), (20.0, 4, 6))},
    "Join": {"bids": facts((1, 5.0, 0), (2, 8.0, 1))},
    "Product": {"bids": facts((1, 5.0, 0), (2, 8.0, 2))},
    "Tumble": {"bids": facts((1, 5.0, 4), (1, 3.0, 5), (2, 8.0, 9))},
    "Hop": {"bids": facts((1, 5.0, 4), (2, 8.0, 11))},
    "Session": {"bids": facts((1, 5.0, 0), (1, 3.0, 0.1), (1, 4.0, 0.5), (2, 8.0, 0.2))},
    "Cumulate": {"bids": facts((1, 5.0, 1), (2, 8.0, 4.5))},
    "Istream": {"bids": facts((1, 5.0, 0), (1, 3.0, 2))},
    "Dstream": {"bids": facts((1, 5.0, 0), (1, 3.0, 2))},
    "Rstream": {"bids": facts((1, 5.0, 0.5), (2, 8.0, 3))},
    "Recursion": {"bids": facts((1, 5.0, 0), (2, 8.0, 3)), "asks": facts((1, 5.0, 5))},
    "Recurrence": {"bids": facts((1, 5.0, 0), (2, 8.0, 3))},
    "Window": {
        "bids": [fact((1, p, NOON + s * SECOND)) for p, s in ((5.0, 12), (3.0, 15), (8.0, 18))]
    },
}


def main() -> None:
    """Writes all drawings."""
    made = drawings()
    for path, drawn in made.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(drawn, encoding="utf-8")
    print(f"{len(made)} drawings", file=sys.stderr)


def drawings() -> dict[Path, str]:
    """All drawings, by their files."""
    operators = {DRAWINGS / f"{name.lower()}.svg": drawn for name, drawn in operators_drawn()}
    others = {HOME: home(), REVISION: revision(), REVISION.with_name("plan.svg"): plan()}
    return {**operators, **others}


def plan() -> str:
    """The plan of the first query on the page about the verdict."""
    declarations, query = _blocks(VERDICT.read_text(encoding="utf-8"))[:2]
    bound = _bound(query, _declared(Catalog(), declarations))
    return plan_svg(explain(bound.plan, bound.emit))


def home() -> str:
    """The story of the first page: two averages, and a late fact that revises one of them."""
    declared, query = re.findall(r'"""\n(.*?)"""', HOME_PAGE.read_text(encoding="utf-8"), re.S)[:2]
    plan = _plan(query, _declared(Catalog(), declared))
    came = traffic((1, 20.0, 0), (2, 40.0, 4), (1, 30.0, 10), (2, 50.0, 22))
    late = traffic((1, 10.0, 5))
    first = until(evaluate(plan, {"traffic": came}), minute(22))
    second = minus(until(evaluate(plan, {"traffic": [*came, *late]}), minute(22)), first)
    readings = [Bar(f"section {s}", at, at, 1, "readings", str(v)) for s, v, at in _rows(came)]
    readings += [Bar("late", at, at, 1, "readings", str(v)) for _, v, at in _rows(late)]
    means = [
        Bar(f"section {c.row[0]}", c.valid_from, c.valid_to, c.diff, "averages", str(c.row[1]))
        for c in sorted((*first, *second), key=lambda c: c.row[0])
    ]
    return timeline_svg([*readings, *means], now=minute(22), progress=minute(21), sort=False)


def traffic(*rows: tuple[int, float, float]) -> list[Change]:
    """Readings: section, speed, minute."""
    return [fact((section, speed, minute(at))) for section, speed, at in rows]


def _rows(changes: Iterable[Change]) -> list[Row]:
    return [change.row for change in changes]


def revision() -> str:
    """An average, and a late fact that revises it."""
    catalog = _declared(Catalog(), _blocks(PAGE.read_text(encoding="utf-8"))[0])
    plan = _plan("SELECT AVG(price) AS mean FROM bids [RANGE 10 MINUTES]", catalog)
    came = facts((1, 4.0, 0), (1, 9.0, 4))
    late = facts((1, 8.0, 2))
    first = until(evaluate(plan, {"bids": came}), minute(9))
    second = minus(until(evaluate(plan, {"bids": [*came, *late]}), minute(9)), first)
    bars = [
        Bar(_label(c.row, plan.schema), c.valid_from, c.valid_to, c.diff)
        for c in (*first, *second)
        if c.row != (None,)
    ]
    return timeline_svg(
        bars, now=minute(9), progress=minute(8), title="AVG over the last 10 minutes"
    )


def operators_drawn() -> Iterator[tuple[str, str]]:
    """Every operator and its drawing."""
    page = PAGE.read_text(encoding="utf-8")
    catalog = _declared(Catalog(), _blocks(page)[0])
    sections = re.findall(r"^### (\w+)\n(.*?)(?=^##|\Z)", page, re.M | re.S)
    for name, text in sections:
        yield name, _drawing(name, _blocks(text)[0], catalog)


def _drawing(name: str, sql: str, catalog: Catalog) -> str:
    inputs = {**ROWS, **OTHER_ROWS.get(name, {})}
    if name == "Window":
        return timeline_svg(_windows(catalog, inputs))
    if name in ("Recursion", "Recurrence"):
        return timeline_svg(_recursion(_plan(sql, catalog), inputs))
    node = next(node for node in find(_plan(sql, catalog), Relation) if type(node).__name__ == name)
    bars: list[Bar] = []
    names = ("input",) if len(node.children) == 1 else ("left", "right")
    for group, child in zip(names, node.children, strict=False):
        bars += _bars(child, inputs, group)
    bars += _bars(node, inputs, "result" if node.children else "")
    return timeline_svg(bars)


def _recursion(plan: Relation, inputs: Inputs) -> Iterator[Bar]:
    """The facts from outside, and those that follow."""
    recursion = next(find(plan, Recursion))
    for stream in dict.fromkeys(find(recursion, Stream)):
        yield from _bars(stream, inputs, stream.declaration.name)
    yield from _bars(recursion, inputs, "result", minute(9))


def _windows(catalog: Catalog, inputs: Inputs) -> Iterator[Bar]:
    """The same facts below each kind of window."""
    yield from _bars(next(find(_plan("SELECT * FROM bids", catalog), Stream)), inputs, "facts")
    for window in WINDOWS:
        plan = _plan(f"SELECT * FROM bids {window}", catalog)
        yield from _bars(next(find(plan, Window)), inputs, window)


def _bars(
    relation: Relation, inputs: Inputs, group: str, now: Instant = NOON + 60 * MINUTE
) -> Iterator[Bar]:
    """What a relation is over time; facts are marks at their time, or bars of their windows."""
    names = [column.name for column in relation.schema]
    for change in evaluate(relation, inputs, now):
        cells = dict(zip(names, change.row, strict=True))
        label = _label(change.row, relation.schema)
        if (change.valid_from, change.valid_to) != (NEG_INF, INF):
            yield Bar(label, change.valid_from, change.valid_to, change.diff, group)
        elif "window_start" in cells:
            start, end = cells["window_start"], cells["window_end"]
            inside = f"{label} in [{_clock(start)}, {_clock(end)})"
            yield Bar(inside, start, end, change.diff, group)
        elif time := cells.get("instant", cells.get("at")):
            yield Bar(label, time, time, change.diff, group)
        else:
            yield Bar(label, NEG_INF, INF, change.diff, group)


def _label(row: Row, schema: Schema) -> str:
    """The values of a row, without its times."""
    shown = [v for v, column in zip(row, schema, strict=True) if column.type != TIMESTAMP]
    return ", ".join("NULL" if value is None else str(value) for value in shown)


def _clock(t: Instant) -> str:
    return format_instant(t).split(" ")[1].removesuffix(":00")


def _plan(sql: str, catalog: Catalog) -> Relation:
    return _bound(sql, catalog).plan


def _bound(sql: str, catalog: Catalog) -> BoundQuery:
    for statement in parse(sql):
        bound = bind(statement, catalog)
        if isinstance(bound, Declared):
            catalog = bound.catalog
        elif isinstance(bound, BoundInsert):
            catalog = inserted(bound.target, bound.query, catalog)
        elif isinstance(bound, BoundQuery):
            return bound
    raise LookupError(sql)


def _declared(catalog: Catalog, sql: str) -> Catalog:
    for statement in parse(sql):
        declared = bind(statement, catalog)
        assert isinstance(declared, Declared)
        catalog = declared.catalog
    return catalog


def _blocks(text: str) -> list[str]:
    return re.findall(r"```sql\n(.*?)```", text, re.S)


if __name__ == "__main__":
    main()
