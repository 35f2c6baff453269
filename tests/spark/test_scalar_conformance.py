"""Spark is the authority on scalar expressions: values, types and errors agree with it.

Each expression of the tables is printed, evaluated by Spark SQL, and compared with the reference.
Which operands an operator, a cast or a function takes, and the type that it then has, stands in a
record of Spark's answers (`scalars.questions`); here Spark is asked again.
"""

import math
import random
import re
import sys

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from ebbtide.algebra.expression import CeilTo, FloorTo
from ebbtide.core.time import MINUTE
from ebbtide.reference.scalar import evaluate
from scalars import ROW, Case, Fails, T, col
from scalars.questions import REFUSED, recorded, type_name
from scalars.spark import make_view, type_or_refusal, types, values
from scalars.tables import SHARED

pytestmark = pytest.mark.jvm

# The words by which Spark names what has a code here.
CONDITIONS = {
    "overflow": "ARITHMETIC_OVERFLOW BINARY_ARITHMETIC_OVERFLOW CAST_OVERFLOW DATETIME_OVERFLOW "
    "NUMERIC_VALUE_OUT_OF_RANGE",
    "division-by-zero": "DIVIDE_BY_ZERO REMAINDER_BY_ZERO INTERVAL_DIVIDED_BY_ZERO",
    "bad-cast": "CAST_INVALID_INPUT CANNOT_PARSE_TIMESTAMP INVALID_INTERVAL_FORMAT",
    "bad-argument": "INVALID_PARAMETER_VALUE INVALID_FORMAT INVALID_DATETIME_PATTERN "
    "DATETIME_FIELD_OUT_OF_BOUNDS INVALID_FRACTION_OF_SECOND PatternSyntaxException Rounding",
    "out-of-bounds": "INVALID_ARRAY_INDEX INVALID_ARRAY_INDEX_IN_ELEMENT_AT INVALID_INDEX_OF_ZERO",
}

SOUND = [case for case in SHARED if not isinstance(case.expected, Fails)]
FAILING = [case for case in SHARED if isinstance(case.expected, Fails)]
TAKEN = [text for text, answer in recorded().items() if answer != REFUSED]
VALUES_AT_ONCE, TYPES_AT_ONCE, REFUSALS = 60, 300, 40


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> SparkSession:
    """A session with the view `t`."""
    make_view(spark)
    return spark


def agree(case: Case, theirs: object) -> bool:
    """Whether the reference has the value that Spark has."""
    ours = evaluate(case.expression, T, ROW)
    if case.near and isinstance(theirs, float) and not math.isnan(theirs):
        return ours == pytest.approx(theirs, rel=1e-15)
    return _same(ours, theirs)


def _same(ours: object, theirs: object) -> bool:
    if isinstance(ours, float) and isinstance(theirs, float):
        return ours == theirs or (math.isnan(ours) and math.isnan(theirs))
    if isinstance(ours, tuple) and isinstance(theirs, tuple):
        return len(ours) == len(theirs) and all(map(_same, ours, theirs))
    return type(ours) is type(theirs) and str(ours) == str(theirs)


@pytest.mark.parametrize("start", range(0, len(SOUND), VALUES_AT_ONCE))
def test_values_and_types(session: SparkSession, start: int) -> None:
    batch = SOUND[start : start + VALUES_AT_ONCE]
    columns = ", ".join(f"{case} AS v{place}" for place, case in enumerate(batch))
    frame = session.sql(f"SELECT {columns} FROM t")
    found = zip(batch, values(frame), frame.schema.fields, strict=True)
    differing = [
        f"{case} is {theirs!r}, {field.dataType.simpleString()}"
        for case, theirs, field in found
        if not agree(case, theirs)
        or type_name(field.dataType.simpleString()) != type_name(case.expression.type.sql)
    ]
    assert differing == []


@pytest.mark.parametrize("case", FAILING, ids=str)
def test_errors(session: SparkSession, case: Case) -> None:
    with pytest.raises((PySparkException, Py4JJavaError)) as caught:
        values(session.sql(f"SELECT {case} FROM t"))
    words = set(re.findall(r"\w+", str(caught.value)))
    assert words & set(CONDITIONS[case.expected.code].split()), caught.value


@pytest.mark.parametrize("grid", [MINUTE, 7 * MINUTE + 1])
def test_rounding_to_a_grid(session: SparkSession, grid: int) -> None:
    (floor,) = values(session.sql(f"SELECT unix_micros(ts) - pmod(unix_micros(ts), {grid}) FROM t"))
    assert evaluate(FloorTo(col("ts"), grid), T, ROW) == floor
    assert evaluate(CeilTo(col("ts"), grid), T, ROW) == floor + grid


@pytest.mark.parametrize("start", range(0, len(TAKEN), TYPES_AT_ONCE))
def test_the_record_of_types(session: SparkSession, start: int) -> None:
    batch = TAKEN[start : start + TYPES_AT_ONCE]
    answers = recorded()
    found = zip(batch, types(session, batch), strict=True)
    assert [(text, type_) for text, type_ in found if answers[text] != type_] == []


def test_the_record_of_refusals(session: SparkSession) -> None:
    """A refusal takes a query each, so only some of them are asked for, others every time."""
    refused = [text for text, answer in recorded().items() if answer == REFUSED]
    seed = random.randrange(sys.maxsize)
    asked = random.Random(seed).sample(refused, REFUSALS)
    answers = {text: type_or_refusal(session, text) for text in asked}
    assert {text for text, answer in answers.items() if answer != REFUSED} == set(), f"seed {seed}"
