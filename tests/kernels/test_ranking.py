"""Top-n and frames against the reference."""

from __future__ import annotations

from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.harness import WAYS, Case, Input, Run, Step, Way, check, history, judge

from ebbtide.algebra import ranking as logical
from ebbtide.algebra.call import AggregateCall, SortKey
from ebbtide.algebra.expression import Literal
from ebbtide.core.change import fact
from ebbtide.core.schema import schema
from ebbtide.core.time import NEG_INF
from ebbtide.core.types import BIGINT
from ebbtide.core.values import NAN
from ebbtide.kernels.aggregates.call import Call
from ebbtide.kernels.operators.over import Framed, Neighbour, Number, Over
from ebbtide.kernels.operators.top_facts import TopFacts
from ebbtide.kernels.operators.top_n import TopN
from ebbtide.kernels.ordering import SortColumn
from ebbtide.kernels.sweeps.frames import Frame
from ebbtide.kernels.sweeps.numbering import Ranking


def _row(random: Random) -> tuple[Any, ...]:
    value = random.choice((0.0, 1.5, 2.0, None, NAN))
    return (random.choice((0, 1, None)), value, random.choice("ab"), random.choice((1, 2, None)))


RELATION = Input(schema(k="BIGINT", x="DOUBLE", s="STRING", v="BIGINT"), _row)


def _crowded(random: Random) -> tuple[Any, ...]:
    value = random.choice((None, NAN, -0.0, *range(-9, 9)))
    real = None if value is None else float(value)
    return (random.choice((0, None)), real, "a", random.choice((1, None, *SMALL)))


SMALL = tuple(range(-20, 20))
CROWD = Input(RELATION.schema, _crowded)

SORTS = st.lists(
    st.builds(SortColumn, st.integers(1, 3), st.booleans(), st.booleans()), max_size=2
).map(tuple)


def _sort_keys(order: tuple[SortColumn, ...]) -> tuple[SortKey, ...]:
    names = RELATION.schema.names
    return tuple(
        SortKey(RELATION.node.ref(names[sort.column]), sort.descending, sort.nulls_first)
        for sort in order
    )


def _fact(random: Random) -> tuple[Any, ...]:
    return (*_row(random), 0)


FACTS = Input(schema(k="BIGINT", x="DOUBLE", s="STRING", v="BIGINT", at="TIMESTAMP"), _fact, time=4)


@given(
    count=st.integers(0, 3),
    offset=st.integers(0, 2),
    order=SORTS,
    ranking=st.sampled_from(list(Ranking)),
    partitioned=st.booleans(),
    numbered=st.booleans(),
    way=WAYS,
)
def test_oracle_of_facts_that_only_come(
    count: int,
    offset: int,
    order: tuple[SortColumn, ...],
    ranking: Ranking,
    partitioned: bool,
    numbered: bool,
    way: Way,
) -> None:
    node = logical.TopN(
        FACTS.node,
        count,
        _sort_keys(order),
        (FACTS.node.ref("k"),) if partitioned else (),
        logical.Ranking[ranking.name],
        offset,
        "n" if numbered else None,
    )
    partition = (0,) if partitioned else ()
    kernel = TopFacts(TopN(count, order, partition, ranking, offset, numbered))
    steps = [
        Step((tuple(c for c in step.inputs[0] if c.diff > 0),), step.now, (NEG_INF,))
        for step in history(Random(way.seed), (FACTS,), way.steps, way.size)
    ]
    check(Case(node, kernel, (FACTS,), (partition,)), steps, way.shards, way.collect, way.restart)


def test_of_facts_that_only_come_the_first_are_stored() -> None:
    node = logical.TopN(FACTS.node, 2, _sort_keys((SortColumn(3),)), (FACTS.node.ref("k"),))
    run = Run(Case(node, TopFacts(TopN(2, (SortColumn(3),), (0,))), (FACTS,), ((0,),)), 1)
    for now in range(9):
        run.step(Step((tuple(fact((k, 1.5, "a", 9 - now, now)) for k in (0, 1)),), now, (NEG_INF,)))
    assert run.rows <= 2 * 2 * 3  # the first two, and what has moved them out, not yet netted


@given(
    count=st.integers(0, 3),
    offset=st.integers(0, 2),
    order=SORTS,
    ranking=st.sampled_from(list(Ranking)),
    partitioned=st.booleans(),
    numbered=st.booleans(),
    way=WAYS,
)
def test_oracle_top_n(
    count: int,
    offset: int,
    order: tuple[SortColumn, ...],
    ranking: Ranking,
    partitioned: bool,
    numbered: bool,
    way: Way,
) -> None:
    node = logical.TopN(
        RELATION.node,
        count,
        _sort_keys(order),
        (RELATION.node.ref("k"),) if partitioned else (),
        logical.Ranking(ranking.name),
        offset,
        "number" if numbered else None,
    )
    partition = (0,) if partitioned else ()
    kernel = TopN(count, order, partition, ranking, offset, numbered)
    judge(Case(node, kernel, (RELATION,), (partition,)), way)


CROWDED_WAYS = st.builds(
    Way,
    seed=st.integers(0, 2**32),
    steps=st.integers(1, 3),
    size=st.integers(10, 30),
    shards=st.just(1),
    collect=st.booleans(),
    restart=st.just(False),
)


