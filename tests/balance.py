"""The balance test: transfers between accounts, read twice, joined and totalled.

Every transfer is one row; the query reads it once as a credit and once as a debit.  If a step
showed only one of the two, the total would not be 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from random import Random

from ebbtide.core.change import Change, consolidate, until
from ebbtide.core.time import Instant

ACCOUNTS = 10
SECOND = 1_000_000

SCRIPT = """
CREATE STREAM transfers (giver BIGINT, taker BIGINT, amount BIGINT, at TIMESTAMP,
  PROGRESS FOR at AS at - INTERVAL 10 SECONDS);
"""
BALANCE = """
SELECT SUM(COALESCE(credits.amount, 0) - COALESCE(debits.amount, 0)) AS total, COUNT(*) AS accounts
FROM (SELECT taker AS account, SUM(amount) AS amount
      FROM transfers [RANGE 60 SECONDS] GROUP BY taker) credits
FULL JOIN (SELECT giver AS account, SUM(amount) AS amount
      FROM transfers [RANGE 60 SECONDS] GROUP BY giver) debits
ON credits.account = debits.account
"""


def transfers(steps: int, seed: int) -> Iterator[list[tuple[int, int, int, Instant]]]:
    """The rows of each step, up to 10 seconds out of order."""
    random = Random(seed)
    for step in range(steps):
        rows = []
        for _ in range(random.randint(0, 6)):
            giver, taker = random.sample(range(ACCOUNTS), 2)
            at = step * SECOND // 2 + random.randint(0, 10 * SECOND)
            rows.append((giver, taker, random.randint(1, 100), at))
        yield rows


def assert_balanced(changes: Sequence[Change], now: Instant) -> None:
    """The output so far, read as a whole, has one row at every instant up to now, and it says 0."""
    shown = sorted(until(consolidate(changes), now), key=lambda change: change.valid_from)
    for change in shown:
        total, accounts = change.row
        assert total == (0 if accounts else None), change
        assert change.diff == 1, change
    for one, next_ in pairwise(shown):
        assert one.valid_to == next_.valid_from, (one, next_)
    assert shown[-1].valid_to > now


def settled(changes: Sequence[Change], now: Instant) -> tuple[Change, ...]:
    """The output without what is older than the window and the delay, which changes no more."""
    return tuple(change for change in changes if change.valid_to > now - 200 * SECOND)
