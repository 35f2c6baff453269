"""How long kernels took, told by the tasks that ran them.

Law: a duration never travels through an exchange, for it differs from one try of a task to the
next; a task leaves it in a file of its operator and shard, where the next step's overwrites it.
Durations that are missing or from another step count as none.
"""

from __future__ import annotations

import json
import os
import uuid
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Timings:
    """The durations of a step, in the directory of its query."""

    root: str
    version: int

    def tell(self, operator: str, shard: int, seconds: float) -> None:
        """Leaves how long an operator took in a shard."""
        directory = f"{self.root}/timings"
        os.makedirs(directory, exist_ok=True)
        temporary = f"{directory}/.{uuid.uuid4().hex}.tmp"
        with open(temporary, "w", encoding="utf-8") as file:
            json.dump({"version": self.version, "operator": operator, "seconds": seconds}, file)
        os.replace(temporary, f"{directory}/{operator}-{shard}.json")

    def read(self) -> Mapping[str, tuple[float, ...]]:
        """The seconds of each operator, a number for each shard that told."""
        directory = f"{self.root}/timings"
        found: dict[str, list[float]] = defaultdict(list)
        for name in sorted(os.listdir(directory)) if os.path.isdir(directory) else ():
            if name.endswith(".json"):
                with open(f"{directory}/{name}", encoding="utf-8") as file:
                    told = json.load(file)
                if told["version"] == self.version:
                    found[told["operator"]].append(told["seconds"])
        return {operator: tuple(seconds) for operator, seconds in found.items()}
