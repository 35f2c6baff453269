"""Verdicts, and refusals with hints that work when they are typed."""

import pytest

from analysed import World, rules
from ebbtide.algebra.expression import Arithmetic, Call, FloorTo, Literal, literal
from ebbtide.analysis import Size, When
from ebbtide.core.schema import Schema
from ebbtide.core.time import DAY
from ebbtide.core.types import INTERVAL, TIMESTAMP
from ebbtide.errors import TemporalError
from ebbtide.reference.scalar import evaluate

WORLD = World(
    """
    CREATE STREAM orders (id BIGINT, total DOUBLE, placed_at TIMESTAMP NOT NULL,
      PROGRESS FOR placed_at AS placed_at);
    CREATE STREAM payments (order_id BIGINT, paid_at TIMESTAMP NOT NULL,
      PROGRESS FOR paid_at AS paid_at - INTERVAL 5 SECONDS) RETAIN 1 HOUR;
    CREATE STREAM silent (id BIGINT, at TIMESTAMP);
    CREATE TABLE customers (id BIGINT NOT NULL, city STRING, since TIMESTAMP NOT NULL, op STRING,
      PRIMARY KEY (id), PROGRESS FOR since AS since) TIME since OP op RETAIN 10 MINUTES;
    """
)


def state(sql: str) -> str:
    return str(WORLD.analysed(sql).verdict.state.size)


def test_an_unbounded_join_is_refused_as_the_style_says() -> None:
    with pytest.raises(TemporalError) as refused:
        WORLD.checked("SELECT o.id FROM orders o JOIN payments p ON o.id = p.order_id")
    assert str(refused.value) == (
        'error[unbounded-state]: join of "orders" and "payments" would keep every row for ever\n'
        "  SELECT o.id FROM orders o JOIN payments p ON o.id = p.order_id\n"
        "                            ^^^^\n"
        "detail: no condition bounds p.paid_at by o.placed_at\n"
        "hint: add AND p.paid_at BETWEEN o.placed_at AND o.placed_at + INTERVAL 1 HOUR"
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("SELECT o.id FROM orders o JOIN payments p ON o.id = p.order_id", ""),
        ("SELECT o.id FROM orders o LEFT JOIN payments p ON o.id = p.order_id", ""),
        ("SELECT o.id FROM orders o LEFT SEMI JOIN payments p ON o.id = p.order_id", ""),
        (
            "SELECT o.id, o.placed_at FROM orders o LEFT ANTI JOIN payments p ON o.id = p.order_id",
            " EMIT FINAL",
        ),
        ("SELECT o.id FROM orders o, payments p", ""),
    ],
)
def test_the_hint_for_a_join_works_when_it_is_typed(before: str, after: str) -> None:
    with pytest.raises(TemporalError) as refused:
        WORLD.checked(before + after)
    hint = refused.value.hint
    assert hint is not None
    assert hint.startswith("add ")
    WORLD.checked(before + " " + hint.removeprefix("add ") + after)


