"""Taking the output of steps to sinks, and noting how far that came.

Law: a step is noted, and with it how far each encoding has come, when all sinks have it; until then
they get it again, with the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from ebbtide.core.codec.encoding import AS_EMITTED, OutputForm
from ebbtide.core.file_name import file_name
from ebbtide.errors import QueryError, StateError
from ebbtide.program.encoder import Encoder, Progressed, told_directory
from ebbtide.sinks import Sink, shown
from ebbtide.store.files import read_sealed, replace, sealed
from ebbtide.store.readers import View
from ebbtide.store.record import StepRecord
from ebbtide.store.told import copy_told

if TYPE_CHECKING:
    from ebbtide.program.host import Host


@dataclass(frozen=True, slots=True)
class Outlet:
    """A sink, and how the changes are written that it gets."""

    sink: Sink
    output: OutputForm = AS_EMITTED


@dataclass(frozen=True, slots=True)
class Delivery:
    """The sinks of a view; how far they have come is noted in the directory of its program."""

    root: str
    view: str
    outlets: tuple[Outlet, ...] = ()

    @property
    def wants_rows(self) -> bool:
        """Whether some sink looks at the output."""
        return bool(self._wanting())

    @property
    def delivered(self) -> int:
        """The last step whose output all sinks have."""
        step: int = self._noted().get("step", -1)
        return step

    @property
    def encodings(self) -> dict[str, Progressed]:
        """How far the encodings of the sinks have come, by their names."""
        noted = self._noted().get("encodings", {})
        try:
            return {name: Progressed.from_json(values) for name, values in noted.items()}
        except (AttributeError, KeyError, TypeError) as error:
            raise self._damaged(repr(error)) from error

    def _noted(self) -> dict[str, Any]:
        known = read_sealed(self._path, self._damaged)
        if known is None:
            return {}
        if not isinstance(known.get("step"), int) or known.get("view") != self.view:
            raise self._damaged("it is not that of this view")
        return known

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

    def missed(self, latest: int) -> int | None:
        """The step after which sinks have missed some before the latest; None if there are none.

        Sinks that have never got a step begin with the next one.
        """
        known = self.delivered if self.wants_rows else -1
        return known if 0 <= known < latest - 1 else None

    def behind(self, step: int, why: StateError | QueryError) -> StateError:
        """The error of sinks that have missed steps which are not kept any more."""
        return StateError(
            "sink-behind",
            f'the sinks of "{self.view}" have step {step}, and the next ones are not kept',
            detail=why.message,
            hint=f"remove {self._path}: the sinks go on with the next step, without those between",
        )

    def deliver(self, host: Host, view: View, record: StepRecord) -> None:
        """Takes a step to the sinks that want rows, unless all of them have it."""
        wanting, step = self._wanting(), record.version
        if not wanting or step <= self.delivered:
            return
        known, reached = self.encodings, dict[str, Progressed]()
        encoders = [Encoder(view, output) for output in wanting if not output.is_plain]
        frames: dict[OutputForm, Callable[[], Any]] = {
            AS_EMITTED: lambda: host.emitted(view, record)
        }
        for encoder in encoders:
            name, now = encoder.name, record.nows[view.name]
            rows, reached[name] = encoder.step(step, view.emitted(record), now, known.get(name))
            frames[encoder.output] = partial(host.rows, encoder.schema, rows)
        for output, sinks in wanting.items():
            frame = frames[output]()
            for sink in sinks:
                with host.sinking(self.view, shown(sink), step):
                    sink.write(frame, step)
        self.note(step, reached)
        for encoder in encoders:
            encoder.told.remove_but(reached[encoder.name].files)

    def note(self, step: int, encodings: Mapping[str, Progressed] | None = None) -> None:
        """Notes that all sinks have the output of a step."""
        noted = {name: reached.to_json() for name, reached in (encodings or {}).items()}
        values = {"view": self.view, "step": step, **({"encodings": noted} if noted else {})}
        replace(self._path, sealed(values))

    def copied_to(self, root: str, step: int) -> None:
        """Copies the note to another directory, which stands at a step, while sinks get more.

        What is noted of later steps is not copied: there encodings begin with a snapshot.
        """
        copy = Delivery(root, self.view)
        while True:
            delivered, encodings = self.delivered, self.encodings
            if delivered > step:
                copy.note(step)
                return
            try:
                for name, reached in encodings.items():
                    place = told_directory(self.root, self.view, name)
                    copy_told(place, told_directory(root, self.view, name), reached.files)
            except FileNotFoundError:
                if self.delivered == delivered:
                    raise
                continue
            copy.note(delivered, encodings)
            return

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

    def _wanting(self) -> dict[OutputForm, list[Sink]]:
        """The sinks that look at the output, by how it is written: that is done once for all."""
        found: dict[OutputForm, list[Sink]] = {}
        for outlet in self.outlets:
            if getattr(outlet.sink, "wants_rows", True):
                found.setdefault(outlet.output, []).append(outlet.sink)
        return found
