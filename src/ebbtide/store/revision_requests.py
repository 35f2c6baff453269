"""Requests to replay what waits: how often a program was asked to.

Law: a request is durable before it is acknowledged, and done by the first step that begins after
it; the manifest of that step says so.  Whoever asks need not be the one who runs the program.
"""

from __future__ import annotations

from dataclasses import dataclass

from ebbtide.errors import StateError
from ebbtide.store.files import read_sealed, replace, sealed
from ebbtide.store.journal import Journal


@dataclass(frozen=True, slots=True)
class RevisionRequests:
    """The requests to one program, in its directory."""

    root: str

    @property
    def asked(self) -> int:
        """How often it was asked."""
        known = read_sealed(self._file, self._damaged)
        if known is None:
            return 0
        try:
            return int(known["asked"])
        except (KeyError, TypeError, ValueError) as error:
            raise self._damaged(repr(error)) from error

    def ask(self) -> None:
        """Asks once more."""
        latest = Journal(self.root).latest()
        done = 0 if latest is None else latest.revised
        replace(self._file, sealed({"asked": max(self.asked, done) + 1}))

    @property
    def _file(self) -> str:
        return f"{self.root}/revise.json"

    def _damaged(self, why: str) -> StateError:
        return StateError(
            "damaged-request",
            f'"{self._file}" does not say how often it was asked to replay what waits',
            detail=why,
            hint="remove it, and ask again: engine.revise()",
        )
