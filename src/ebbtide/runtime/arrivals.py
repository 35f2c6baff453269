"""Rows as they arrive: which of them count, how far they bring their sources, and where they go.

Law: a row is refused for the first reason that ``ebbtide.core.admission`` would give, judged by the
frontier before the step; a refused row goes to the unused rows and moves no frontier.  All of it
is one pass of Spark over the rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ebbtide.core.admission import Op, Reason, allowed_ops
from ebbtide.core.declaration import Declaration, TableDeclaration
from ebbtide.core.frontier import InputFrontier
from ebbtide.core.schema import Column, Schema
from ebbtide.core.time import INF, NEG_INF, Instant, shift
from ebbtide.core.types import BIGINT, STRING
from ebbtide.runtime.exchange import Passage
from ebbtide.runtime.layout import Layout
from ebbtide.runtime.physical import FromSource, Physical
from ebbtide.runtime.shape import SHARD, TAG, UNUSED, Shape
from ebbtide.state.batch import DIFF, FROM, TO

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

OP = Column("op", STRING, True, "arrival")
OFFSET = Column("offset", BIGINT, True, "arrival")
MALFORMED = Column("malformed", STRING, True, "arrival")

_OBSERVED = "arrivals"

# A sum of ones and of these counts all rows and the late ones among them: every observed value more
# is paid for by every row.
_LATE = 1 << 32

# What arrives is there once and at all times, until a window or an admission says otherwise.
_ALWAYS = (f"0 AS {SHARD}", f"{NEG_INF + 1}L - 1L AS {FROM}", f"{INF}L AS {TO}", f"1L AS {DIFF}")


def arrival_schema(declaration: Declaration) -> Schema:
    """The columns of a row as it arrives: the declared ones, and what is known about the row."""
    return Schema((*declaration.schema, OP, OFFSET, MALFORMED))


@dataclass(frozen=True, slots=True)
class Came:
    """How many rows of a source a step accepted, how many of them late, and their first time."""

    rows: int
    late: int
    oldest: Instant | None


@dataclass(frozen=True, slots=True)
class Seen:
    """What the rows of a step showed: the frontiers after it, each source's last place, what came
    from each, and whether some rows were refused."""

    frontiers: tuple[InputFrontier, ...]
    places: Mapping[int, int]
    came: tuple[Came, ...] = ()
    refused: bool = True


@dataclass(frozen=True, slots=True)
class Arrivals:
    """The sources of a query, and the edges that their rows go to."""

    declarations: tuple[Declaration, ...]
    physical: Physical

    @property
    def shape(self) -> Shape:
        """The table of what arrives; a row's tag is the number of its source."""
        return Shape.of({i: arrival_schema(d) for i, d in enumerate(self.declarations)})

    @property
    def entering(self) -> Shape:
        """The same table, tagged by the edges that the rows go to."""
        shape = self.shape
        sources = {tag: source for source, tags in self._edges().items() for tag in tags}
        places = {tag: shape.tags.index(source) for tag, source in sources.items()}
        places[UNUSED] = shape.tags.index(UNUSED)
        return Shape(
            tuple(places),
            tuple(shape.schemas[place] for place in places.values()),
            Layout(
                shape.layout.slots, tuple(shape.layout.places[place] for place in places.values())
            ),
        )

    def placed(self, rows: DataFrame, last: Mapping[int, int]) -> DataFrame:
        """Rows of streams with their places in their sources, after those of the steps before.

        A source's rows are counted in the order in which Spark reads them in a step, which is the
        same when the step is repeated.
        """
        keyed = [i for i, declaration in enumerate(self.declarations) if declaration.key]
        if not keyed:
            return rows
        by_slot: dict[str, str] = {}
        for source in keyed:
            slot = self._known(source, OFFSET)
            branch = f"WHEN {source} THEN {_number(last.get(source, -1) + 1, source)} + place"
            by_slot[slot] = f"{by_slot.get(slot, '')} {branch}"
        columns = [
            f"CASE {TAG}{by_slot[name]} ELSE {name} END AS {name}" if name in by_slot else name
            for name in rows.columns
        ]
        return rows.selectExpr("*", "monotonically_increasing_id() AS place").selectExpr(*columns)

    def observed(self, rows: DataFrame, before: tuple[InputFrontier, ...]) -> DataFrame:
        """The rows, counted and with their greatest times by source as they pass."""
        from pyspark.sql import functions as F

        judged = rows.selectExpr("*", f"{self._reasons(before)} AS reason")
        metrics = ["count(reason)"]
        for source, frontier in enumerate(before):
            here = f"{TAG} = {source}"
            if self.declarations[source].key:
                metrics.append(f"max(IF({here}, {self._known(source, OFFSET)}, NULL))")
            used = f"{here} AND reason IS NULL" if len(before) > 1 else "reason IS NULL"
            counted = f"IF({self._late(source, frontier)}, {_LATE + 1}L, 1L)"
            metrics += [f"sum(IF({used}, {counted}, 0L))", self._oldest(source, used)]
            for line in frontier.lines:
                time = f"unix_micros({self._slot(source, line.attribute)})"
                metrics.append(f"max(IF({used}, {time}, NULL))")
        return judged.observe(_OBSERVED, *(F.expr(f"{m} AS m{i}") for i, m in enumerate(metrics)))

    def committed(
        self, before: tuple[InputFrontier, ...], seen: Any, advances: Mapping[int, Instant]
    ) -> Seen:
        """The frontiers at the end of a step, from what was observed, and the last places."""
        values = seen.get(_OBSERVED).get()
        read = (None if values.isNullAt(i) else values.getLong(i) for i in range(values.length()))
        refused = next(read)
        after, places, came = [], {}, []
        for source, frontier in enumerate(before):
            place = next(read) if self.declarations[source].key else None
            if place is not None:
                places[source] = place
            late, count = divmod(next(read) or 0, _LATE)
            oldest = next(read)
            times = tuple(next(read) for _ in frontier.lines)
            came.append(Came(count, late, oldest))
            after.append(frontier.commit([times] if count else [], advances.get(source)))
        return Seen(tuple(after), places, tuple(came), bool(refused))

    def tagged(self, rows: DataFrame) -> DataFrame:
        """The judged rows by the edges that they go to, a row per edge, or by ``UNUSED``."""
        edges = self._edges()
        branches = " ".join(
            f"WHEN {source} THEN array({', '.join(map(str, tags))})"
            for source, tags in edges.items()
        )
        targets = f"IF(reason IS NULL, CASE {TAG} {branches} END, array({UNUSED}))"
        single = all(len(tags) == 1 for tags in edges.values())
        target = f"({targets})[0]" if single else f"explode({targets})"
        slots = self.shape.layout.names
        return rows.selectExpr(f"{TAG} AS source", f"{target} AS {TAG}", "reason", *slots, *_ALWAYS)

    def passages(self) -> dict[int, Passage]:
        """How the rows get into the first exchange."""
        passages = {
            tag: Passage(
                tag, arrival_schema(self.declarations[edge.producer.source]), edge.pipe, edge.keys
            )
            for tag, edge in enumerate(self.physical.edges)
            if isinstance(edge.producer, FromSource)
        }
        names = self._by_source(lambda source: f"'{_quoted(self.declarations[source].name)}'")
        op = self._by_source(lambda i: f"coalesce({self._op(i)}, '{Op.INSERT.value}')")
        told = (names, "reason", self._by_source(self._row_text), op)
        text = f"to_json(array({', '.join(told)}))"
        return {**passages, UNUSED: Passage(UNUSED, self.shape.schema(UNUSED), texts=(text,))}

    def _edges(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {source: [] for source in range(len(self.declarations))}
        for tag, edge in enumerate(self.physical.edges):
            if isinstance(edge.producer, FromSource):
                found[edge.producer.source].append(tag)
        return found

    def _by_source(self, text: Any) -> str:
        branches = " ".join(f"WHEN {i} THEN {text(i)}" for i in range(len(self.declarations)))
        return f"CASE source {branches} END"

    def _slot(self, source: int, name: str) -> str:
        schema = self.declarations[source].schema
        return self.shape.slots(source)[schema.position(name)]

    def _known(self, source: int, column: Column) -> str:
        schema = arrival_schema(self.declarations[source])
        return self.shape.slots(source)[schema.index(column)]

    def _late(self, source: int, frontier: InputFrontier) -> str:
        """Whether a row of a source comes after its promise."""
        tests = [
            f"unix_micros({self._slot(source, line.attribute)}) <= {_number(line.progress, source)}"
            for line in frontier.progressing
        ]
        return " OR ".join(tests) or "false"

    def _oldest(self, source: int, used: str) -> str:
        """The first time of a source's rows, of the attribute that windows stand on."""
        time = self.declarations[source].time
        if time is None:
            return "CAST(NULL AS BIGINT)"
        return f"min(IF({used}, unix_micros({self._slot(source, time)}), NULL))"

    def _op(self, source: int) -> str:
        return self._known(source, OP)

    def _row_text(self, source: int) -> str:
        declared = self.declarations[source].schema
        fields = ", ".join(f"{self._slot(source, n)} AS `{n}`" for n in declared.names)
        return f"coalesce({self._known(source, MALFORMED)}, to_json(struct({fields})))"

    def _reasons(self, before: tuple[InputFrontier, ...]) -> str:
        branches = " ".join(
            f"WHEN {source} THEN {self._reason(source, frontier)}"
            for source, frontier in enumerate(before)
        )
        return f"CASE {TAG} {branches} END" if branches else "CAST(NULL AS STRING)"

    def _reason(self, source: int, frontier: InputFrontier) -> str:
        """The first reason for which a row of a source counts for nothing, or NULL."""
        declaration = self.declarations[source]
        deciding = [p.attribute for p in declaration.promises]
        if isinstance(declaration, TableDeclaration) and declaration.time is not None:
            deciding.append(declaration.time)
        times = [self._slot(source, name) for name in dict.fromkeys(deciding)]
        keys = [self._slot(source, name) for name in declaration.key]
        required = [
            self._slot(source, column.name) for column in declaration.schema if not column.nullable
        ]
        op = self._op(source)
        whole = f"{op} IS NULL OR {op} NOT IN ('{Op.DELETE.value}', '{Op.END.value}')"
        beyond = _beyond(declaration, frontier)
        limit = None if beyond is None else _number(beyond, source)
        late = [
            f"unix_micros({self._slot(source, line.attribute)}) <= {_number(line.horizon, source)}"
            for line in frontier.progressing
        ]
        tests = [
            (Reason.MALFORMED, [f"{self._known(source, MALFORMED)} IS NOT NULL"]),
            (Reason.UNKNOWN_OP, [_unknown_op(declaration, self._op(source))]),
            (Reason.NULL_TIME, [f"{time} IS NULL" for time in times]),
            (Reason.NULL_KEY, [f"{key} IS NULL" for key in keys]),
            (Reason.MALFORMED, [f"({whole}) AND {slot} IS NULL" for slot in required]),
            (Reason.BEYOND, [f"unix_micros({t}) > {limit}" for t in times if limit is not None]),
            (Reason.LATE, late),
        ]
        whens = " ".join(f"WHEN {' OR '.join(t)} THEN '{r.value}'" for r, t in tests if t)
        return f"(CASE {whens} END)"


def _number(value: int, source: int) -> str:
    """A number that differs from step to step, in what is said about rows of one source.

    Spark writes numbers into the code that it makes, and other code is compiled and warmed up
    anew.  What it looks up in an array, by something of the row, it does not write there; of rows
    of the source the tag is its number.
    """
    text = f"{NEG_INF + 1}L - 1L" if value == NEG_INF else f"{value}L"
    return f"get(array({text}), {TAG} - {source})"


def _beyond(declaration: Declaration, frontier: InputFrontier) -> Instant | None:
    if declaration.not_beyond_us is None or frontier.clock is None:
        return None
    return shift(frontier.clock, declaration.not_beyond_us)


def _unknown_op(declaration: Declaration, slot: str) -> str:
    allowed = ", ".join(f"'{op.value}'" for op in sorted(allowed_ops(declaration), key=_word))
    return f"{slot} IS NOT NULL AND {slot} NOT IN ({allowed})"


def _word(op: Op) -> str:
    return op.value


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")
