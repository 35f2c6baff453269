"""Frontiers: progress, horizon and now, and what moves them."""

import pytest

from ebbtide.core.declaration import Late, Promise, StreamDeclaration, TableDeclaration
from ebbtide.core.frontier import Frontier, InputFrontier, first_frontier, now, slowest
from ebbtide.core.schema import schema
from ebbtide.core.time import INF, NEG_INF
from ebbtide.errors import QueryError

COLUMNS = schema(id="BIGINT", made="TIMESTAMP", paid="TIMESTAMP")


def input_frontier(delay: int = 5, **more: object) -> InputFrontier:
    declaration = StreamDeclaration(
        "s", schema(id="BIGINT", at="TIMESTAMP"), promises=(Promise("at", delay),), **more
    )  # type: ignore[arg-type]
    return first_frontier(declaration)


def progress(frontier: InputFrontier) -> int:
    return frontier["at"].progress


def test_before_anything_has_come_nothing_is_late() -> None:
    line = Frontier("at", 5, 10)
    assert (line.progress, line.horizon, line.newest) == (NEG_INF, NEG_INF, NEG_INF)
    assert line.accepts(NEG_INF + 1)
    assert not line.is_late(NEG_INF + 1)


#        84    85          94    95          100
#  ──────┤     │           ┤     │           │
#     horizon          progress  first that is on time
def test_the_promise_holds_from_the_delay_on() -> None:
    line = Frontier("at", 5, 10).after(100)
    assert (line.progress, line.horizon, line.newest) == (94, 84, 100)
    assert [line.is_late(t) for t in (94, 95)] == [True, False]
    assert [line.accepts(t) for t in (84, 85)] == [False, True]


def test_an_older_row_moves_nothing_back() -> None:
    assert Frontier("at", 5).after(100).after(3) == Frontier("at", 5).after(100)


def test_under_quarantine_the_horizon_is_the_progress() -> None:
    frontier = input_frontier(retain_us=10, late=Late.QUARANTINE).commit([(100,)])
    assert (progress(frontier), frontier["at"].horizon) == (94, 94)
    assert not frontier["at"].accepts(94)


def test_a_time_without_a_promise_has_no_progress() -> None:
    frontier = first_frontier(StreamDeclaration("s", COLUMNS, promises=(Promise("paid"),)))
    assert [line.attribute for line in frontier.lines] == ["made", "paid"]
    assert [line.attribute for line in frontier.progressing] == ["paid"]
    frontier = frontier.commit([(100, 50), (None, 60)])
    assert (frontier["made"].progress, frontier["made"].newest) == (NEG_INF, 100)
    assert (frontier["paid"].progress, frontier["PAID"].newest) == (59, 60)
    assert frontier.accepts((None, 60))
    assert not frontier.accepts((200, 59))


def test_time_lines_progress_side_by_side() -> None:
    promises = (Promise("made", 1), Promise("paid", 10))
    frontier = first_frontier(StreamDeclaration("s", COLUMNS, promises=promises))
    frontier = frontier.commit([(100, 20), (50, 200)])
    assert [line.progress for line in frontier.lines] == [98, 189]


def test_an_unknown_attribute_is_an_error() -> None:
    with pytest.raises(QueryError, match="not-a-time"):
        input_frontier()["id"]


def test_advance_promises_that_nothing_before_it_comes() -> None:
    frontier = input_frontier().commit([(100,)]).commit([], advance=98)
    assert progress(frontier) == 97
    assert frontier.accepts((98,))
    assert progress(frontier.commit([], advance=50)) == 97
    assert frontier["at"].newest == 100


def test_advance_is_for_all_attributes_that_progress() -> None:
    frontier = first_frontier(StreamDeclaration("s", COLUMNS, promises=(Promise("paid"),)))
    frontier = frontier.commit([], advance=50)
    assert [line.progress for line in frontier.lines] == [NEG_INF, 49]


def test_advance_needs_something_that_progresses() -> None:
    with pytest.raises(QueryError, match="nothing-progresses"):
        first_frontier(StreamDeclaration("s", COLUMNS)).commit([], advance=1)


def test_an_input_can_progress_by_advance_alone() -> None:
    frontier = input_frontier(delay=INF).commit([(100,)])
    assert (progress(frontier), frontier["at"].newest) == (NEG_INF, 100)
    assert progress(frontier.commit([], advance=40)) == 39


