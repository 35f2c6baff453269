"""The five functions of every aggregate, and what each aggregate is, said in another way."""

import math
from collections.abc import Callable
from fractions import Fraction
from statistics import pvariance, variance

from hypothesis import strategies as st

from ebbtide.algebra import Aggregate, AggregateCall, Filter, Literal, Named, NamedCall, Ref
from ebbtide.algebra.aggregates import AGGREGATES, aggregate
from ebbtide.core.change import facts, snapshot
from ebbtide.core.types import BIGINT, BOOLEAN, DOUBLE, INTERVAL, STRING, DecimalType, Type
from ebbtide.core.values import Row, Value, row_key, sort_key
from ebbtide.reference import evaluate
from ebbtide.testing import check_aggregate, relation
from laws import Law
from strategies import few_values, predicates, rows, values

MONEY = DecimalType(7, 2)
NUMBERS: tuple[Type, ...] = (BIGINT, DOUBLE, MONEY)
ANYTHING: tuple[Type, ...] = (BIGINT, DOUBLE, STRING, BOOLEAN)

TYPES: dict[str, tuple[tuple[Type, ...], ...]] = {
    "COUNT": ((), *((t,) for t in ANYTHING)),
    "SUM": tuple((t,) for t in (*NUMBERS, INTERVAL)),
    "AVG": tuple((t,) for t in (*NUMBERS, INTERVAL)),
    "TRY_SUM": tuple((t,) for t in (*NUMBERS, INTERVAL)),
    "TRY_AVG": tuple((t,) for t in (*NUMBERS, INTERVAL)),
    **{
        name: tuple((t,) for t in ANYTHING)
        for name in ("MIN", "MAX", "FIRST", "LAST", "COLLECT", "MODE")
    },
    **{
        name: tuple((t,) for t in NUMBERS)
        for name in ("VAR_SAMP", "VAR_POP", "STDDEV_SAMP", "STDDEV_POP", "MEDIAN")
    },
    "PERCENTILE": tuple((t, DOUBLE) for t in NUMBERS),
    "PERCENTILE_DISC": tuple((t, DOUBLE) for t in ANYTHING),
    "ARG_MIN": tuple((BIGINT, t) for t in ANYTHING),
    "ARG_MAX": tuple((BIGINT, t) for t in ANYTHING),
    "BOOL_AND": ((BOOLEAN,),),
    "BOOL_OR": ((BOOLEAN,),),
}
"""The types that each aggregate is tried on; SINGLE refuses a second row, so it has no laws."""

SHARES = ("PERCENTILE", "PERCENTILE_DISC")


def bags(name: str, types: tuple[Type, ...]) -> st.SearchStrategy[list[Row]]:
    """Bags of arguments as an aggregate sees them: with a place, and without NULLs, where due."""
    function = aggregate(name, types)
    # Sums of the widest integers leave their type, which is an error and no law.
    wide = st.one_of(*(values(t, False) for t in (DOUBLE,)))

    def argument(type_: Type) -> st.SearchStrategy[Value]:
        few = few_values(type_, function.keeps_nulls)
        return few | wide if type_ == DOUBLE and name not in SHARES else few

    arguments = [argument(type_) for type_ in types]
    if name in SHARES:
        arguments[1] = st.just(0.25)
    if not function.ordered:
        return st.lists(st.tuples(*arguments), max_size=6)
    # Rows at one place are equal rows.
    placed = st.tuples(*arguments).map(lambda row: (*row, (row_key(row), 0)))
    return st.lists(placed, max_size=6)


def check_five(name: str, types: tuple[Type, ...]) -> Callable[[list[Row]], None]:
    return lambda bag: check_aggregate(aggregate(name, types), bag)


FIVE = [
    Law(
        f"the five functions of {name}({', '.join(map(str, types))})",
        bags(name, types),
        check_five(name, types),
        0.15,
    )
    for name, variants in TYPES.items()
    for types in variants
]


# --- what each is ------------------------------------------------------------------------------


def share_of(ordered: list[Value], share: Fraction) -> float:
    """The value between the neighbours of a place, by how far it lies from each."""
    place = share * (len(ordered) - 1)
    low, high = ordered[math.floor(place)], ordered[math.ceil(place)]
    return float(Fraction(low) + (Fraction(high) - Fraction(low)) * (place - math.floor(place)))


def spread(of: Callable[[list[Fraction]], Fraction], least: int, root: bool) -> Callable:
    def result(bag: list[int]) -> float | None:
        if len(bag) < least:
            return None
        exact = of([Fraction(value) for value in bag])
        return math.sqrt(exact) if root else float(exact)

    return result


MEANING: dict[str, Callable[[list[int]], Value]] = {
    "COUNT": len,
    "SUM": lambda bag: sum(bag) if bag else None,
    "AVG": lambda bag: float(Fraction(sum(bag), len(bag))) if bag else None,
    "TRY_SUM": lambda bag: sum(bag) if bag else None,
    "TRY_AVG": lambda bag: float(Fraction(sum(bag), len(bag))) if bag else None,
    "MIN": lambda bag: min(bag, default=None),
    "MAX": lambda bag: max(bag, default=None),
    "VAR_SAMP": spread(variance, 2, False),
    "VAR_POP": spread(pvariance, 1, False),
    "STDDEV_SAMP": spread(variance, 2, True),
    "STDDEV_POP": spread(pvariance, 1, True),
    "MEDIAN": lambda bag: share_of(sorted(bag), Fraction(1, 2)) if bag else None,
    "PERCENTILE": lambda bag: share_of(sorted(bag), Fraction(1, 4)) if bag else None,
    "PERCENTILE_DISC": lambda bag: (
        min(v for v in bag if 4 * sum(w <= v for w in bag) >= len(bag)) if bag else None
    ),
    "COLLECT": lambda bag: tuple(sorted(bag)),
    "MODE": lambda bag: min(bag, key=lambda value: (-bag.count(value), value), default=None),
}

