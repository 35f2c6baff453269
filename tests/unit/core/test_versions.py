"""Changing tables: how the operations of one key make, end and correct versions."""

import itertools

import pytest

from ebbtide.core.admission import Admission, Arrival, Op, Step, admit, replay
from ebbtide.core.change import Change
from ebbtide.core.declaration import Late, Promise, TableDeclaration
from ebbtide.core.schema import schema
from ebbtide.core.time import INF
from ebbtide.core.values import NAN, Row

PATIENT = 1000


def table(**more: object) -> TableDeclaration:
    declared = {
        "key": ("id",),
        "time": "at",
        "sequence": "seq",
        "promises": (Promise("at", 0),),
        "retain_us": PATIENT,
    }
    columns = schema(id="BIGINT", at="TIMESTAMP", seq="BIGINT", v="STRING")
    return TableDeclaration("t", columns, **{**declared, **more})  # type: ignore[arg-type]


def rows(text: str, first_offset: int = 1) -> tuple[Arrival, ...]:
    """Operations on key 1 from ``op at value``, or ``op at.sequence value``, between commas."""
    arrivals = []
    for offset, part in enumerate(text.split(","), first_offset):
        op, when, *value = part.split()
        at, _, sequence = when.partition(".")
        row = (1, int(at), int(sequence or 0), value[0] if value else None)
        arrivals.append(Arrival(Op(op), row, offset))
    return tuple(arrivals)


def shown(state: Admission) -> str:
    """The versions, as ``value [from, to)``."""
    return ", ".join(
        f"{change.row[-1]} [{change.valid_from}, "
        f"{'inf' if change.valid_to == INF else change.valid_to})"
        for change in state.accepted
    )


def pending(state: Admission) -> list[int]:
    return [arrival.offset for arrival in state.pending]


def left_over(state: Admission) -> list[tuple[int, str]]:
    return [(row.arrival.offset, row.reason.value) for row in state.unused]


#     10        20        30        40
# a   ├─────────────────────────────▶
# b             ├───────────────────▶
@pytest.mark.parametrize(
    ("operations", "versions"),
    [
        # an upsert ends the version before it
        ("upsert 10 a", "a [10, inf)"),
        ("upsert 10 a, upsert 20 b", "a [10, 20), b [20, inf)"),
        ("upsert 20 b, upsert 10 a", "a [10, 20), b [20, inf)"),
        ("upsert 10 a, upsert 30 c, upsert 20 b", "a [10, 20), b [20, 30), c [30, inf)"),
        # an end leaves a gap
        ("upsert 10 a, end 20", "a [10, 20)"),
        ("upsert 10 a, end 20, upsert 30 b", "a [10, 20), b [30, inf)"),
        ("upsert 10 a, end 30, upsert 20 b", "a [10, 20), b [20, 30)"),
        ("upsert 10 a, end 10", ""),
        # what is deleted never was, so it ended nothing
        ("upsert 10 a, delete 15", ""),
        ("upsert 10 a, upsert 20 b, delete 25", "a [10, inf)"),
        ("upsert 10 a, upsert 20 b, delete 20", "a [10, inf)"),
        ("upsert 10 a, upsert 20 b, delete 15", "b [20, inf)"),
        ("upsert 10 a, upsert 20 b, end 40, delete 25", "a [10, 40)"),
        ("upsert 10 a, end 15, upsert 20 b, delete 25", "a [10, 15)"),
        ("upsert 10 a, upsert 20 b, upsert 30 c, delete 25", "a [10, 30), c [30, inf)"),
        ("upsert 10 a, upsert 20 b, delete 25, delete 26", ""),
        # a replacement holds from the begin of the version
        ("upsert 10 a, replace 15 b", "b [10, inf)"),
        ("upsert 10 a, upsert 20 b, replace 15 c", "c [10, 20), b [20, inf)"),
        ("upsert 10 a, replace 15 b, replace 16 c", "c [10, inf)"),
        ("upsert 10 a, replace 15 b, upsert 20 c, delete 20", "b [10, inf)"),
        # at one instant the sequence decides, then the source
        ("upsert 10.2 b, upsert 10.1 a", "b [10, inf)"),
        ("upsert 10 a, upsert 10 b", "b [10, inf)"),
        ("upsert 10.1 a, upsert 10.2 b, delete 10.3", "a [10, inf)"),
        ("upsert 10 a, upsert 20.2 b, end 20.1", "a [10, 20), b [20, inf)"),
        ("upsert 10 a, upsert 20.1 b, end 20.2", "a [10, 20)"),
    ],
)
def test_versions(operations: str, versions: str) -> None:
    arrivals = rows(operations)
    assert shown(replay(table(), [Step(arrivals)])) == versions
    for order in itertools.permutations(arrivals):
        state = replay(table(), [Step((arrival,)) for arrival in order])
        assert shown(state) == versions
        assert (state.pending, state.unused) == ((), ())


@pytest.mark.parametrize(
    ("operations", "versions", "waiting"),
    [
        ("end 20", "", [1]),
        ("end 20, upsert 30 a", "a [30, inf)", [1]),
        ("upsert 10 a, end 20, delete 20", "a [10, 20)", [3]),
        ("upsert 10 a, end 20, end 25", "a [10, 20)", [3]),
        ("upsert 10.2 a, replace 10.1 b", "a [10, inf)", [2]),
    ],
)
def test_a_negative_waits_while_no_version_is_valid(
    operations: str, versions: str, waiting: list[int]
) -> None:
    for order in itertools.permutations(rows(operations)):
        state = replay(table(), [Step((arrival,)) for arrival in order])
        assert (shown(state), pending(state)) == (versions, waiting)


