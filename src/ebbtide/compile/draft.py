"""A physical plan as it is made: its sources, and what stands right behind them.

Law: rows of a source without a key come as they are; those of one with a key come through its
admission, which all who read it share.  Archives stand behind all other operators.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ebbtide.algebra.expression import Ref
from ebbtide.algebra.relation import Values
from ebbtide.compile.arrival import arrival_schema
from ebbtide.compile.flow import Flow
from ebbtide.compile.kernel_choice import positional
from ebbtide.compile.physical import (
    KEEP_ALL,
    Cycle,
    FromOperator,
    FromSource,
    Line,
    Operator,
    Output,
    Physical,
    PlanEdge,
    SourceRows,
    archive_name,
    waiting_name,
)
from ebbtide.compile.pipe import source_pipe
from ebbtide.compile.replaying import Replays
from ebbtide.compile.store_rules import archive_rule
from ebbtide.core.admission import UNUSED_COLUMNS
from ebbtide.core.declaration import Declaration, StreamDeclaration, TableDeclaration
from ebbtide.core.schema import Column, Schema
from ebbtide.core.types import STRING, NullType
from ebbtide.kernels.admission.kernel import Admission
from ebbtide.kernels.operators.archive_summary import Summarised
from ebbtide.kernels.operators.input_archive import InputArchive
from ebbtide.kernels.operators.waiting import WaitingRows


@dataclass(slots=True)
class Draft:
    """Sources, operators, edges and outputs, by their numbers."""

    declarations: list[Declaration] = field(default_factory=list)
    given: list[tuple[int, Values]] = field(default_factory=list)
    """The sources that are rows written in a query."""
    operators: list[Operator] = field(default_factory=list)
    edges: list[PlanEdge] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)
    lines: set[Line] = field(default_factory=set)
    cycles: list[Cycle] = field(default_factory=list)
    admissions: dict[int, int] = field(default_factory=dict)
    """The operators that admit the rows of sources with a key."""

    @property
    def physical(self) -> Physical:
        """The plan as it stands."""
        return Physical(
            tuple(declaration.name for declaration in self.declarations),
            tuple(self.operators),
            tuple(self.edges),
            tuple(self.outputs),
            frozenset(self.lines),
            tuple(self.cycles),
        )

    def source(self, declaration: Declaration) -> Flow:
        number = self.number(declaration)
        given = arrival_schema(declaration)
        rows = declaration.row_schema
        if isinstance(declaration, TableDeclaration) and declaration.time is not None:
            self.lines.add((number, declaration.time))
        if declaration.key:
            return self._admitted(declaration, number, given, rows)
        columns = tuple(Ref(given.column(column.name)) for column in rows)
        pipe = replace(source_pipe(rows), columns=columns)
        return Flow(FromSource(number), pipe, not is_static(declaration), number)

    def values(self, node: Values) -> Flow:
        declaration = TableDeclaration(f"values_{len(self.given)}", node.schema)
        flow = self.source(declaration)
        self.given.append((len(self.declarations) - 1, node))
        return flow

    def archives(self, replays: Replays) -> None:
        """The archives of the sources that have one, each behind all who read it; of static tables
        that a replay meets, all rows.

        Rows with a key stay in the shard of their admission; others spread over all shards.
        """
        for number, declaration in enumerate(tuple(self.declarations)):
            rule = KEEP_ALL if number in replays.met else archive_rule(declaration)
            if rule is None:
                continue
            old = number in replays.sources
            waits = old and isinstance(declaration, StreamDeclaration) and declaration.defers
            admission = self.admissions.get(number)
            if admission is not None and old and not waits:
                self._admits_old(admission)
            flow, rows = self.source(declaration), declaration.row_schema
            names = declaration.key or rows.names
            keys = tuple(flow.pipe.resolve(Ref(rows.column(name))) for name in names)
            hashed = tuple(key for key in keys if not isinstance(key.type, NullType))
            pipe = replace(flow.pipe, schema=positional(rows))
            held = None
            if waits and admission is None:
                held = self._waiting(number, tuple(c.name for c in rows if _hashes(c)))
            takes = SourceRows.ALL if old and not waits else SourceRows.FRESH
            self.edges.append(PlanEdge(flow.producer, pipe, len(self.operators), 0, hashed, takes))
            if held is not None:
                given = self.operators[held].output
                keys = tuple(Ref(given[place]) for (place,) in self.operators[held].carries or ())
                columns = tuple(
                    Ref(given[arrival_schema(declaration).position(column.name)]) for column in rows
                )
                again = replace(source_pipe(positional(rows)), columns=columns)
                self.edges.append(PlanEdge(FromOperator(held), again, len(self.operators), 0, keys))
            self.operators.append(
                Operator(
                    archive_name(declaration.name),
                    InputArchive(number, _summarised(declaration), _keys_in_archive(declaration)),
                    (positional(rows),),
                    positional(rows),
                    rules=(rule,),
                )
            )

    def number(self, declaration: Declaration) -> int:
        for number, known in enumerate(self.declarations):
            if known.name == declaration.name:
                return number
        self.declarations.append(declaration)
        return len(self.declarations) - 1

    def _admitted(self, declaration: Declaration, source: int, given: Schema, rows: Schema) -> Flow:
        """The rows of a source with a key, behind its admission; all who read it share one."""
        if source not in self.admissions:
            defers = isinstance(declaration, StreamDeclaration) and declaration.defers
            held = self._waiting(source, declaration.key) if defers else None
            self.admissions[source] = len(self.operators)
            texts = tuple(Column(f"text{i}", STRING) for i in range(len(UNUSED_COLUMNS)))
            self.operators.append(
                Operator(
                    f"admission.{declaration.name}",
                    Admission(declaration, source),
                    (positional(given),),
                    Schema((*rows.columns, *texts)),
                    tuple((rows.position(name),) for name in declaration.key),
                )
            )
            keys = tuple(Ref(given.column(name)) for name in declaration.key)
            pipe = replace(source_pipe(given), schema=positional(given))
            number = self.admissions[source]
            self.edges.append(PlanEdge(FromSource(source), pipe, number, 0, keys))
            if held is not None:
                made = self.operators[held].output
                again = tuple(Ref(made[given.position(name)]) for name in declaration.key)
                pipe = source_pipe(made)
                self.edges.append(PlanEdge(FromOperator(held), pipe, number, 0, again))
        number = self.admissions[source]
        return Flow(FromOperator(number), source_pipe(rows), not is_static(declaration), source)

    def _admits_old(self, admission: int) -> None:
        """Has an admission take old rows at once."""
        self.edges = [
            replace(edge, rows=SourceRows.ALL) if edge.consumer == admission else edge
            for edge in self.edges
        ]

    def _waiting(self, source: int, names: Sequence[str]) -> int:
        """What holds old rows of a source until they are replayed, sharded by some columns."""
        declaration, number = self.declarations[source], len(self.operators)
        given = arrival_schema(declaration)
        rows = positional(given)
        self.operators.append(
            Operator(
                waiting_name(declaration.name),
                WaitingRows(declaration, source),
                (rows,),
                rows,
                tuple((given.position(name),) for name in names),
            )
        )
        pipe = replace(source_pipe(given), schema=rows)
        keys = tuple(Ref(given.column(name)) for name in names)
        self.edges.append(PlanEdge(FromSource(source), pipe, number, 0, keys, SourceRows.OLD))
        return number


def _summarised(declaration: Declaration) -> Summarised | None:
    return Summarised.of(declaration) if isinstance(declaration, StreamDeclaration) else None


def _keys_in_archive(declaration: Declaration) -> tuple[int, ...]:
    """The columns by which an admission looks for keys in the archive of its source."""
    if not declaration.archive_has_keys:
        return ()
    return tuple(declaration.row_schema.position(name) for name in declaration.key)


def _hashes(column: Column) -> bool:
    return not isinstance(column.type, NullType)


def is_static(declaration: Declaration) -> bool:
    """Whether a source is all there from the start."""
    return isinstance(declaration, TableDeclaration) and declaration.static
