"""The law for answers of which only a part is replayed.

Random queries whose rows are valid for a bounded time, over archived sources: late rows, deletes
and replacements far behind the horizon of the operators, several at once, with crashes before and
after files are renamed.  After every step the output is the reference's on all that the naive
admission accepts, and so it is after a replay of everything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from tempfile import TemporaryDirectory

from hypothesis import event, given, settings
from hypothesis import strategies as st
from tests.crashes import Killed, killed_before
from tests.histories import Fed, Oracle, declarations_of
from tests.in_process import InProcess
from tests.law import analysed, assert_answers, assert_errors, assert_live

from ebbtide.algebra.relation import Relation, Stream
from ebbtide.compile.lowering import lower
from ebbtide.config import Config
from ebbtide.core.admission import Arrival, Op
from ebbtide.core.change import Change, consolidate
from ebbtide.core.declaration import Declaration, Way
from ebbtide.core.output_name import errors_name
from ebbtide.core.tree import rewrite
from ebbtide.sql import parse
from ebbtide.sql.binder import bind
from ebbtide.sql.bound import BoundQuery, Declared
from ebbtide.sql.catalog import Catalog
from ebbtide.store.readers import View

_CASES = {"quick": 8, "ci": 10, "long": 3000}[Config.from_environment().profile]

SOURCES = """
    CREATE STREAM bids (auction BIGINT, price BIGINT, at TIMESTAMP NOT NULL,
      PROGRESS FOR at AS at) RETAIN 2 MICROSECONDS ARCHIVE 50 MICROSECONDS;
    CREATE STREAM clicks (auction BIGINT, word STRING, at TIMESTAMP NOT NULL,
      PRIMARY KEY (auction, at), PROGRESS FOR at AS at - INTERVAL 1 MICROSECOND)
      RETAIN 1 MICROSECOND ARCHIVE 40 MICROSECONDS;
    CREATE TABLE shops (auction BIGINT, name STRING);
