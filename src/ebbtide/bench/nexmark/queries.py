"""The texts of the queries, by their numbers."""

from __future__ import annotations

from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
NUMBERS = range(23)

OVER = frozenset({5, 7, 8, 11, 12})
"""Those that say nothing of the last events yet, whose windows are not over."""


def schema() -> list[str]:
    """The declarations of the streams and the table."""
    return _statements(_text("sql", "schema"))


@cache
def query(number: int) -> str:
    """A query, as it is written here."""
    (text,) = _statements(_text("sql", f"q{number}"))
    return text


@cache
def title(number: int) -> str:
    """What a query is about: the remark above it."""
    remark = _text("sql", f"q{number}").partition("\n")[0]
    return remark.removeprefix("--").strip().removesuffix(".")


@cache
def expected(number: int) -> str:
    """The same for DuckDB, on all events at once."""
    return _text("duckdb", f"q{number}")


def flink(number: int) -> str | None:
    """The same for Flink; None if it cannot say it."""
    return _text("flink", f"q{number}") if (HERE / "flink" / f"q{number}.sql").exists() else None


def flink_schema() -> list[str]:
    """Flink's declarations, with a place for the path of each stream."""
    return _text("flink", "schema").strip().split("\n\n")


def _text(kind: str, name: str) -> str:
    return (HERE / kind / f"{name}.sql").read_text(encoding="utf-8")


def _statements(text: str) -> list[str]:
    blocks = (_without_remarks(block) for block in text.split("\n\n"))
    return [block.removesuffix(";") for block in blocks if block]


def _without_remarks(block: str) -> str:
    return "\n".join(line for line in block.split("\n") if not line.startswith("--")).strip()
