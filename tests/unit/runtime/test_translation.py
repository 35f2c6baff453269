"""Spark's exceptions in our words; no JVM, so exceptions are made by hand."""

import traceback

import pytest
from pyspark.errors import PySparkException

from ebbtide.errors import (
    EbbtideError,
    EvaluationError,
    InternalError,
    QueryError,
    SourceError,
    UnsupportedError,
)
from ebbtide.runtime.translation import operator, translated, translation


class Raised(PySparkException):
    """An exception as Spark captures it: a condition, and a text."""

    def __init__(self, condition: str | None, text: str) -> None:
        super().__init__(message=text)
        self.condition = condition
        self.text = text

    def getCondition(self) -> str | None:
        return self.condition

    def __str__(self) -> str:
        return self.text


def in_a_worker(error: Exception, name: str | None = None) -> Raised:
    """What Spark makes of an exception in a worker."""
    try:
        if name is None:
            raise error
        with operator(name):
            raise error
    except Exception as caught:
        text = "".join(traceback.format_exception(caught))
    return Raised("PYTHON_EXCEPTION", f"An exception was thrown from the Python worker:\n{text}")


@pytest.mark.parametrize(
    ("condition", "code"),
    [
        ("DIVIDE_BY_ZERO", "division-by-zero"),
        ("REMAINDER_BY_ZERO", "division-by-zero"),
        ("INTERVAL_DIVIDED_BY_ZERO", "division-by-zero"),
        ("ARITHMETIC_OVERFLOW", "overflow"),
        ("BINARY_ARITHMETIC_OVERFLOW", "overflow"),
        ("CAST_OVERFLOW", "overflow"),
        ("NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION", "overflow"),
        ("DATETIME_OVERFLOW", "overflow"),
        ("CAST_INVALID_INPUT", "bad-cast"),
        ("CANNOT_PARSE_TIMESTAMP", "bad-cast"),
        ("INVALID_ARRAY_INDEX", "out-of-bounds"),
        ("INVALID_ARRAY_INDEX_IN_ELEMENT_AT", "out-of-bounds"),
        ("INVALID_INDEX_OF_ZERO", "out-of-bounds"),
        ("INVALID_PARAMETER_VALUE.REGEX_GROUP_INDEX", "bad-argument"),
    ],
)
def test_what_data_do_not_allow_is_an_evaluation_error(condition: str, code: str) -> None:
    text = f"[{condition}] It is so. Use `try_it`. SQLSTATE: 22012\n== SQL ==\ns0 DIV s1"
    error = translation(Raised(condition, text), "means")
    assert isinstance(error, EvaluationError)
    assert (error.code, error.detail) == (code, "It is so")
    assert error.message.startswith('query "means": ')


def test_an_error_of_ours_comes_out_as_it_was_raised() -> None:
    inner = EvaluationError("overflow", "SUM leaves BIGINT", detail="a fact", hint="CAST it")
    error = translation(in_a_worker(inner, "aggregate-2"), "means")
    assert isinstance(error, EvaluationError)
    assert (error.code, error.message, error.hint) == ("overflow", "SUM leaves BIGINT", "CAST it")
    assert error.detail == "a fact; in aggregate-2"
    assert translation(in_a_worker(QueryError("bad-count", "no")), "q").detail is None


def test_a_worker_without_the_package_is_told_to_get_it() -> None:
    error = translation(in_a_worker(ModuleNotFoundError("No module named 'ebbtide'")), "means")
    assert isinstance(error, UnsupportedError)
    assert error.code == "missing-package"
    assert '"ebbtide"' in error.message
    assert error.hint is not None
    assert "PYSPARK_PYTHON" in error.hint


def test_a_bug_in_a_kernel_names_the_operator() -> None:
    error = translation(in_a_worker(KeyError("nothing"), "join-1"), "means")
    assert isinstance(error, InternalError)
    assert (error.code, error.message) == ("worker-failed", 'join-1 of query "means" failed')
    assert error.detail == "KeyError: 'nothing'"
    assert "a worker of query" in translation(in_a_worker(ValueError()), "means").message


def test_input_that_cannot_be_read_is_of_its_source() -> None:
    text = "[FAILED_READ_FILE.NO_HINT] Encountered error while reading file f. SQLSTATE: KD001"
    error = translation(Raised("FAILED_READ_FILE.NO_HINT", text), "means")
    assert isinstance(error, SourceError)
    assert error.code == "unreadable-source"
    assert error.detail == "Encountered error while reading file f"


@pytest.mark.parametrize("text", ["Job 3 cancelled. Because", "", "\n"])
def test_all_else_is_a_step_that_failed(text: str) -> None:
    assert translation(Raised(None, text), "means").code == "step-failed"


def test_the_cause_is_kept_and_errors_of_ours_pass() -> None:
    cause = Raised("DIVIDE_BY_ZERO", "[DIVIDE_BY_ZERO] Division by zero.")
    with pytest.raises(EbbtideError) as caught, translated("means"):
        raise cause
    assert caught.value.__cause__ is cause
    ours = QueryError("bad-count", "no")
    with pytest.raises(QueryError) as passed, translated("means"):
        raise ours
    assert passed.value is ours
