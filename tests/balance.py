"""The balance test: transfers between accounts, read twice, joined and totalled.

Every transfer is one row; the query reads it once as a credit and once as a debit.  If a step
showed only one of the two, the total would not be 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from ebbtide.core.change import Change, consolidate, snapshot
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
    """The output so far, read as a whole, says 0 at every instant up to now."""
    for change in consolidate(changes):
        if change.valid_from <= now:
            total, accounts = change.row
            assert total == (0 if accounts else None), change
    assert len(snapshot(changes, now)) == 1
