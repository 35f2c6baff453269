"""The conformance tables, evaluated on columns: values and errors as they are expected.

The same tables hold the reference to its values and both to Spark, so the three agree.
"""

import pickle

import pyarrow as pa
import pytest

from ebbtide.algebra.expression import Literal, Ref
from ebbtide.algebra.functions import FUNCTIONS
from ebbtide.columnar import Columnar
from ebbtide.columnar.arrays import array_of, python
from ebbtide.columnar.functions import IMPLEMENTATIONS
from ebbtide.core.schema import Column, Schema
from ebbtide.core.tree import rewrite
from ebbtide.errors import EvaluationError
from ebbtide.state.types import arrow_type
from scalars import ROW, Case, Fails, T, same
from scalars.tables import ALL

COPIES = 3


def table(*rows):
    """A table of rows."""
    columns = [
        array_of([row[place] for row in rows], column.type) for place, column in enumerate(T)
    ]
    return pa.table(columns, names=list(T.names))


@pytest.mark.parametrize("case", ALL, ids=str)
def test_value(case: Case) -> None:
    columnar = Columnar(case.expression, T)
    given = table(*[ROW] * COPIES)
    evaluated = columnar.evaluate(given)
    assert evaluated.values.type == arrow_type(case.expression.type)
    assert len(evaluated.values) == COPIES
    if isinstance(case.expected, Fails):
        assert evaluated.values.null_count == COPIES
        assert evaluated.failures is not None
        assert {evaluated.failures.at(row).code for row in range(COPIES)} == {case.expected.code}
        with pytest.raises(EvaluationError) as caught:
            columnar(given)
        assert caught.value.code == case.expected.code
        return
    assert evaluated.failures is None
    for value in python(columnar(given), case.expression.type):
        if case.near:
            assert value == pytest.approx(case.expected, rel=1e-15)
        else:
            assert same(value, case.expected), value


@pytest.mark.parametrize("case", ALL, ids=str)
def test_no_rows(case: Case) -> None:
    evaluated = Columnar(case.expression, T).evaluate(table())
    assert evaluated.values.type == arrow_type(case.expression.type)
    assert (len(evaluated.values), evaluated.failures) == (0, None)


def with_columns(case: Case, chosen) -> tuple:
    """The case with the literals at the chosen places read from further columns of the table."""
    literals = []

    def moved(node):
        if not isinstance(node, Literal):
            return node
        literals.append(node)
        if not chosen(len(literals) - 1):
            return node
        return Ref(Column(f"literal{len(literals)}", node.type))

    expression = rewrite(case.expression, moved)
    further = tuple(Column(f"literal{n}", node.type) for n, node in enumerate(literals, 1))
    given = table(*[ROW] * COPIES)
    for column, node in zip(further, literals, strict=True):
        given = given.append_column(column.name, array_of([node.value] * COPIES, node.type))
    return expression, Schema((*T, *further)), given


@pytest.mark.parametrize(
    "chosen", [lambda place: True, lambda p: p == 0, lambda p: p == 1, lambda p: p == 2]
)
@pytest.mark.parametrize("case", ALL, ids=str)
def test_literals_as_columns(case: Case, chosen) -> None:
    expression, schema, given = with_columns(case, chosen)
    evaluated = Columnar(expression, schema).evaluate(given)
    assert evaluated.values.type == arrow_type(expression.type)
    if isinstance(case.expected, Fails):
        assert evaluated.failures is not None
        assert {evaluated.failures.at(row).code for row in range(COPIES)} == {case.expected.code}
        return
    assert evaluated.failures is None
    for value in python(evaluated.values, expression.type):
        if case.near:
            assert value == pytest.approx(case.expected, rel=1e-15)
        else:
            assert same(value, case.expected), value


def test_every_function_has_an_implementation_and_the_other_way_round() -> None:
    assert {*IMPLEMENTATIONS, "COALESCE"} == set(FUNCTIONS)


def test_it_travels() -> None:
    columnar = Columnar(ALL[0].expression, T, "Europe/Berlin")
    there = pickle.loads(pickle.dumps(columnar))
    assert there == columnar
    assert there(table(ROW)).equals(columnar(table(ROW)))
