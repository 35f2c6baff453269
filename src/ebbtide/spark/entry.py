"""Rows on their way into the first exchange: which of them count, and where they go.

Law: a row is refused for the first reason that ``ebbtide.core.admission`` would give, judged by the
frontier before the step; a refused row goes to the unused rows and moves no frontier.  All of it
is one pass of Spark over the rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ebbtide.compile.arrival import MALFORMED, OFFSET, OP, arrival_schema
from ebbtide.compile.lowering import Lowered
from ebbtide.core.admission import Op, Reason, UnusedRow, allowed_ops
from ebbtide.core.declaration import Declaration, TableDeclaration
from ebbtide.core.frontier import InputFrontier
from ebbtide.core.schema import Column
from ebbtide.core.time import INF, NEG_INF, Instant, shift
from ebbtide.dataflow.observation import Observed, Seen
from ebbtide.dataflow.plan import entering_sources
from ebbtide.dataflow.tags import UNUSED
from ebbtide.spark.exchange import Passage
from ebbtide.spark.slots import SlotLayout
from ebbtide.spark.tagged_rows import SHARD, TAG, Shape
from ebbtide.state.batch import DIFF, FROM, TO
from ebbtide.store.record import Came

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_OBSERVED = "arrivals"

# A sum of ones and of these counts all rows and the late ones among them: every observed value more
# is paid for by every row.
_LATE = 1 << 32

# What arrives is there once and at all times, until a window or an admission says otherwise.
_ALWAYS = (f"0 AS {SHARD}", f"{NEG_INF + 1}L - 1L AS {FROM}", f"{INF}L AS {TO}", f"1L AS {DIFF}")


@dataclass(frozen=True, slots=True)
class Entry:
    """The sources of a program, and the routes by which their rows enter."""

    lowered: Lowered

    @property
    def declarations(self) -> tuple[Declaration, ...]:
        """The sources, by their numbers."""
        return self.lowered.declarations

    @property
    def shape(self) -> Shape:
        """The table of what arrives; a row's tag is the number of its source."""
        return Shape.of({i: arrival_schema(d) for i, d in enumerate(self.declarations)})

    @property
    def entering(self) -> Shape:
        """The same table, tagged by the routes that the rows take."""
        shape = self.shape
        routes = entering_sources(self.lowered)
        sources = {tag: source for source, tags in routes.items() for tag in tags}
        places = {tag: shape.tags.index(source) for tag, source in sources.items()}
        places[UNUSED] = shape.tags.index(UNUSED)
        return Shape(
            tuple(places),
            tuple(shape.schemas[place] for place in places.values()),
            SlotLayout(
                shape.layout.slots, tuple(shape.layout.places[place] for place in places.values())
            ),
        )

    def placed(self, rows: DataFrame, last: Mapping[str, int]) -> DataFrame:
        """Rows of streams with their places in their sources, after those of the steps before.

        A source's rows are counted in the order in which Spark reads them in a step, which is the
        same when the step is repeated.
        """
        keyed = [i for i, declaration in enumerate(self.declarations) if declaration.key]
        if not keyed:
            return rows
        by_slot: dict[str, str] = {}
        for source in keyed:
            name = self.declarations[source].name
            slot = self._known(source, OFFSET)
            branch = f"WHEN {source} THEN {_number(last.get(name, -1) + 1, source)} + place"
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

    def seen(self, before: tuple[InputFrontier, ...], metrics: Any) -> Seen:
        """What was observed, source by source."""
        values = metrics.get(_OBSERVED).get()
        read = (None if values.isNullAt(i) else values.getLong(i) for i in range(values.length()))
        refused = next(read)
        sources = []
        for source, frontier in enumerate(before):
            place = next(read) if self.declarations[source].key else None
            late, count = divmod(next(read) or 0, _LATE)
            oldest = next(read)
            times = tuple(next(read) for _ in frontier.lines)
            sources.append(Observed(Came(count, late, oldest), times, place))
        return Seen(tuple(sources), bool(refused))

    def tagged(self, rows: DataFrame) -> DataFrame:
        """The judged rows by the routes that they take, a row for each, or by ``UNUSED``."""
        routes = entering_sources(self.lowered)
        branches = " ".join(
            f"WHEN {source} THEN array({', '.join(map(str, tags))})"
            for source, tags in routes.items()
        )
        targets = f"IF(reason IS NULL, CASE {TAG} {branches} END, array({UNUSED}))"
        single = all(len(tags) == 1 for tags in routes.values())
        target = f"({targets})[0]" if single else f"explode({targets})"
        slots = self.shape.layout.names
        return rows.selectExpr(f"{TAG} AS source", f"{target} AS {TAG}", "reason", *slots, *_ALWAYS)

    def passages(self) -> dict[int, Passage]:
        """How the rows get into the first exchange."""
        passages = {
            tag: Passage(tag, arrival_schema(self.declarations[source]), route.pipe, route.keys)
            for source, tags in entering_sources(self.lowered).items()
            for tag in tags
            for route in (self.lowered.stages.routes[tag],)
        }
        names = self._by_source(lambda source: f"'{_quoted(self.declarations[source].name)}'")
        op = self._by_source(lambda i: f"coalesce({self._op(i)}, '{Op.INSERT.value}')")
        told = UnusedRow(source=names, reason="reason", row=self._by_source(self._row_text), op=op)
        text = f"to_json(array({', '.join(map(str, told.values))}))"
        return {**passages, UNUSED: Passage(UNUSED, self.shape.schema(UNUSED), texts=(text,))}

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
