"""How operators learn that rows have expired: a choice of each query (paper 2, sections 4 to 7).

Invariant: an ``Expiry`` is a value, and answers depend on it only under ``input``: with the others
the snapshots are the same at every ``now``.

    interval    the end of a row travels with it, and ``now`` with every step
    negative    a row travels without its end; when it expires, a negative change follows it
    input       an operator sees that rows have expired only when its shard gets input
    piggyback   negatives are sent only where no positive change carries the time

With ``join_message`` a join passes on its rows with their ends, and says once, for all rows that
stand on an expired one, that they have expired.

Inside of a step an operator says only what is left of all that it says: a row that it takes back in
the same step has never been there, or ends earlier (stream compression: paper 1, section 3.3).
Without ``compression`` everything travels that it would say row by row.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ebbtide.errors import QueryError


class Strategy(Enum):
    """The strategies, by the words that name them."""

    INTERVAL = "interval"
    NEGATIVE = "negative"
    INPUT = "input"
    PIGGYBACK = "piggyback"

    @property
    def sends(self) -> bool:
        """Whether expiries travel as rows of their own."""
        return self in (Strategy.NEGATIVE, Strategy.PIGGYBACK)


def strategy_of(word: str) -> Strategy:
    """The strategy that a word names; case does not matter."""
    folded = word.strip().casefold()
    for strategy in Strategy:
        if folded == strategy.value:
            return strategy
    raise QueryError(
        "unknown-expiry",
        f'there is no expiry strategy "{word}"',
        hint=", ".join(strategy.value for strategy in Strategy),
    )


@dataclass(frozen=True, slots=True)
class Expiry:
    """A strategy, whether joins send messages, and whether what a step says is compressed."""

    strategy: Strategy = Strategy.INTERVAL
    join_message: bool = False
    compression: bool = True

    def __post_init__(self) -> None:
        if self.join_message and not self.strategy.sends:
            raise QueryError(
                "no-messages",
                f"under expiry {self.strategy.value} nothing is sent when rows expire, so a join "
                "has no messages to send",
                hint="expiry = 'negative', join_message = TRUE",
            )

        if self.strategy is Strategy.INPUT and not self.compression:
            raise QueryError(
                "expiry-compression",
                "under expiry input an operator says what is left when input comes, and no more",
                hint="leave out compression = FALSE",
            )

    @property
    def options(self) -> tuple[str, ...]:
        """What differs from the default, as options of WITH."""
        default = self.strategy is Strategy.INTERVAL
        return (
            *(() if default else (f"expiry = '{self.strategy.value}'",)),
            *(("join_message = TRUE",) if self.join_message else ()),
            *(() if self.compression else ("compression = FALSE",)),
        )

    def __str__(self) -> str:
        messages = ", with join messages" if self.join_message else ""
        return f"{self.strategy.value}{messages}{'' if self.compression else ', uncompressed'}"


BY_INTERVAL = Expiry()
