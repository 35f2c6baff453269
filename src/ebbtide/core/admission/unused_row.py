"""What is said about a row that counts for nothing, declared once.

Law: the fields are the columns, all of them text, in which such rows travel, are stored and are
shown.  Who makes one names every field, so that a field more is missed by the type checker; who
stores or shows them goes by ``UNUSED_COLUMNS`` and ``SHOWN_COLUMNS``.
"""

from __future__ import annotations

import json
from dataclasses import astuple, dataclass, fields


@dataclass(frozen=True, slots=True)
class UnusedRow:
    """A row that counts for nothing: its source, why, its text, and what it was to do."""

    source: str
    reason: str
    row: str
    op: str | None

    @property
    def values(self) -> tuple[str | None, ...]:
        """The values of all columns."""
        return astuple(self)

    @property
    def shown(self) -> tuple[str | None, ...]:
        """The values of those columns that are shown."""
        return tuple(getattr(self, name) for name in SHOWN_COLUMNS)

    @property
    def json(self) -> str:
        """The values as a list in JSON, as rows travel to their files."""
        return json.dumps(self.values)


UNUSED_COLUMNS = tuple(field.name for field in fields(UnusedRow))
SHOWN_COLUMNS = tuple(name for name in UNUSED_COLUMNS if name != "source")
"""Those that say something to somebody who asks for the rows of a source."""
