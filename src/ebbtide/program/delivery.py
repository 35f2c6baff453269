"""Taking the output of steps to sinks, and noting how far that came."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from ebbtide.core.file_name import file_name
from ebbtide.errors import StateError
from ebbtide.sinks import Sink, shown
from ebbtide.store.files import read_sealed, replace, sealed


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
        known = read_sealed(self._path, self._damaged)
        if known is None:
            return -1
        step = known.get("step")
        if not isinstance(step, int) or known.get("view") != self.view:
            raise self._damaged("it is not that of this view")
        return step

    def check(self, latest: int) -> None:
        """Refuses a state that is older than what sinks have: they would get steps in its place."""
        known = self.delivered
        if known > latest:
            raise StateError(
                "delivery-ahead",
                f'the sinks of "{self.view}" have step {known}, and the state is at '
                f"{'no step' if latest < 0 else f'step {latest}'}",
                detail=f"by {self._path}",
                hint="restore the state that belongs to it, or remove that file once the sinks "
                "have forgotten the steps since",
            )

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
        replace(self._path, sealed({"view": self.view, "step": step}))

    @property
    def _path(self) -> str:
        return f"{self.root}/delivered/{file_name(self.view)}"

    def _damaged(self, why: str) -> StateError:
        return StateError(
            "damaged-delivery",
            f'"{self._path}" does not say how far the sinks have come',
            detail=why,
            hint="remove it: the sinks get the last step again",
        )

    def _wanting(self) -> list[Sink]:
        return [sink for sink in self.sinks if getattr(sink, "wants_rows", True)]
