"""Which encoding those who take the changes of a query get, and what it asks of the query.

Invariant: an ``OutputForm`` is a value; it says nothing of the place where the rows go.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ebbtide.core.time import Duration
from ebbtide.errors import QueryError


class Encoding(Enum):
    """The encodings, by the words that name them."""

    CHANGES = "changes"
    TEMPORAL = "temporal"
    POSITIVE_NEGATIVE = "positive-negative"
    POSITIVE_TEMPORAL = "positive-temporal"
    UPSERT = "upsert"
    CHANGE_TYPE = "_change_type"
    DEBEZIUM = "debezium"

    @property
    def needs_key(self) -> bool:
        """Whether it names rows by a key."""
        return self in (Encoding.POSITIVE_TEMPORAL, Encoding.UPSERT)

    @property
    def follows_now(self) -> bool:
        """Whether it tells of the snapshot as ``now`` moves, in the order of time."""
        return self.needs_key or self in (Encoding.CHANGE_TYPE, Encoding.DEBEZIUM)

    @property
    def has_intervals(self) -> bool:
        """Whether its rows are those of changes, with both their ends, and nothing is kept."""
        return self in (Encoding.CHANGES, Encoding.TEMPORAL)


def encoding_of(word: str) -> Encoding:
    """The encoding that a word names; case does not matter, and ``-`` may be ``_``."""
    folded = word.strip().casefold()
    for encoding in Encoding:
        if folded in (encoding.value, encoding.value.replace("-", "_")):
            return encoding
    raise QueryError(
        "unknown-encoding",
        f'there is no encoding "{word}"',
        hint=", ".join(encoding.value for encoding in Encoding),
    )


@dataclass(frozen=True, slots=True)
class OutputForm:
    """How changes are written: their encoding, and the key of those that need one.

    Changes that only touch are joined if they are to ``coalesce``, and cut at the multiples of
    ``split_us``.
    """

    encoding: Encoding = Encoding.CHANGES
    key: tuple[str, ...] = ()
    coalesce: bool = False
    split_us: Duration | None = None

    def __post_init__(self) -> None:
        if (self.coalesce or self.split_us is not None) and not self.encoding.has_intervals:
            raise QueryError(
                "no-intervals",
                f"the encoding {self.encoding.value} has no intervals to join or to cut",
                hint="use changes or temporal",
            )
        if self.split_us is not None and self.split_us <= 0:
            raise QueryError(
                "bad-duration", "changes are cut every so often", hint="SPLIT EVERY 10 MINUTES"
            )

    @property
    def is_plain(self) -> bool:
        """Whether changes are written as they are emitted."""
        return self == OutputForm(key=self.key)

    def __str__(self) -> str:
        key = f" by {', '.join(self.key)}" if self.key else ""
        return f"{self.encoding.value}{key}"


AS_EMITTED = OutputForm()