@pytest.mark.parametrize(
    ("refused", "detail", "hint", "typed"),
    [
        (
            "SELECT id, MEDIAN(total) AS m FROM orders GROUP BY id",
            "no condition bounds orders.placed_at within a group",
            "add FLOOR(orders.placed_at TO 1 HOUR) to GROUP BY",
            "SELECT id, MEDIAN(total) AS m FROM orders "
            "GROUP BY id, FLOOR(orders.placed_at TO 1 HOUR)",
        ),
        (
            "SELECT MEDIAN(total) AS m FROM orders",
            "no condition bounds orders.placed_at within a group",
            "add GROUP BY FLOOR(orders.placed_at TO 1 HOUR)",
            "SELECT MEDIAN(total) AS m FROM orders GROUP BY FLOOR(orders.placed_at TO 1 HOUR)",
        ),
        (
            "SELECT RANK() OVER (ORDER BY total) AS r FROM orders",
            "no condition bounds orders.placed_at within a partition",
            "add PARTITION BY FLOOR(orders.placed_at TO 1 HOUR)",
            "SELECT RANK() OVER (PARTITION BY FLOOR(orders.placed_at TO 1 HOUR) ORDER BY total) "
            "AS r FROM orders",
        ),
        (
            "SELECT SUM(total) OVER (PARTITION BY id ORDER BY total) AS s FROM orders",
            "no condition bounds orders.placed_at within a partition",
            "add FLOOR(orders.placed_at TO 1 HOUR) to PARTITION BY",
            "SELECT SUM(total) OVER (PARTITION BY id, FLOOR(orders.placed_at TO 1 HOUR) "
            "ORDER BY total) AS s FROM orders",
        ),
        (
            "SELECT MEDIAN(total) OVER (ORDER BY placed_at) AS m FROM orders",
            "no condition bounds orders.placed_at within a partition",
            "use a frame RANGE BETWEEN INTERVAL 1 HOUR PRECEDING AND CURRENT ROW",
            "SELECT MEDIAN(total) OVER (ORDER BY placed_at "
            "RANGE BETWEEN INTERVAL 1 HOUR PRECEDING AND CURRENT ROW) AS m FROM orders",
        ),
    ],
)
def test_an_operator_on_one_input_says_among_which_rows_a_bound_is_missing(
    refused: str, detail: str, hint: str, typed: str
) -> None:
    with pytest.raises(TemporalError) as error:
        WORLD.checked(refused)
    assert (error.value.detail, error.value.hint) == (detail, hint)
    assert WORLD.checked(typed).verdict.state.size is Size.WINDOW


@pytest.mark.parametrize(
    ("written", "instead"),
    [
        ("DATE_TRUNC('day', orders.placed_at)", "FLOOR(orders.placed_at TO 1 DAY)"),
        ("DATE_TRUNC('Minute', orders.placed_at)", "FLOOR(orders.placed_at TO 1 MINUTE)"),
        ("CAST(orders.placed_at AS DATE)", "FLOOR(orders.placed_at TO 1 DAY)"),
        (
            "DATE_TRUNC('week', orders.placed_at)",
            "FLOOR(orders.placed_at - INTERVAL 4 DAYS TO 7 DAYS) + INTERVAL 4 DAYS",
        ),
    ],
)
@pytest.mark.parametrize("rest", ["GROUP BY 1", "GROUP BY 1 EMIT FINAL"])
def test_a_group_of_the_calendar_becomes_one_of_a_grid(
    written: str, instead: str, rest: str
) -> None:
    query = f"SELECT {{}} AS t, COUNT(DISTINCT id) AS n FROM orders {rest}"
    with pytest.raises(TemporalError) as refused:
        WORLD.checked(query.format(written))
    assert refused.value.hint == f"write {instead} in place of {written}"
    zone = "; the calendar depends on the zone, and FLOOR counts in UTC"
    assert (refused.value.detail or "").endswith(zone) is (rest == "GROUP BY 1")
    assert WORLD.checked(query.format(instead)).verdict.state.size is Size.WINDOW


@pytest.mark.parametrize("day", range(1, 15))
def test_a_week_of_the_grid_is_one_of_the_calendar(day: int) -> None:
    at, monday = Literal(day * DAY - 1, TIMESTAMP), Literal(4 * DAY, INTERVAL)
    grid = Arithmetic("+", FloorTo(Arithmetic("-", at, monday), 7 * DAY), monday)
    week = Call("DATE_TRUNC", (literal("week"), at))
    assert evaluate(grid, Schema(()), ()) == evaluate(week, Schema(()), ())


def test_a_group_of_months_has_no_grid_and_no_hint_that_splits_it() -> None:
    query = "SELECT DATE_TRUNC('month', placed_at) AS m, COUNT(DISTINCT id) AS n FROM orders "
    with pytest.raises(TemporalError) as refused:
        WORLD.checked(query + "GROUP BY 1")
    assert refused.value.hint == "ALLOW UNBOUNDED STATE"
    WORLD.checked(query + "GROUP BY 1 ALLOW UNBOUNDED STATE")


SESSIONS = """
    SELECT id, window_end, COUNT(*) AS n FROM SESSION(orders PARTITION BY id, placed_at, 1 HOUR)
    GROUP BY id, window_start, window_end
"""


