"""EXPLAIN, as people and as programs read it."""

import json
from textwrap import dedent
from typing import Any

import pytest

from analysed import World
from ebbtide.analysis.structure import structures_of
from ebbtide.core.expiry import Expiry, Strategy
from ebbtide.core.structure import Structure

WORLD = World(
    """
    CREATE STREAM bids (auction BIGINT, price DOUBLE, at TIMESTAMP NOT NULL,
      PROGRESS FOR at AS at - INTERVAL 5 SECONDS) RETAIN 1 DAY;
    CREATE STREAM auctions (id BIGINT, at TIMESTAMP NOT NULL, PRIMARY KEY (id),
      PROGRESS FOR at AS at) APPEND ONLY;
    """
)


def shows(sql: str, expected: str) -> None:
    assert WORLD.explained(sql).theory == dedent(expected).strip()


def test_a_windowed_average() -> None:
    shows(
        "SELECT auction, AVG(price) AS mean FROM bids [RANGE 15 MINUTES] GROUP BY auction",
        """
        finality by progress of bids.at: when to - 1 us <= progress(bids.at)
        state    per window: grouping of "bids" keeps rows of "bids"
        key      auction
        class    strict non-monotonic
        emit     CHANGES

        Map auction, mean := AVG(bids.price)
          columns  auction BIGINT, mean DOUBLE
          key      auction
          class    strict non-monotonic: the next row of a group ends its value
          changes  positive and negative
          times    from < to
          held     none: rows pass on
          final    when to - 1 us <= progress(bids.at)
          Aggregate AVG(bids.price) by auction
            columns  auction BIGINT, AVG(bids.price) DOUBLE
            key      auction
            class    strict non-monotonic: the next row of a group ends its value
            changes  positive and negative
            times    from < to
            stores   rows of "bids": keep while to > progress(bids.at) - 1 d + 1 us
            finds    by key (bids.auction), to, from
            held     first in, first out
            emitted  keep while to > progress(bids.at) - 1 d + 1 us
            final    when to - 1 us <= progress(bids.at)
            Alias bids
              columns  bids.auction BIGINT, bids.price DOUBLE, bids.at TIMESTAMP
              key      none: rows may repeat
              class    weakest non-monotonic: every row stays for the range
              changes  positive only
              times    to = from + 15 min and bids.at = from
              held     none: rows pass on
              final    when to - 1 us <= progress(bids.at)
              Window [RANGE 15 MINUTES] on at
                columns  auction BIGINT, price DOUBLE, at TIMESTAMP
                key      none: rows may repeat
                class    weakest non-monotonic: every row stays for the range
                changes  positive only
                times    from = at and to = at + 15 min
                held     none: rows pass on
                final    when to - 1 us <= progress(bids.at)
                Stream bids
                  columns  auction BIGINT, price DOUBLE, at TIMESTAMP
                  key      none: rows may repeat
                  class    monotonic: bids only gets facts
                  changes  positive only
                  final    at once: bids only gets facts
        """,
    )