@given(
    count=st.sampled_from((1, 4, 50)),
    offset=st.sampled_from((0, 3, 12)),
    order=SORTS,
    ranking=st.sampled_from(list(Ranking)),
    partitioned=st.booleans(),
    way=CROWDED_WAYS,
)
def test_oracle_top_n_of_many_rows(
    count: int,
    offset: int,
    order: tuple[SortColumn, ...],
    ranking: Ranking,
    partitioned: bool,
    way: Way,
) -> None:
    by = (CROWD.node.ref("k"),) if partitioned else ()
    kind = logical.Ranking(ranking.name)
    node = logical.TopN(CROWD.node, count, _sort_keys(order), by, kind, offset, "number")
    partition = (0,) if partitioned else ()
    kernel = TopN(count, order, partition, ranking, offset, True)
    judge(Case(node, kernel, (CROWD,), (partition,)), way)


def _aggregated(name: str, column: str | None, type_: Any) -> tuple[logical.FrameCall, Framed]:
    """A call twice: as the plan has it, and as the kernel does."""
    arguments = () if column is None else (RELATION.node.ref(column),)
    positions = () if column is None else (RELATION.schema.position(column),)
    given = AggregateCall(name, arguments)
    call = Call(name, positions, type_, given.fold, row=tuple(range(4)))
    return logical.FrameCall("a", given), Framed(call)


def _numbered(ranking: Ranking) -> tuple[logical.FrameCall, Number]:
    return logical.FrameCall("n", AggregateCall(ranking.name)), Number(ranking)


def _neighbour(name: str, far: int, default: bool) -> tuple[logical.FrameCall, Neighbour]:
    arguments: tuple[Any, ...] = (RELATION.node.ref("v"), Literal(far, BIGINT))
    arguments += (RELATION.node.ref("k"),) if default else ()
    call = logical.FrameCall("b", AggregateCall(name, arguments))
    return call, Neighbour(3, -far if name == "LAG" else far, 0 if default else None)


CALLS = [
    *(_numbered(ranking) for ranking in Ranking),
    *(_neighbour(name, far, d) for name in ("LAG", "LEAD") for far in (1, 2) for d in (0, 1)),
    _aggregated("COUNT", None, pa.int64()),
    _aggregated("COUNT", "v", pa.int64()),
    _aggregated("SUM", "v", pa.int64()),
    _aggregated("AVG", "x", pa.float64()),
    _aggregated("MIN", "s", pa.string()),
    _aggregated("MAX", "x", pa.float64()),
    _aggregated("FIRST", "v", pa.int64()),
    _aggregated("MEDIAN", "v", pa.float64()),
]


@st.composite
def frames(
    draw: Any, far: int = 2
) -> tuple[tuple[SortColumn, ...], logical.Frame | None, Frame | None]:
    """An order and a frame that stands on it, twice."""
    order = draw(SORTS)
    low, high = sorted((draw(st.integers(-far, far)), draw(st.integers(-far, far))))
    start, end = draw(st.sampled_from((low, None))), draw(st.sampled_from((high, None)))
    kind = draw(st.sampled_from(("none", "rows", "range")))
    if kind == "none":
        return order, None, None
    if kind == "rows":
        return order, logical.Frame(logical.FrameUnit.ROWS, start, end), Frame(True, start, end)
    numbers = (SortColumn(draw(st.sampled_from((1, 3))), draw(st.booleans()), draw(st.booleans())),)
    return numbers, logical.Frame(logical.FrameUnit.RANGE, start, end), Frame(False, start, end)


def _over(
    input_: Input,
    calls: Any,
    order: tuple[SortColumn, ...],
    frames_: tuple[logical.Frame | None, Frame | None],
    partitioned: bool,
) -> Case:
    frame, kernel_frame = frames_
    node = logical.Over(
        input_.node,
        tuple(logical.FrameCall(f"n{i}", call.call) for i, (call, _) in enumerate(calls)),
        (input_.node.ref("k"),) if partitioned else (),
        _sort_keys(order),
        frame,
    )
    partition = (0,) if partitioned else ()
    kernel = Over(tuple(call for _, call in calls), partition, order, kernel_frame)
    return Case(node, kernel, (input_,), (partition,))


@given(
    calls=st.lists(st.sampled_from(CALLS), min_size=1, max_size=2),
    framing=frames(),
    partitioned=st.booleans(),
    way=WAYS,
)
def test_oracle_over(calls: Any, framing: Any, partitioned: bool, way: Way) -> None:
    order, *frame = framing
    judge(_over(RELATION, calls, order, tuple(frame), partitioned), way)


@given(
    calls=st.lists(st.sampled_from(CALLS), min_size=1, max_size=2),
    framing=frames(far=6),
    partitioned=st.booleans(),
    way=CROWDED_WAYS,
)
def test_oracle_over_many_rows(calls: Any, framing: Any, partitioned: bool, way: Way) -> None:
    """Partitions in which most rows are beyond the reach of a change."""
    order, *frame = framing
    judge(_over(CROWD, calls, order, tuple(frame), partitioned), way)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("start", "end"),
    [(-3, 0), (0, 3), (-1, 1), (1, 3), (-3, -2), (None, -2), (2, None), (-2, None), (None, 0)],
)
@pytest.mark.parametrize("unit", list(logical.FrameUnit))
def test_frames_reach_as_far_as_they_say(
    unit: logical.FrameUnit, start: int | None, end: int | None, seed: int
) -> None:
    call = _aggregated("SUM", "v", pa.int64())
    both = logical.Frame(unit, start, end), Frame(unit is logical.FrameUnit.ROWS, start, end)
    case = _over(CROWD, [call], (SortColumn(3),), both, False)
    judge(case, Way(seed, 3, 25, 1, False, False))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["LAG", "LEAD"])
@pytest.mark.parametrize("far", [1, 4])
def test_neighbours_are_as_far_as_they_say(name: str, far: int, seed: int) -> None:
    case = _over(CROWD, [_neighbour(name, far, False)], (SortColumn(3),), (None, None), False)
    judge(case, Way(seed, 3, 25, 1, False, False))