@pytest.mark.parametrize(
    ("query", "limit"),
    [
        (f"SELECT s.id FROM ({SESSIONS}) AS s", "ORDER BY n DESC LIMIT 3"),
        (f"SELECT s.id FROM ({SESSIONS}) AS s", "ORDER BY n + 1 NULLS LAST, s.id LIMIT 3 OFFSET 2"),
        (f"SELECT s.id FROM ({SESSIONS}) AS s", "LIMIT 3"),
        (SESSIONS, "ORDER BY n DESC LIMIT 3"),
    ],
)
def test_the_hint_for_a_limit_stands_in_its_place(query: str, limit: str) -> None:
    with pytest.raises(TemporalError) as refused:
        WORLD.checked(f"{query} {limit}")
    typed, _, place = (refused.value.hint or "").removeprefix("write ").partition(" in place of ")
    assert place == ("ORDER BY ... LIMIT" if limit.startswith("ORDER") else "LIMIT")
    assert WORLD.checked(f"{query} {typed}").verdict.state.size is Size.WINDOW


def test_allowing_unbounded_state_is_enough() -> None:
    sql = "SELECT o.id FROM orders o JOIN payments p ON o.id = p.order_id ALLOW UNBOUNDED STATE"
    assert WORLD.checked(sql).verdict.state.size is Size.UNBOUNDED


def test_an_answer_that_is_never_final_is_refused_only_under_final() -> None:
    sql = "SELECT id, COUNT(*) AS n FROM orders GROUP BY id"
    assert WORLD.checked(sql).verdict.finality.when is When.NEVER
    with pytest.raises(TemporalError) as refused:
        WORLD.checked(f"{sql} EMIT FINAL")
    assert str(refused.value) == (
        'error[never-final]: rows of "orders" are never final\n'
        "  SELECT id, COUNT(*) AS n FROM orders GROUP BY id EMIT FINAL\n"
        "                                       ^^^^^^^^^^^\n"
        "detail: nothing bounds orders.placed_at by a time of the result, which has none\n"
        "hint: GROUP BY FLOOR(orders.placed_at TO 1 HOUR) too, and select it"
    )
    WORLD.checked(
        "SELECT id, FLOOR(orders.placed_at TO 1 HOUR) AS hour, COUNT(*) AS n FROM orders "
        "GROUP BY id, FLOOR(orders.placed_at TO 1 HOUR) EMIT FINAL"
    )


def test_a_projection_without_the_time_passes_on_what_is_final_below_it() -> None:
    query = WORLD.checked(
        "SELECT o.id FROM orders o WHERE NOT EXISTS (SELECT 1 FROM payments p WHERE "
        "p.order_id = o.id AND p.paid_at BETWEEN o.placed_at AND o.placed_at + INTERVAL 2 MINUTES) "
        "EMIT FINAL"
    )
    assert query.verdict.finality.depth == 1
    assert str(query.verdict.finality) == (
        "when o.placed_at <= min(progress(orders.placed_at), progress(payments.paid_at) - 2 min)"
    )
    assert [str(store.rule) for store in query.held] == [
        "keep while o.placed_at > min(progress(orders.placed_at), "
        "progress(payments.paid_at) - 2 min)"
    ]


def test_without_a_promise_nothing_is_final_and_the_hint_is_to_make_one() -> None:
    with pytest.raises(TemporalError) as refused:
        WORLD.checked("SELECT id, at, COUNT(*) AS n FROM silent GROUP BY id, at EMIT FINAL")
    assert refused.value.code == "never-final"
    assert refused.value.hint == (
        "declare PROGRESS FOR at AS at - INTERVAL 5 SECONDS in CREATE STREAM silent"
    )


@pytest.mark.parametrize(
    ("sql", "size"),
    [
        ("SELECT id FROM orders WHERE total > 5", "none"),
        ("SELECT id, COUNT(*) AS n FROM orders GROUP BY id", "per key"),
        ("SELECT id, SUM(total) AS s FROM orders [RANGE 1 HOUR] GROUP BY id", "per window"),
        ("SELECT id, SUM(total) AS s FROM orders [UNBOUNDED] GROUP BY id", "per key"),
        ("SELECT id, MEDIAN(total) AS m FROM orders GROUP BY id", "unbounded"),
        ("SELECT DISTINCT id FROM orders", "per key"),
        ("SELECT id, SUM(total) OVER (PARTITION BY id ORDER BY placed_at) AS s FROM orders",
         "per key"),
        ("SELECT id, LAG(total) OVER (PARTITION BY id ORDER BY placed_at) AS s FROM orders",
         "per key"),
        ("SELECT id, total FROM orders [PARTITION BY id ROWS 1]", "per key"),
        ("SELECT o.id FROM orders [RANGE 1 HOUR] o JOIN customers c ON o.id = c.id",
         "as much as a table holds"),
    ],
)  # fmt: skip
def test_how_much_is_stored(sql: str, size: str) -> None:
    assert state(sql) == size


