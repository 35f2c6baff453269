"""Gathered: the same changes, with equal rows in one shard.

Law: what comes out is what came in.  Segments of a row are those of all its copies together, so
whoever looks at segments has to see all of them, whichever operators and shards they come from.
State: none.
Emits: every change, in its step.
Forgets: everything.
"""

from __future__ import annotations

from dataclasses import dataclass

from ebbtide.kernels.kernel import Batch
from ebbtide.kernels.stateless import Linear


@dataclass(frozen=True, slots=True)
class Gathered(Linear):
    """Stands where an exchange by whole rows ends."""

    def changes(self, changes: Batch) -> Batch:
        """The changes."""
        return changes
