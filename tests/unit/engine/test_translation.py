"""Spark's exceptions in our words; no JVM, so exceptions are made by hand."""

import traceback

import pytest
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from ebbtide.dataflow.shard import at_work
from ebbtide.errors import (
    EbbtideError,
    EvaluationError,
    InternalError,
    QueryError,
    SourceError,
    UnsupportedError,
)
from ebbtide.spark.errors import (
    sinking,
    translated,
    translation,
    translation_of_java,
)


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
        with at_work(name):
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
    inner = EvaluationError(
        "overflow", "SUM does not fit into BIGINT", detail="a fact", hint="CAST it"
    )
    error = translation(in_a_worker(inner, "aggregate-2"), "means")
    assert isinstance(error, EvaluationError)
    assert (error.code, error.message, error.hint) == (
        "overflow",
        "SUM does not fit into BIGINT",
        "CAST it",
    )
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


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        (
            "Lost task 0.0 in stage 9.0: org.apache.spark.SparkException: Python worker exited"
            " unexpectedly (crashed). Consider setting a setting\n\tat org.apache.Here",
            "Python worker exited unexpectedly (crashed)",
        ),
        (
            "Lost task 0.3 in stage 4.0: ExecutorLostFailure (executor 3 exited) Reason: Command"
            " exited with code 137\nDriver stacktrace:",
            "ExecutorLostFailure (executor 3 exited) Reason: Command exited with code 137",
        ),
    ],
)
def test_a_process_that_is_gone_is_told_as_such(text: str, detail: str) -> None:
    for error in (
        translation(Raised(None, text), "means"),
        translation_of_java(aborted(Thrown(text, cause=Thrown("java.io.EOFException"))), "means"),
    ):
        assert (error.code, error.detail) == ("worker-lost", detail)
        assert "means" in error.message


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


class Thrown:
    """An exception of Java; one that is not Spark's has no condition."""

    def __init__(
        self, text: str, condition: str | None = None, cause: "Thrown | None" = None
    ) -> None:
        self.text, self.condition, self.cause = text, condition, cause

    def getMessage(self) -> str:
        return self.text

    def getCause(self) -> "Thrown | None":
        return self.cause

    def getCondition(self) -> str:
        if self.condition is None:
            raise Py4JError("Method getCondition([]) does not exist")
        return self.condition


def aborted(cause: Thrown) -> Thrown:
    """As it comes when a job has failed."""
    job = Thrown(f"Job aborted due to stage failure: {cause.text}\nDriver stacktrace:", "", cause)
    return Thrown("Exception thrown in awaitResult: ", "", job)


def test_the_cause_that_says_most_is_told() -> None:
    zero = aborted(Thrown("[DIVIDE_BY_ZERO] Division by zero. Use NULLIF.", "DIVIDE_BY_ZERO"))
    assert translation_of_java(zero, "q").code == "division-by-zero"

    gzip = Thrown("not a gzip file")
    file = "[FAILED_READ_FILE.NO_HINT] Encountered error while reading file /a/b.  SQLSTATE: KD001"
    error = translation_of_java(aborted(Thrown(file, "FAILED_READ_FILE.NO_HINT", gzip)), "q")
    assert error.code == "unreadable-source"
    assert error.detail == "Encountered error while reading file /a/b: not a gzip file"

    worker = in_a_worker(SourceError("unreadable-source", "a is gone"))
    assert translation_of_java(aborted(Thrown(str(worker))), "q").message == "a is gone"

    odd = translation_of_java(aborted(Thrown("no idea\n\tat some.Where")), "q")
    assert (odd.code, odd.detail) == ("step-failed", "no idea")


def test_what_a_sink_raises_names_the_sink() -> None:
    with pytest.raises(SourceError) as caught, sinking("q", "mine", 3):
        raise ValueError("no")
    assert caught.value.code == "sink-failed"
    assert caught.value.message == 'mine of query "q" did not take step 3'
    assert caught.value.detail == "ValueError('no')"
    with pytest.raises(SourceError, match="disk-full"), sinking("q", "mine", 3):
        raise OSError(28, "No space left on device")
    with pytest.raises(EvaluationError, match="overflow"), sinking("q", "mine", 3):
        raise EvaluationError("overflow", "too much")