SOURCE = relation("t", x="BIGINT", y="BIGINT", z="BOOLEAN")


def over(call: AggregateCall, bag: list[Row]) -> Value:
    """The value of an aggregate without groups, by the reference."""
    plan = Aggregate(SOURCE, (), (NamedCall("v", call),))
    ((row, n),) = snapshot(evaluate(plan, {"t": facts(bag)}), 0).items()
    assert n == 1
    return row[0]


def call_of(name: str, **options: object) -> AggregateCall:
    shares = (Literal(0.25, DOUBLE),) if name in SHARES else ()
    second = (SOURCE.ref("y"),) if name.startswith("ARG") else ()
    first = SOURCE.ref("z") if name.startswith("BOOL") else SOURCE.ref("x")
    return AggregateCall(name, (first, *second, *shares), **options)


def check_meaning(name: str) -> Callable[[list[Row]], None]:
    def check(bag: list[Row]) -> None:
        present = [row[0] for row in bag if row[0] is not None]
        meant = MEANING[name]
        assert same(over(call_of(name), bag), meant(present))
        # COLLECT sees rows, of which equal values are one; the others see values.
        assert same(over(call_of(name, distinct=True), bag), meant(sorted(set(present))))

    return check


def same(actual: Value, expected: Value) -> bool:
    if isinstance(expected, float) and isinstance(actual, float):
        return math.isclose(actual, expected, rel_tol=1e-12)
    return actual == expected


def check_filter(case: tuple[str, object, list[Row]]) -> None:
    """FILTER is as if the other rows were not there."""
    name, condition, bag = case
    held = Filter(SOURCE, condition)
    kept = list(snapshot(evaluate(held, {"t": facts(bag)}), 0).elements())
    assert over(call_of(name, filter=condition), bag) == over(call_of(name), kept)


def check_distinct(case: tuple[str, list[Row]]) -> None:
    """DISTINCT is as if only the first row with each arguments' values were there."""
    name, bag = case
    call = call_of(name)
    at = [SOURCE.schema.index(a.column) for a in call.arguments if isinstance(a, Ref)]
    firsts: dict[Row, Row] = {}
    for row in sorted(bag, key=row_key):
        firsts.setdefault(tuple(row[i] for i in at), row)
    assert over(call_of(name, distinct=True), bag) == over(call, list(firsts.values()))


def check_choice(bag: list[Row]) -> None:
    """FIRST, LAST, ARG_MIN and ARG_MAX by sorting."""
    ordered = sorted(bag, key=row_key)
    assert over(call_of("FIRST"), bag) == (ordered[0][0] if bag else None)
    assert over(call_of("LAST"), bag) == (ordered[-1][0] if bag else None)
    ranked = sorted((row for row in ordered if row[1] is not None), key=lambda r: sort_key(r[1]))
    top = [row for row in ranked if row[1] == ranked[-1][1]]
    assert over(call_of("ARG_MIN"), bag) == (ranked[0][0] if ranked else None)
    assert over(call_of("ARG_MAX"), bag) == (top[0][0] if top else None)


def check_truth(bag: list[Row]) -> None:
    """BOOL_AND and BOOL_OR skip NULLs."""
    truths = [row[2] for row in bag if row[2] is not None]
    assert over(call_of("BOOL_AND"), bag) is (all(truths) if truths else None)
    assert over(call_of("BOOL_OR"), bag) is (any(truths) if truths else None)


def check_groups(bag: list[Row]) -> None:
    """A group is the aggregate of its rows alone; NULLs are one group; an empty group is none."""
    keys = (Named("k", SOURCE.ref("y")),)
    calls = (NamedCall("n", AggregateCall("COUNT")), NamedCall("s", call_of("SUM")))
    found = snapshot(evaluate(Aggregate(SOURCE, keys, calls), {"t": facts(bag)}), 0)
    groups = {key: [row for row in bag if row[1] == key] for key in {row[1] for row in bag}}
    assert found == {(key, len(g), over(call_of("SUM"), g)): 1 for key, g in groups.items()}


BAGS = st.lists(rows(SOURCE.schema), max_size=8)
NAMES = st.sampled_from(sorted(TYPES))

LAWS = [
    *FIVE,
    *(Law(f"what {name} is", BAGS, check_meaning(name), 0.25) for name in MEANING),
    Law("FILTER leaves rows out", st.tuples(NAMES, predicates(SOURCE.schema), BAGS), check_filter),
    Law("DISTINCT leaves repetitions out", st.tuples(NAMES, BAGS), check_distinct),
    Law("what FIRST, LAST, ARG_MIN and ARG_MAX are", BAGS, check_choice, 0.5),
    Law("what BOOL_AND and BOOL_OR are", BAGS, check_truth, 0.5),
    Law("what a group is", BAGS, check_groups, 0.5),
]

# SINGLE is left out on purpose, and so is TRY_SINGLE: of rows that they refuse there is no law.
assert set(TYPES) | {"SINGLE", "TRY_SINGLE"} >= set(AGGREGATES), set(AGGREGATES) - set(TYPES)