FOLDED = (
    "COUNT(*)", "SUM(id)", "SUM(total)", "AVG(total)", "STDDEV(total)", "VAR_POP(id)",
    "TRY_SUM(id)", "TRY_AVG(total)",
    "MIN(total)", "MAX(total)", "MAX(DISTINCT total)", "BOOL_AND(total > 5)", "BOOL_OR(total > 5)",
    "FIRST(total)", "LAST(total)", "ARG_MIN(id, total)", "ARG_MAX(id, total)",
)  # fmt: skip
UNFOLDED = (
    "MEDIAN(total)", "PERCENTILE(total, 0.3)", "COLLECT(total)", "COUNT(DISTINCT total)",
    "MODE(total)",
    "SUM(DISTINCT total)", "LAST(DISTINCT total)", "VAR_SAMP(CAST(id AS DECIMAL(30, 2)))",
    "MAX(total) AS m, MEDIAN(total)",
)  # fmt: skip
CHOSEN = FOLDED[8:]


@pytest.mark.parametrize("calls", FOLDED)
def test_what_folds_is_one_for_each_key(calls: str) -> None:
    sql = "SELECT id, {} AS a FROM orders [UNBOUNDED] GROUP BY id"
    assert state(sql.format(calls)) == "per key"
    assert state(sql.format(f"{calls} AS b, MAX(total)")) == "per key"


@pytest.mark.parametrize("calls", UNFOLDED)
def test_what_does_not_fold_is_every_row(calls: str) -> None:
    sql = f"SELECT id, {calls} AS a FROM orders [UNBOUNDED] GROUP BY id"
    with pytest.raises(TemporalError, match="unbounded-state") as refused:
        WORLD.checked(sql)
    assert refused.value.hint == (
        "use a window of time, such as [RANGE 1 HOUR], in place of [UNBOUNDED]"
    )
    WORLD.checked(sql.replace("[UNBOUNDED]", "[RANGE 1 HOUR]"))


@pytest.mark.parametrize("calls", FOLDED)
def test_where_rows_can_be_taken_back_only_sums_fold(calls: str) -> None:
    world = World(
        """
        CREATE STREAM orders (id BIGINT, total DOUBLE, placed_at TIMESTAMP NOT NULL, op STRING,
          PRIMARY KEY (id), PROGRESS FOR placed_at AS placed_at) OP op;
        """
    )
    query = world.analysed(f"SELECT {calls} AS a FROM orders [UNBOUNDED]")
    assert (query.verdict.state.size is Size.UNBOUNDED) == (calls in CHOSEN)


def test_what_never_ends_and_may_change_is_not_held_for_ever() -> None:
    world = World(
        """
        CREATE STREAM orders (id BIGINT, placed_at TIMESTAMP NOT NULL, op STRING,
          PRIMARY KEY (id), PROGRESS FOR placed_at AS placed_at) OP op;
        """
    )
    sql = "SELECT id FROM orders [UNBOUNDED]"
    with pytest.raises(TemporalError, match="unbounded-state") as refused:
        world.checked(f"{sql} EMIT FINAL")
    assert refused.value.detail == "they never end, so they are never final"
    assert refused.value.hint == "leave out EMIT FINAL"
    world.checked(sql)


