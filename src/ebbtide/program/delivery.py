"""Taking the output of steps to sinks, and noting how far that came."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from ebbtide.errors import StateError
from ebbtide.sinks import Sink, shown
from ebbtide.store.files import replace


@dataclass(frozen=True, slots=True)
class Delivery:
    """The sinks of a view; how far they have come is noted in the directory of its program."""

    root: str
    view: str
    sinks: tuple[Sink, ...] = ()

    @property
    def wants_rows(self) -> bool:
        """Whether some sink looks at the output."""
        return bool(self._wanting())

    @property
    def delivered(self) -> int:
        """The last step whose output all sinks have."""
        try:
            with open(self._path, encoding="utf-8") as file:
                return int(file.read())
        except FileNotFoundError:
            return -1
        except ValueError as error:
            raise StateError(
                "damaged-delivery",
                f'"{self._path}" does not say how far the sinks have come',
                hint="write the number of the last step that they have into it",
            ) from error

    def deliver(
        self,
        step: int,
        frame: Callable[[], Any],
        sinking: Callable[[str, str, int], AbstractContextManager[None]],
    ) -> None:
        """Takes a step to the sinks that want rows, unless all of them have it.

        ``sinking`` turns what a sink raises into an error of ours.
        """
        wanting = self._wanting()
        if not wanting or step <= self.delivered:
            return
        output = frame()
        for sink in wanting:
            with sinking(self.view, shown(sink), step):
                sink.write(output, step)
        replace(self._path, str(step))

    @property
    def _path(self) -> str:
        return f"{self.root}/delivered/{self.view}"

    def _wanting(self) -> list[Sink]:
        return [sink for sink in self.sinks if getattr(sink, "wants_rows", True)]