def test_advance_to_the_end_of_the_line_ends_an_input() -> None:
    frontier = input_frontier().commit([], advance=INF)
    assert progress(frontier) == INF
    assert not frontier.accepts((INF - 1,))


# Columns of arrival: the clock moves them, and nothing else


def arriving() -> InputFrontier:
    promises = (Promise("made", 5), Promise("paid", arrival=True))
    return first_frontier(StreamDeclaration("s", COLUMNS, promises=promises, retain_us=100))


def test_an_arrival_progresses_with_the_clock_whether_rows_come_or_not() -> None:
    frontier = arriving().read(1000).commit([(90, 1000)])
    assert [line.progress for line in frontier.lines] == [84, 999]
    assert frontier["paid"].horizon == 999
    assert frontier["made"].horizon == -16
    quiet = frontier.read(1500).commit([])
    assert [line.progress for line in quiet.lines] == [84, 1499]
    assert quiet.read(1500).accepts((90, 1500))


def test_an_arrival_does_not_go_back_with_the_clock() -> None:
    frontier = arriving().read(1000).commit([]).read(400).commit([])
    assert frontier.clock == 1000
    assert frontier["paid"].progress == 999


def test_advance_is_not_about_arrivals_unless_nothing_more_comes() -> None:
    frontier = arriving().read(1000).commit([], advance=5000)
    assert [line.progress for line in frontier.lines] == [4999, 999]
    assert arriving().read(1000).commit([], advance=INF)["paid"].progress == INF


def test_a_fact_does_not_settle_by_its_arrival() -> None:
    frontier = arriving().read(1000).commit([(90, 1000)])
    assert not frontier.has_settled((90, 1000))
    assert frontier.has_settled((-16, 1000))


# Idle inputs, with a delay of 5 and IDLE AFTER 20


def test_an_idle_input_follows_the_clock() -> None:
    frontier = input_frontier(idle_after_us=20).read(1000).commit([(990,)])
    assert progress(frontier) == 984
    assert progress(frontier.read(1019).commit([])) == 984
    idle = frontier.read(1020).commit([])
    assert progress(idle) == 1020 - 20 - 5 - 1
    assert progress(idle.read(1100).commit([])) == 1100 - 20 - 5 - 1
    assert idle["at"].newest == 990


def test_a_row_wakes_an_idle_input_up() -> None:
    idle = input_frontier(idle_after_us=20).read(1000).commit([(990,)]).read(1050).commit([])
    awake = idle.read(1060).commit([(1055,)])
    assert progress(awake) == 1049
    assert progress(awake.read(1079).commit([])) == 1049


def test_silence_begins_with_the_first_reading_of_the_clock() -> None:
    silent = input_frontier(idle_after_us=20).commit([]).read(1000).commit([])
    assert progress(silent) == NEG_INF
    assert progress(silent.read(1020).commit([])) == 994


def test_the_clock_does_not_go_back() -> None:
    assert input_frontier().read(10).read(5).clock == 10
    assert input_frontier().read(10).read(None).clock == 10


# Several feeders, and now


def test_a_stream_fed_by_several_queries_progresses_with_the_slowest() -> None:
    fast = input_frontier().commit([(100,)])
    slow = input_frontier().commit([(50,)])
    assert progress(slowest([fast, slow])) == 44
    assert slowest([fast, slow])["at"].newest == 100
    assert progress(slowest([fast])) == 94


def test_now_is_the_largest_time_and_progress_of_the_inputs() -> None:
    left = input_frontier().commit([(100,)])
    right = input_frontier().commit([(20,)], advance=150)
    assert now([left["at"]]) == 100
    assert now([left["at"], right["at"]]) == 149
    assert now([left["at"], right["at"]], clock=500) == 500
    assert now([left["at"]], clock=7) == 100


def test_now_never_falls() -> None:
    assert now([input_frontier()["at"]]) == NEG_INF
    assert now([input_frontier().commit([(100,)])["at"]], before=120) == 120


def test_an_input_that_has_ended_does_not_end_the_others() -> None:
    ended = input_frontier().commit([(30,)], advance=INF)
    going_on = input_frontier().commit([(100,)])
    assert now([ended["at"], going_on["at"]]) == 100
    assert now([ended["at"]]) == INF
    assert now([]) == NEG_INF


def test_a_static_table_has_no_time() -> None:
    assert first_frontier(TableDeclaration("t", COLUMNS)).lines == ()
