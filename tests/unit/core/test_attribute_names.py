"""Attributes that are spelt as Spark spells them."""

import pytest

from ebbtide.core.attribute_names import SpeltAsInPython
from ebbtide.engine.query import Query
from ebbtide.spark.run import SparkRun


class Broken(SpeltAsInPython):
    @property
    def fails(self) -> int:
        raise AttributeError("of its own")


@pytest.mark.parametrize(
    ("kind", "spark", "here"),
    [
        (Query, "toPandas", "to_pandas"),
        (SparkRun, "awaitTermination", "await_termination"),
        (SparkRun, "processAllAvailable", "process_all_available"),
    ],
)
def test_the_error_says_how_it_is_spelt_here(
    kind: type[SpeltAsInPython], spark: str, here: str
) -> None:
    made = kind.__new__(kind)
    with pytest.raises(AttributeError, match=rf"did you mean {here}\?$"):
        getattr(made, spark)
    assert callable(getattr(made, here))


def test_other_errors_are_as_they_were() -> None:
    with pytest.raises(AttributeError, match=r"object has no attribute 'toLunch'$"):
        _ = Broken().toLunch  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match=r"^of its own$"):
        _ = Broken().fails
    assert not hasattr(Broken(), "other")