"""
QUERIES = (
    "SELECT auction, price FROM bids {w} WHERE price > 0",
    "SELECT auction, SUM(price) AS s, COUNT(*) AS n FROM bids {w} GROUP BY auction",
    "SELECT MAX(price) AS m, AVG(price) AS a FROM bids {w}",
    "SELECT DISTINCT word FROM clicks {v}",
    "SELECT b.auction, b.price, c.word FROM bids {w} b JOIN clicks {v} c ON b.auction = c.auction",
    "SELECT b.auction, c.word FROM bids {w} b LEFT JOIN clicks {v} c ON b.auction = c.auction "
    "AND b.price > 0",
    "SELECT b.auction, c.auction AS other FROM bids {w} b FULL JOIN clicks {v} c "
    "ON b.auction = c.auction",
    "SELECT b.price FROM bids {w} b, clicks {v} c WHERE b.price = c.auction",
    "SELECT auction FROM bids {w} b WHERE NOT EXISTS "
    "(SELECT 1 FROM clicks {v} c WHERE c.auction = b.auction)",
    "SELECT auction FROM bids {w} EXCEPT SELECT auction FROM clicks {v}",
    "SELECT auction FROM bids {w} UNION ALL SELECT auction FROM clicks {v}",
    "SELECT auction, price FROM bids {w} ORDER BY price DESC LIMIT 2",
    "SELECT auction, word, ROW_NUMBER() OVER (PARTITION BY auction ORDER BY word) AS r "
    "FROM clicks {v}",
    "SELECT b.auction, s.name, COUNT(*) AS n FROM bids {w} b JOIN shops s ON b.auction = s.auction "
    "GROUP BY b.auction, s.name",
    "SELECT x.auction, y.price FROM bids {w} x JOIN bids {v} y ON x.auction = y.auction",
    "SELECT x.auction, y.price FROM bids {w} x JOIN bids {v} y ON x.auction = y.price",
    "SELECT n, COUNT(*) AS k FROM (SELECT auction, COUNT(*) AS n FROM bids {w} GROUP BY auction) "
    "GROUP BY n",
    "SELECT auction, 6 / price AS share FROM bids {w}",
    "SELECT auction, price FROM bids {w} WHERE at > NOW() - INTERVAL 2 MICROSECONDS",
    "SELECT auction, COUNT(*) AS n FROM clicks [ROWS 2] GROUP BY auction",
    "SELECT auction, COUNT(*) AS n FROM clicks [ROWS 2 SLIDE 2] GROUP BY auction",
    "SELECT auction, SUM(price) AS s FROM bids [UNBOUNDED] GROUP BY auction",
    "SELECT auction, COUNT(*) AS n FROM bids [SESSION 3 MICROSECONDS] GROUP BY auction",
)
WINDOWS = (
    "[RANGE 4 MICROSECONDS]",
    "[RANGE 6 MICROSECONDS SLIDE 3 MICROSECONDS]",
    "[FIXED 5 MICROSECONDS]",
    "[NOW]",
)


def plan_of(sql: str) -> Relation:
    catalog = Catalog()
    for statement in parse(SOURCES):
        declared = bind(statement, catalog)
        assert isinstance(declared, Declared)
        catalog = declared.catalog
    (statement,) = parse(f"{sql} ALLOW UNBOUNDED STATE")
    bound = bind(statement, catalog)
    assert isinstance(bound, BoundQuery)
    return bound.plan


def replayed_by(plan: Relation, way: Way | None) -> Relation:
    def declared(node: Relation) -> Relation:
        if isinstance(node, Stream):
            return Stream(replace(node.declaration, replay=way))
        return node

    return rewrite(plan, declared)


def history(
    random: Random, declarations: Sequence[Declaration], steps: int
) -> list[dict[str, Fed]]:
    """Times move on by about eight a step, and a third of the rows is far behind."""
    result = []
    places: Counter[str] = Counter()
    for number in range(steps):
        fed = {}
        for declaration in declarations:
            name = declaration.name
            if name == "shops" and number:
                continue
            arrivals = []
            for _ in range(random.choice((0, 1, 3, 5))):
                at = 8 * number + random.randint(0, 8)
                if number > 2 and random.random() < 0.35:
                    at = max(0, at - random.randint(10, 50))
                other = random.choice("ab") if name != "bids" else random.choice((0, 1, 2, None))
                row = (random.randint(0, 2), other, at)
                op = Op.INSERT
                if name == "clicks":
                    op = random.choice((Op.INSERT, Op.INSERT, Op.DELETE, Op.REPLACE))
                arrivals.append(Arrival(op, row[:2] if name == "shops" else row, places[name]))
                places[name] += 1
            fed[name] = Fed(tuple(arrivals))
        result.append(fed)
    return result


def judged(
    plan: Relation, steps: Sequence[Mapping[str, Fed]], shards: int, kills: Random | None = None
) -> Counter[str]:
    """Holds a plan to the law at every step; how often it was replayed which way.

    With ``kills`` a step may be killed before some rename of a file, and is then run again.
    """
    program = lower({"q": analysed(plan)})
    oracle = Oracle.of(declarations_of(plan), program.replayed)
    said: dict[str, tuple[Change, ...]] = {"q": (), errors_name("q"): ()}
    ways: Counter[str] = Counter()
    with TemporaryDirectory() as root:
        runner = InProcess(program, root, shards)
        for fed in steps:
            oracle.take(fed)
            if kills is not None and kills.random() < 0.5:
                try:
                    with killed_before(kills.randint(1, 60)):
                        runner.step(fed)
                except Killed:
                    runner = InProcess(program, root, shards, version=runner.version)
                else:
                    runner.version -= 1
            manifest = runner.step(fed)
            ways.update(counts.way for counts in manifest.record.replays.values())
            for name in said.keys() & manifest.record.output.keys():
                said[name] = consolidate((*said[name], *runner.emitted(manifest, name)))
            now = manifest.record.nows["q"]
            assert_answers(plan, said["q"], oracle, now)
            assert_live(View(root, "q", plan.schema), said["q"], now)
            if errors_name("q") in manifest.record.output:
                assert_errors(plan, said[errors_name("q")], oracle, now)
    return ways


@settings(max_examples=_CASES, deadline=None)
@given(
    query=st.sampled_from(QUERIES),
    windows=st.tuples(st.sampled_from(WINDOWS), st.sampled_from(WINDOWS)),
    way=st.sampled_from((None, Way.MINIMAL, Way.DIRECT, Way.ALL)),
    seed=st.integers(0, 2**32),
    steps=st.integers(4, 12),
    shards=st.sampled_from((1, 2, 5)),
    crashes=st.booleans(),
)
def test_every_way_of_replay_is_right(
    query: str,
    windows: tuple[str, str],
    way: Way | None,
    seed: int,
    steps: int,
    shards: int,
    crashes: bool,
) -> None:
    plan = replayed_by(plan_of(query.format(w=windows[0], v=windows[1])), way)
    random = Random(seed)
    fed = history(random, declarations_of(plan), steps)
    ways = judged(plan, fed, shards, random if crashes else None)
    for name in ways:
        event(name)