def test_auctions_without_a_bid() -> None:
    shows(
        "SELECT a.id, a.at FROM auctions a WHERE NOT EXISTS (SELECT 1 FROM bids b "
        "WHERE b.auction = a.id AND b.at BETWEEN a.at AND a.at + INTERVAL 2 MINUTES) EMIT FINAL",
        """
        finality by progress of auctions.at, bids.at: when at <= min(progress(auctions.at), \
progress(bids.at) - 2 min)
        state    per window: anti join of "auctions" and "bids" keeps rows of "auctions"
        waits    rows of "auctions" are kept while "bids" is quiet: declare IDLE AFTER 5 MINUTES \
in CREATE STREAM bids
        waits    rows of "bids" are kept while "auctions" is quiet: declare IDLE AFTER 5 MINUTES \
in CREATE STREAM auctions
        key      id
        class    strict non-monotonic
        emit     FINAL
        holds    rows that are not final: keep while at > min(progress(auctions.at), \
progress(bids.at) - 2 min)

        Map id, at
          columns  id BIGINT, at TIMESTAMP
          key      id
          class    strict non-monotonic: a row on the right ends one on the left
          changes  positive and negative
          held     none: rows pass on
          final    when at <= min(progress(auctions.at), progress(bids.at) - 2 min)
          AntiJoin b.auction = a.id AND b.at >= a.at AND b.at <= a.at + INTERVAL 2 MINUTES
            columns  a.id BIGINT, a.at TIMESTAMP
            key      a.id
            class    strict non-monotonic: a row on the right ends one on the left
            changes  positive and negative
            stores   rows of "auctions": keep while a.at > progress(bids.at) - 1442 min
            finds    by key (a.id), a.at
            held     by key
            stores   rows of "bids": keep while b.at > progress(auctions.at) \
or b.at > progress(bids.at) - 1442 min
            finds    by key (b.auction), b.at
            held     by key
            final    when a.at <= min(progress(auctions.at), progress(bids.at) - 2 min)
            Alias a
              columns  a.id BIGINT, a.at TIMESTAMP
              key      a.id
              class    monotonic: auctions only gets facts
              changes  positive only
              held     none: rows pass on
              final    at once: auctions only gets facts
              Stream auctions
                columns  id BIGINT, at TIMESTAMP
                key      id
                class    monotonic: auctions only gets facts
                changes  positive only
                stores   operations of "auctions": keep while at > progress(auctions.at)
                finds    by key (id), at
                held     by key
                final    at once: auctions only gets facts
            Alias b
              columns  b.auction BIGINT, b.price DOUBLE, b.at TIMESTAMP
              key      none: rows may repeat
              class    monotonic: bids only gets facts
              changes  positive only
              held     none: rows pass on
              final    at once: bids only gets facts
              Stream bids
                columns  auction BIGINT, price DOUBLE, at TIMESTAMP
                key      none: rows may repeat
                class    monotonic: bids only gets facts
                changes  positive only
                final    at once: bids only gets facts
        """,
    )


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("SELECT auction, COUNT(*) AS n FROM bids [RANGE 1 HOUR] GROUP BY auction",
         "first in, first out"),
        ("SELECT auction, COUNT(*) AS n FROM bids [FIXED 1 HOUR] GROUP BY auction", "by end"),
        ("SELECT COUNT(*) AS n FROM bids [ROWS 5]", "by key"),
        ("SELECT auction FROM bids [RANGE 1 HOUR] WHERE price > 3", None),
    ],
)  # fmt: skip
def test_the_class_of_an_edge_picks_how_its_rows_lie(text: str, held: str | None) -> None:
    """Of rows that stay equally long, of known ends, that others end, and of none that is kept."""
    explained = WORLD.explained(text)
    found = [store["structure"] for store in _stores(explained.document["plan"])]
    assert (found[0] if found else None) == held
    assert f"held     {held or 'none: rows pass on'}\n" in explained.theory
    node = WORLD.analysed(text).root
    while node.inputs:
        told = structures_of(node, Expiry(Strategy.NEGATIVE))
        assert set(told) == {Structure.BY_KEY}  # what expires is told by negative rows then
        node = node.inputs[0]


def _stores(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [*plan["stores"], *(s for below in plan["inputs"] for s in _stores(below))]


def test_a_count_for_ever() -> None:
    lines = WORLD.explained("SELECT auction, COUNT(*) AS n FROM bids GROUP BY auction").theory
    assert lines.splitlines()[:3] == [
        "finality never: nothing bounds bids.at by a time of the result, which has none",
        'state    per key: grouping of "bids" keeps an accumulator for each group of "bids"',
        "key      auction",
    ]


def test_rows_that_never_end_are_kept_always() -> None:
    text = WORLD.explained(
        "SELECT a.id, b.price FROM auctions [UNBOUNDED] a JOIN bids [RANGE 1 HOUR] b "
        "ON a.id = b.auction"
    ).theory
    assert '    stores   rows of "auctions" (unbounded): keep always\n' in text


def test_changes_on_a_grid_are_held_until_they_begin() -> None:
    sliding = "SELECT price FROM bids [RANGE 1 HOUR SLIDE 1 MINUTE]"
    assert "holds    changes that begin after now: keep while from > now\n" in (
        WORLD.explained(sliding).theory
    )
    assert WORLD.explained("SELECT price FROM bids [RANGE 1 HOUR]").document["held"] == []


def test_instants_of_rows_that_may_begin_later_and_change_are_kept() -> None:
    alone = (
        "SELECT price FROM bids [RANGE 1 HOUR] AS b WHERE NOT EXISTS "
        "(SELECT 1 FROM auctions [RANGE 1 HOUR] AS a WHERE a.id = b.auction)"
    )
    held = "holds    instants at which rows of the answer begin and end: keep while from > now or "
    assert held in WORLD.explained(alone).theory


def test_json_has_the_indexes_and_whether_negatives_can_arrive() -> None:
    plan = WORLD.explained("SELECT DISTINCT auction FROM bids [ROWS 5]").document["plan"]
    (store,) = plan["stores"]
    assert store["indexes"] == {
        "key": ["auction"],
        "times": ["to", "from"],
        "row": True,
        "text": "by key (auction), to, from, row",
    }
    assert plan["inputs"][0]["class"]["negatives"] is True


def test_json_says_what_the_text_says() -> None:
    explanation = WORLD.explained("SELECT price FROM bids WHERE price > 5")
    document = json.loads(explanation.json)
    assert document == explanation.document
    assert document["verdict"] == {
        "finality": {
            "when": "at once",
            "reason": "bids only gets facts",
            "progress": {},
            "text": "at once: bids only gets facts",
        },
        "state": {"size": "none", "reason": ""},
        "waiting": [],
    }
    assert document["plan"]["operator"] == "Map price"
    assert document["plan"]["schema"] == [{"name": "price", "type": "DOUBLE", "nullable": True}]
    assert document["plan"]["inputs"][0]["operator"] == "Alias bids"
