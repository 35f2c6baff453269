"""How operators learn that rows have expired: a choice of each query (paper 2, sections 4 to 7).

Invariant: an ``Expiry`` is a value, and answers depend on it only under ``input``: with the others
the snapshots are the same at every ``now``.

    interval    the end of a row travels with it, and ``now`` with every step
    negative    a row travels without its end; when it expires, a negative change follows it
    input       an operator sees that rows have expired only when its shard gets input
    piggyback   negatives are sent only where no positive change carries the time

With ``join_message`` a join passes on its rows with their ends, and says once, for all rows that
stand on an expired one, that they have expired.
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
    """A strategy, and whether joins send messages."""

    strategy: Strategy = Strategy.INTERVAL
    join_message: bool = False

    def __post_init__(self) -> None:
        if self.join_message and not self.strategy.sends:
            raise QueryError(
                "no-messages",
                f"under expiry {self.strategy.value} nothing is sent when rows expire, so a join "
                "has no messages to send",
                hint="expiry = 'negative', join_message = TRUE",
            )

    @property
    def options(self) -> tuple[str, ...]:
        """What differs from the default, as options of WITH."""
        chosen = () if self == BY_INTERVAL else (f"expiry = '{self.strategy.value}'",)
        return (*chosen, *(("join_message = TRUE",) if self.join_message else ()))

    def __str__(self) -> str:
        return f"{self.strategy.value}{', with join messages' if self.join_message else ''}"


BY_INTERVAL = Expiry()
