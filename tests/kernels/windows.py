"""Windows of time as they run, in the pipes of a task, where a test wants them before a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from ebbtide.algebra.relation import Relation, Stream
from ebbtide.algebra.window import Window, WindowSpec
from ebbtide.compile.pipe import is_linear, source_pipe
from ebbtide.core.declaration import StreamDeclaration
from ebbtide.core.schema import Schema
from ebbtide.dataflow.piping import TaskPipe
from ebbtide.kernels.stateless import Linear, wider


@dataclass(frozen=True, slots=True)
class Windowed(Linear):
    """A window of time on the column ``at`` of some facts."""

    facts: Schema
    spec: WindowSpec

    def changes(self, changes: Any) -> Any:
        """The facts with their intervals."""
        stream = Stream(StreamDeclaration("s", self.facts))
        pipe = source_pipe(stream.schema).then(Window(stream, self.spec, "at"))
        return TaskPipe.of(pipe, stream.schema)(changes)


@dataclass(frozen=True, slots=True)
class InWindows(Linear):
    """TUMBLE or HOP on some facts."""

    node: Relation

    def output(self, inputs: tuple[Any, ...]) -> Any:
        """The input's columns, then start and end of the window."""
        return wider(inputs[0], [pa.int64(), pa.int64()])

    def changes(self, changes: Any) -> Any:
        """The facts with each of their windows."""
        assert is_linear(self.node)
        (given,) = (child.schema for child in self.node.children)
        pipes = source_pipe(given).after(self.node)
        return pa.concat_tables([TaskPipe.of(pipe, given)(changes) for pipe in pipes])