QUIET = World(
    """
    CREATE STREAM clicks (id BIGINT, at TIMESTAMP NOT NULL, PROGRESS FOR at AS at);
    CREATE STREAM silent (id BIGINT, at TIMESTAMP NOT NULL);
    CREATE STREAM keyed (id BIGINT, at TIMESTAMP NOT NULL, PRIMARY KEY (id));
    CREATE TABLE prices (id BIGINT NOT NULL, price DOUBLE, since TIMESTAMP NOT NULL, op STRING,
      PRIMARY KEY (id)) TIME since OP op;
    CREATE TABLE kinds (id BIGINT NOT NULL, kind STRING, PRIMARY KEY (id));
    """
)
PRICES = "declare PROGRESS FOR since AS since - INTERVAL 5 SECONDS in CREATE TABLE prices"
SILENT = "declare PROGRESS FOR at AS at - INTERVAL 5 SECONDS in CREATE STREAM silent"
JOIN = "SELECT c.id, p.price FROM clicks [RANGE 10 MINUTES] c {} JOIN prices p ON c.id = p.id"


@pytest.mark.parametrize(
    ("sql", "message", "detail", "hint"),
    [
        (JOIN.format(""), 'join of "clicks" and "prices"',
         'rows of "clicks" wait for "prices", which promises no progress', PRICES),
        (JOIN.format("LEFT"), 'LEFT JOIN of "clicks" and "prices"',
         'rows of "clicks" wait for "prices", which promises no progress', PRICES),
        ("SELECT id, COUNT(*) AS n FROM silent [RANGE 1 HOUR ON at] GROUP BY id",
         'grouping of "silent"', 'rows of "silent" wait for "silent", which promises no progress',
         SILENT),
        ("SELECT DISTINCT id FROM silent [UNBOUNDED ON at]", 'DISTINCT on "silent"',
         'rows of "silent" wait for "silent", which promises no progress', SILENT),
        ("SELECT id FROM silent [ROWS 5 ON at]", 'window on "silent"',
         'rows of "silent" wait for "silent", which promises no progress', SILENT),
        ("SELECT id FROM prices", 'admission of "prices"',
         '"prices" has a key and promises no progress', PRICES),
        ("SELECT id FROM keyed WHERE id > 5", 'admission of "keyed"',
         '"keyed" has a key and promises no progress', SILENT.replace("silent", "keyed")),
    ],
)  # fmt: skip
def test_what_is_kept_always_is_unbounded(sql: str, message: str, detail: str, hint: str) -> None:
    with pytest.raises(TemporalError) as refused:
        QUIET.checked(sql)
    assert refused.value.message == f"{message} would keep every row for ever"
    assert (refused.value.detail, refused.value.hint) == (detail, hint)
    QUIET.checked(f"{sql} ALLOW UNBOUNDED STATE")


def test_the_promise_that_is_asked_for_is_enough() -> None:
    world = World(
        """
        CREATE STREAM clicks (id BIGINT, at TIMESTAMP NOT NULL, PROGRESS FOR at AS at);
        CREATE TABLE prices (id BIGINT NOT NULL, price DOUBLE, since TIMESTAMP NOT NULL, op STRING,
          PRIMARY KEY (id), PROGRESS FOR since AS since - INTERVAL 5 SECONDS) TIME since OP op;
        """
    )
    query = world.checked(JOIN.format(""))
    assert str(query.verdict.state) == (
        'as much as a table holds: join of "clicks" and "prices" keeps rows of "prices"'
    )


def test_what_never_changes_waits_for_nothing() -> None:
    query = QUIET.checked(
        "SELECT c.id, k.kind FROM clicks [RANGE 10 MINUTES] c JOIN kinds k ON c.id = k.id"
    )
    assert query.verdict.state.size is Size.TABLE
    assert query.verdict.waiting == ()


def test_admission_is_part_of_the_verdict() -> None:
    query = WORLD.checked("SELECT id FROM customers WHERE city = 'Bern'")
    assert str(query.verdict.state) == (
        'as much as a table holds: admission of "customers" keeps operations, and the last version '
        "of each key"
    )
    (source,) = (node for node in query.nodes() if not node.inputs)
    assert [str(store.rule) for store in source.stores] == [
        "keep while since > progress(customers.since) - 10 min"
    ]


