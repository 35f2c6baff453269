"""Windows of time as they run, in the pipe of a task, where a test wants them before a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ebbtide.algebra.relation import Stream
from ebbtide.algebra.window import Window, WindowSpec
from ebbtide.compile.pipe import source_pipe
from ebbtide.core.declaration import StreamDeclaration
from ebbtide.core.schema import Schema
from ebbtide.dataflow.piping import TaskPipe
from ebbtide.kernels.stateless import Linear


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
