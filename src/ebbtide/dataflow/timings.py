"""How long kernels took, as reported by the tasks that ran them.

Law: a duration never travels through an exchange, for it differs from one try of a task to the
next; a task leaves those of its operators in one file, named by its first operator and its shard,
where the next step's overwrites it.  Durations that are missing, damaged or from another step count
as none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from ebbtide.core.file_name import file_name
from ebbtide.errors import StateError
from ebbtide.state.files import content_of, regular_files, replace
from ebbtide.store.files import sealed, unsealed


@dataclass(frozen=True, slots=True)
class Timings:
    """The durations of a step, in the directory of its query."""

    root: str
    version: int

    def tell(self, shard: int, seconds: Mapping[str, float]) -> None:
        """Leaves how long the operators of a task took in a shard."""
        if not seconds:
            return
        told = {"version": self.version, "seconds": seconds}
        path = f"{self.root}/timings/{file_name(next(iter(seconds)))}-{shard}.json"
        with suppress(StateError):  # nothing depends on it
            replace(path, sealed(told), sync=False)

    def read(self) -> Mapping[str, tuple[float, ...]]:
        """The seconds of each operator, a number for each shard that reported."""
        directory = f"{self.root}/timings"
        found: dict[str, list[float]] = defaultdict(list)
        for name in regular_files(directory):
            # Another task may have replaced it; a damaged one, or one of an earlier format, tells
            # nothing.
            with suppress(OSError, ValueError, AttributeError, StateError):
                told = unsealed(content_of(f"{directory}/{name}"))
                if told["version"] == self.version:
                    for operator, seconds in told["seconds"].items():
                        found[operator].append(seconds)
        return {operator: tuple(each) for operator, each in found.items()}
