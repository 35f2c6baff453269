"""What the rows of a step showed as they entered, and the frontiers that follow from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ebbtide.core.frontier import InputFrontier
from ebbtide.core.time import Instant
from ebbtide.store.record import Came


@dataclass(frozen=True, slots=True)
class Observed:
    """The accepted rows of one source: how many, the greatest of each of its times in the order of
    its frontier, and the last place among all of its rows."""

    came: Came
    times: tuple[Instant | None, ...]
    place: int | None = None

    @staticmethod
    def nothing(frontier: InputFrontier) -> Observed:
        """No row of a source with such a frontier."""
        return Observed(Came(0, 0, None), tuple(None for _ in frontier.lines))


@dataclass(frozen=True, slots=True)
class Seen:
    """What entered in a step, source by source, and whether some rows were refused."""

    sources: tuple[Observed, ...]
    refused: bool

    @property
    def came(self) -> tuple[Came, ...]:
        """What came of each source."""
        return tuple(source.came for source in self.sources)

    @property
    def places(self) -> dict[int, int]:
        """The last place of each source's rows, where rows have places."""
        numbered = enumerate(source.place for source in self.sources)
        return {number: place for number, place in numbered if place is not None}

    def frontiers(
        self, before: tuple[InputFrontier, ...], advances: Mapping[int, Instant]
    ) -> tuple[InputFrontier, ...]:
        """The frontiers at the end of the step."""
        return tuple(
            frontier.commit([seen.times] if seen.came.rows else [], advances.get(number))
            for number, (frontier, seen) in enumerate(zip(before, self.sources, strict=True))
        )
