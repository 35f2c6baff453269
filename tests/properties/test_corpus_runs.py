"""Every query of the corpus, run row by row and held to the law and to its keep rules.

The queries of a script run together, several in a program, over one history: rows of all sources,
some out of order, some deleted and replaced, while the time goes on by seconds, minutes, hours and
days, so that whatever a rule waits for comes to pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from decimal import Decimal
from random import Random
from typing import Any

import pytest
from tests.histories import Fed, declarations_of, is_static, row_by_row, without_refused
from tests.law import analysed, by_itself, held_to

from corpus import NEXMARK_SCRIPT, statements
from ebbtide.algebra.relation import Relation
from ebbtide.algebra.window import Rstream
from ebbtide.compile.lowering import lower
from ebbtide.config import Config
from ebbtide.core.admission import Arrival, Op, allowed_ops
from ebbtide.core.declaration import Declaration
from ebbtide.core.schema import Column
from ebbtide.core.time import DAY, HOUR, MINUTE, SECOND, Instant
from ebbtide.core.tree import find
from ebbtide.core.types import DecimalType, DoubleType, IntegerType, StringType, TimestampType
from ebbtide.errors import EvaluationError, UnsupportedError
from ebbtide.sql import parse
from ebbtide.sql.binder import bind
from ebbtide.sql.bound import BoundQuery, Declared
from ebbtide.sql.catalog import Catalog

STEPS, ROWS = {"quick": (2, 1), "ci": (2, 1), "long": (6, 2)}[Config.from_environment().profile]
TOGETHER = 25
START = 10_000 * DAY
AWAY = (0, SECOND, 7 * SECOND, MINUTE, HOUR)
ON = (SECOND, 20 * SECOND, 10 * MINUTE, 2 * HOUR, 3 * DAY)

SCRIPTS = {
    "statements": ("schema.sql", "statements.sql"),
    "papers": ("papers.sql",),
    "plain": ("plain.sql",),
    "nexmark": NEXMARK_SCRIPT,
}


def queries(script: Sequence[str]) -> Iterator[Relation]:
    """The plans of a script's queries that run."""
    catalog = Catalog()
    for text in statements(*script):
        match bind(parse(text)[0], catalog):
            case Declared(catalog=later):
                catalog = later
            case BoundQuery() as query if is_built(query.plan):
                yield query.plan
            case _:
                pass


def is_built(plan: Relation) -> bool:
    """Whether the engine runs a plan."""
    try:
        lower({"q": analysed(plan)})
    except UnsupportedError:
        return False
    return True


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_query_keeps_what_its_rules_keep(name: str) -> None:
    plans = list(dict.fromkeys(queries(SCRIPTS[name])))
    assert plans
    plans.sort(key=is_read_at_times)
    for first in range(0, len(plans), TOGETHER):
        judge(plans[first : first + TOGETHER])


def is_read_at_times(plan: Relation) -> bool:
    """Whether a plan has as many rows as periods pass."""
    return any(find(plan, Rstream))


def judge(plans: list[Relation]) -> None:
    """Holds a program to the law and to its rules."""
    steps = story(Random(1), plans)
    try:
        held_to(plans, steps, shards=1)
    except EvaluationError:
        for plan in plans:
            with_value(plan, steps)
    except AssertionError as error:
        error.add_note(by_itself(plans, steps, shards=1))
        raise


def with_value(plan: Relation, steps: list[dict[str, Fed]]) -> None:
    """The same for one plan, up to the step at which it has no value."""
    with suppress(EvaluationError):
        held_to([plan], steps, shards=1)


def story(random: Random, plans: Sequence[Relation]) -> list[dict[str, Fed]]:
    """What arrives, a row in a step, and at last what is promised."""
    declarations = list({d.name: d for plan in plans for d in declarations_of(plan)}.values())
    short = any(map(is_read_at_times, plans))
    on, far = (ON[:3], HOUR) if short else (ON, 40 * DAY)
    at, place, steps = START, 0, []
    for number in range(STEPS):
        fed = {}
        for declaration in declarations:
            if is_static(declaration) and number:
                continue
            arrivals = tuple(arrived(random, declaration, at, place + i) for i in range(ROWS))
            place += ROWS
            fed[declaration.name] = Fed(arrivals)
        steps.append(fed)
        at += random.choice(on)
    steps.append({d.name: Fed((), at + far) for d in declarations if d.promises})
    return without_refused(row_by_row(steps, declarations), declarations)


def arrived(random: Random, declaration: Declaration, at: Instant, place: int) -> Arrival:
    """A row, and mostly one that is new."""
    ops = sorted(allowed_ops(declaration), key=lambda op: op.value)
    usual = [op for op in ops if op in (Op.INSERT, Op.UPSERT)]
    row = tuple(value(random, column, at) for column in declaration.schema)
    return Arrival(random.choice([*ops, *usual * 3]), row, place)


def value(random: Random, column: Column, at: Instant) -> Any:
    """A value of a column, one of a few; of types that have no order none at all."""
    if column.nullable and random.random() < 0.1:
        return None
    match column.type:
        case TimestampType():
            return at + random.choice(AWAY)
        case StringType():
            return random.choice(("a", "b", "OR", "apple", "cpc"))
        case DoubleType():
            return float(random.randint(0, 3))
        case DecimalType(scale=scale):
            return Decimal(random.randint(0, 300)).scaleb(-scale)
        case IntegerType():
            return random.randint(0, 3)
        case _:
            return None
