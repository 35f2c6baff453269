"""Which parts of one program another has, too.

Law: two operators are the same part if they run the same kernel on the same columns of the same
parts, so equal input has given them equal state.  What views and operators are called does not
count, and neither do lateness and retention: they say how long state is kept, not what it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any

from ebbtide.compile.lowering import Lowered
from ebbtide.compile.physical import FromOperator, FromSource, PlanEdge, Producer
from ebbtide.core.declaration import Declaration, Late
from ebbtide.core.schema import Schema
from ebbtide.kernels.admission.kernel import Admission
from ebbtide.kernels.operators.waiting import WaitingRows


def carried_operators(old: Lowered, new: Lowered) -> dict[str, str]:
    """The operators of a program that another one had: their names, each with its name there."""
    before, after = _Parts(old), _Parts(new)
    known = [(before.operator(i), o.name) for i, o in enumerate(old.physical.operators)]
    found = {}
    for number, operator in enumerate(new.physical.operators):
        part = after.operator(number)
        same = next((name for other, name in known if other == part), None)
        if same is not None:
            found[operator.name] = same
    return found


def carried_outputs(old: Lowered, new: Lowered) -> set[str]:
    """The views of a program that another one had under the same names."""
    before, after = _Parts(old), _Parts(new)
    known = {o.name: before.output(i) for i, o in enumerate(old.physical.outputs)}
    return {
        output.name
        for number, output in enumerate(new.physical.outputs)
        if known.get(output.name) == after.output(number)
    }


def is_extended(old: Schema, new: Schema) -> bool:
    """Whether a schema has the columns of another, and behind them only some that may be NULL."""
    width = len(old)
    return new.columns[:width] == old.columns and all(c.nullable for c in new.columns[width:])


def without_lateness(declaration: Declaration) -> Declaration:
    """What a declaration says besides how late rows may be."""
    promises = tuple(replace(promise, delay_us=0) for promise in declaration.promises)
    return replace(
        declaration,
        promises=promises,
        retain_us=0,
        late=Late.REVISE,
        not_beyond_us=None,
        idle_after_us=None,
    )


@dataclass(frozen=True, slots=True)
class _Parts:
    """The parts of a plan as values that can be compared."""

    lowered: Lowered
    known: dict[int, Any] = field(default_factory=dict)

    def operator(self, number: int) -> Any:
        if number not in self.known:
            self.known[number] = self._operator(number)
        return self.known[number]

    def _operator(self, number: int) -> Any:
        operator = self.lowered.physical.operators[number]
        if isinstance(operator.kernel, Admission):
            declaration = operator.kernel.declaration
            return ("admission", declaration.archive_has_keys, *_admitted(declaration))
        if isinstance(operator.kernel, WaitingRows):
            return ("waiting", *_admitted(operator.kernel.declaration))
        return (
            operator.kernel,
            operator.inputs,
            operator.output,
            operator.carries,
            operator.facts,
            self._edges(number),
        )

    def output(self, number: int) -> Any:
        output = self.lowered.physical.outputs[number]
        return output.kernel, output.schema, output.given, self._edges(~number)

    def _edges(self, consumer: int) -> Any:
        edges = [edge for edge in self.lowered.physical.edges if edge.consumer == consumer]
        return tuple(map(self._edge, edges))

    def _edge(self, edge: PlanEdge) -> Any:
        return edge.input, self._producer(edge.producer), edge.pipe, edge.keys

    def _producer(self, producer: Producer) -> Any:
        match producer:
            case FromSource(number):
                given = dict(self.lowered.given).get(number)
                return "source", given or self.lowered.declarations[number].name.casefold()
            case FromOperator(number):
                return self.operator(number)


def _admitted(declaration: Declaration) -> Any:
    """What says which operations of a key there are; the columns may have become more."""
    plain = without_lateness(declaration)
    return tuple(getattr(plain, f.name) for f in fields(plain) if f.name != "schema")
