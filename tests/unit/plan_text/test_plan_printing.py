"""Plans that the binder does not make print as well."""

import pytest

from ebbtide.algebra import (
    AggregateCall,
    Alias,
    Comparison,
    Distinct,
    Filter,
    Frame,
    FrameCall,
    FrameUnit,
    Join,
    Map,
    Named,
    Over,
    Range,
    Ranking,
    Relation,
    SemiJoin,
    SortKey,
    Stream,
    TopN,
    Window,
    literal,
)
from ebbtide.algebra.operators import OPERATORS
from ebbtide.core.declaration import Promise, StreamDeclaration
from ebbtide.core.schema import schema
from ebbtide.plan_text.plan_sql import plan_sql
from ebbtide.plan_text.plan_tree import plan_tree
from ebbtide.plan_text.source_sql import window_sql

STREAM = Stream(StreamDeclaration("s", schema(a="INT", at="TIMESTAMP"), (), (Promise("at"),)))
S = Alias(STREAM, "s")
R = Alias(Window(STREAM, Range(1_000_000), "at"), "order")


def positive(relation: Relation) -> Comparison:
    return Comparison(">", relation.ref("a"), literal(0))


FILTERED = Filter(S, positive(S))
MAPPED = Map(FILTERED, (Named("b", S.ref("a")),))
EQUAL = Comparison("=", S.ref("a"), R.ref("a"))

PRINTED = {
    "SELECT s.a, s.at FROM s": S,
    "SELECT s.a, s.at FROM s WHERE s.a > 0": FILTERED,
    "SELECT DISTINCT s.a, s.at FROM s": Distinct(S),
    "SELECT b AS b FROM (SELECT s.a AS b FROM s WHERE s.a > 0) AS plan WHERE b > 0": Filter(
        MAPPED, Comparison(">", MAPPED.ref("b"), literal(0))
    ),
    "SELECT s.a AS b FROM s WHERE s.a > 0": MAPPED,
    "SELECT `order`.a, `order`.at FROM s [RANGE 1 SECOND] AS `order`": R,
    "SELECT s.a, s.at, `order`.a AS a_, `order`.at AS at_ "
    "FROM s JOIN s [RANGE 1 SECOND] AS `order` ON s.a = `order`.a": Join(S, R, EQUAL),
    "SELECT s.a, s.at FROM s WHERE EXISTS "
    "(SELECT 1 FROM s [RANGE 1 SECOND] AS `order` WHERE s.a = `order`.a)": SemiJoin(S, R, EQUAL),
    "SELECT s.a, s.at FROM s ORDER BY s.at LIMIT 3": TopN(S, 3, (SortKey(S.ref("at")),)),
    "SELECT plan.a, plan.at, plan.number FROM (SELECT s.a, s.at, ROW_NUMBER() OVER "
    "(PARTITION BY s.a ORDER BY s.at) AS number FROM s) AS plan WHERE plan.number <= 3": TopN(
        S, 3, (SortKey(S.ref("at")),), (S.ref("a"),)
    ),
    "SELECT plan.b, plan.n FROM (SELECT s.a AS b, RANK() OVER (ORDER BY s.a DESC) AS n FROM s)"
    " AS plan WHERE plan.n <= 5 AND plan.n > 2": Map(
        top := TopN(S, 3, (SortKey(S.ref("a"), descending=True),), (), Ranking.RANK, 2, "n"),
        (Named("b", S.ref("a")), Named("n", top.ref("n"))),
    ),
    "SELECT s.a, s.at, SUM(s.a) OVER (ORDER BY s.at ROWS BETWEEN UNBOUNDED PRECEDING AND "
    "1 FOLLOWING) AS total FROM s": Over(
        S,
        (FrameCall("total", AggregateCall("SUM", (S.ref("a"),))),),
        (),
        (SortKey(S.ref("at")),),
        Frame(FrameUnit.ROWS, None, 1),
    ),
}


@pytest.mark.parametrize(("text", "plan"), PRINTED.items(), ids=PRINTED)
def test_plan_as_sql(text: str, plan: Relation) -> None:
    assert plan_sql(plan) == text


def test_a_window_on_another_time() -> None:
    assert window_sql(Range(1_000_000, 500_000), "my time") == (
        "[RANGE 1 SECOND SLIDE 500 MILLISECONDS ON `my time`]"
    )


def test_a_tree_has_a_line_for_every_operator() -> None:
    assert plan_tree(MAPPED) == ("Map b := s.a\n  Filter s.a > 0\n    Alias s\n      Stream s")
    assert len(OPERATORS) == 34