#     10    12    15    20    25
# a   ├─────┤                        a version lives 5 at the longest
# b               ├─────┤
def test_no_version_outlives_its_lifetime() -> None:
    mortal = table(lifetime_us=5)
    state = replay(mortal, [Step(rows("upsert 10 a, end 12, upsert 15 b, upsert 40 c"))])
    assert shown(state) == "a [10, 12), b [15, 20), c [40, 45)"
    assert pending(admit(state, Step(rows("delete 20", 5)))) == [5]
    assert shown(admit(state, Step(rows("delete 19", 5)))) == "a [10, 12), c [40, 45)"
    widowed = replay(mortal, [Step(rows("upsert 10 a, upsert 12 b, delete 13"))])
    assert shown(widowed) == "a [10, 15)"


def test_a_version_keeps_its_begin_when_it_is_replaced() -> None:
    state = replay(table(), [Step(rows("upsert 10 a, replace 15 b"))])
    assert state.accepted == (Change((1, 10, "b"), 10, INF),)


def test_keys_do_not_meddle() -> None:
    def row(op: Op, key: int, at: int, offset: int) -> Arrival:
        return Arrival(op, (key, at, None, "x"), offset)

    state = replay(table(), [Step((row(Op.UPSERT, 1, 10, 1), row(Op.END, 2, 20, 2)))])
    assert (shown(state), pending(state)) == ("x [10, inf)", [2])


def test_keys_and_values_are_those_that_sql_tells_apart() -> None:
    def arrive(op: Op, key: float, at: int, offset: int) -> Arrival:
        row: Row = (key, at)
        return Arrival(op, row, offset)

    declaration = TableDeclaration("t", schema(k="DOUBLE", at="TIMESTAMP"), ("k",), time="at")
    rows_ = (
        arrive(Op.UPSERT, -0.0, 10, 1),
        arrive(Op.END, 0.0, 20, 2),
        arrive(Op.UPSERT, float("nan"), 10, 3),
        arrive(Op.END, -NAN, 30, 4),
    )
    state = replay(declaration, [Step(rows_)])
    assert [(change.valid_from, change.valid_to) for change in state.accepted] == [
        (10, 20),
        (10, 30),
    ]


# Corrections and the horizon


def test_a_correction_reaches_back_by_the_retention() -> None:
    brief = table(retain_us=5)
    assert shown(replay(brief, [Step(rows("upsert 10 a, delete 15"))])) == ""
    beyond = replay(brief, [Step(rows("upsert 10 a, delete 16"))])
    assert (shown(beyond), pending(beyond)) == ("a [10, inf)", [2])
    assert left_over(admit(beyond, Step(advance=22))) == [(2, "no-positive")]


def test_without_retention_only_the_instant_itself_can_be_corrected() -> None:
    for declaration in (table(retain_us=0), table(late=Late.QUARANTINE)):
        assert shown(replay(declaration, [Step(rows("upsert 10.1 a, delete 10.2"))])) == ""
        state = replay(declaration, [Step(rows("upsert 10 a, delete 11"))])
        assert (shown(state), pending(state)) == ("a [10, inf)", [2])


def test_a_table_that_promises_nothing_can_be_corrected_for_ever() -> None:
    declaration = table(promises=(), retain_us=0)
    assert shown(replay(declaration, [Step(rows("upsert 10 a, delete 900000"))])) == ""


def test_a_correction_stays_done_when_the_horizon_passes_it() -> None:
    state = replay(table(retain_us=10), [Step(rows("upsert 10 a, upsert 12 b, delete 15"))])
    state = admit(state, Step(rows("replace 16 c", 4)))
    assert shown(state) == "c [10, inf)"
    assert shown(admit(state, Step(advance=500))) == "c [10, inf)"


#            horizon
#     10    12│   15           a, deleted at 15, lies below the horizon when b comes late
# a   ┈┈┈┈┈┈┈┈│┈┈┈✗
# b           ├─────────▶
def test_a_late_upsert_cannot_take_over_a_correction_below_the_horizon() -> None:
    state = replay(table(retain_us=10), [Step(rows("upsert 10 a, delete 15")), Step(advance=23)])
    assert state.frontier["at"].horizon == 12
    state = admit(state, Step(rows("upsert 13 b", 3)))
    assert shown(state) == "b [13, inf)"


def test_a_late_delete_cannot_pass_a_correction_on_below_the_horizon() -> None:
    steps = [Step(rows("upsert 1 a, upsert 4 b, replace 8 c")), Step(advance=10)]
    state = replay(table(retain_us=7), steps)
    assert state.frontier["at"].horizon == 2
    assert shown(state) == "a [1, 4), c [4, inf)"
    state = admit(state, Step(rows("delete 6", 4)))
    assert (shown(state), pending(state)) == ("a [1, inf)", [3])


def test_a_late_delete_needs_a_version_above_the_horizon() -> None:
    state = replay(table(retain_us=10), [Step(rows("upsert 10 a")), Step(advance=23)])
    state = admit(state, Step(rows("delete 14", 2)))
    assert (shown(state), pending(state)) == ("a [10, inf)", [2])


def test_an_end_may_end_what_began_below_the_horizon() -> None:
    state = replay(table(retain_us=0), [Step(rows("upsert 10 a")), Step(advance=500)])
    assert shown(admit(state, Step(rows("end 600", 2)))) == "a [10, 600)"