def test_who_waits_for_a_quiet_source_is_said_and_the_hint_works() -> None:
    declared = """
        CREATE STREAM orders (id BIGINT, placed_at TIMESTAMP NOT NULL,
          PROGRESS FOR placed_at AS placed_at);
        CREATE TABLE customers (id BIGINT NOT NULL, since TIMESTAMP NOT NULL, op STRING,
          PRIMARY KEY (id), PROGRESS FOR since AS since) TIME since OP op {};
        """
    sql = "SELECT o.id FROM orders [RANGE 1 HOUR] o JOIN customers c ON o.id = c.id"
    first, second = World(declared.format("")).checked(sql).verdict.waiting
    assert str(first) == 'rows of "orders" are kept while "customers" is quiet'
    assert first.hint == "declare IDLE AFTER 5 MINUTES in CREATE TABLE customers"
    assert str(second) == 'rows of "customers" are kept while "orders" is quiet'
    typed = first.hint.removeprefix("declare ").partition(" in ")[0]
    assert World(declared.format(typed)).checked(sql).verdict.waiting == (second,)


def test_retention_moves_the_point_of_forgetting_not_that_of_being_final() -> None:
    query = WORLD.analysed(
        "SELECT FLOOR(paid_at TO 1 MINUTE) AS minute, COUNT(*) AS n FROM payments "
        "GROUP BY FLOOR(paid_at TO 1 MINUTE)"
    )
    assert str(query.verdict.finality) == (
        "when minute <= progress(payments.paid_at) - 1 min + 1 us"
    )
    assert rules(query) == [
        "per window: keep while payments.paid_at > progress(payments.paid_at) - 61 min + 1 us"
    ]


def test_a_table_that_takes_corrections_is_final_when_they_cannot_reach_it() -> None:
    query = WORLD.analysed("SELECT city, COUNT(*) AS n FROM customers GROUP BY city")
    assert str(query.verdict.finality) == ("when to - 1 us <= progress(customers.since) - 10 min")


def test_a_view_has_to_keep_its_promises() -> None:
    world = World(
        """
        CREATE STREAM s (a TIMESTAMP NOT NULL, b TIMESTAMP NOT NULL, PROGRESS FOR a AS a);
        CREATE VIEW good (a, b, PROGRESS FOR a) AS SELECT a, b FROM s;
        CREATE VIEW bad (a, b, PROGRESS FOR b) AS SELECT a, b FROM s;
        """
    )
    assert world.analysed("SELECT a FROM good").verdict.finality.when is When.AT_ONCE
    with pytest.raises(TemporalError) as refused:
        world.analysed("SELECT a FROM bad")
    assert refused.value.code == "invalid-view"
    assert refused.value.detail == "what progresses is a"
    assert refused.value.hint == "PROGRESS FOR a"


def test_conditions_above_a_join_count_as_the_joins_own() -> None:
    inner = "SELECT o.placed_at AS a, p.paid_at AS b FROM orders o, payments p"
    query = WORLD.checked(f"SELECT a FROM ({inner}) AS q WHERE b BETWEEN a AND a + INTERVAL 1 HOUR")
    assert state_sizes(query) == ["per window", "per window"]


def state_sizes(query) -> list[str]:
    return [str(store.size) for node in query.nodes() for store in node.stores]


AS_OF = """
    SELECT o.id FROM orders o JOIN customers FOR SYSTEM_TIME AS OF o.placed_at AS c ON c.id = o.id
    WHERE NOT EXISTS (SELECT 1 FROM payments p WHERE p.order_id = o.id{})
"""


@pytest.mark.parametrize("emit", ["", " EMIT FINAL"])
def test_hints_about_facts_with_a_table_name_the_facts(emit: str) -> None:
    with pytest.raises(TemporalError) as refused:
        WORLD.checked(AS_OF.format("") + emit)
    added = "AND p.paid_at BETWEEN o.placed_at AND o.placed_at + INTERVAL 1 HOUR"
    assert refused.value.hint == f"add {added}"
    verdict = WORLD.checked(AS_OF.format(f" {added}") + emit).verdict
    assert str(verdict.finality).startswith("when o.placed_at <= ")


def test_what_is_not_bounded_is_said_once() -> None:
    with pytest.raises(TemporalError) as refused:
        WORLD.checked(f"{AS_OF.format('')} EMIT FINAL")
    assert refused.value.detail == (
        "nothing bounds orders.placed_at, nor customers.since, nor payments.paid_at by a time of "
        "the result, which has none"
    )
