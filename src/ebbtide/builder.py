"""Queries from Python: a handful of verbs that write SQL.

Law: what is built is text; a query built from parts is the query that the text says, with the same
plan.  Verbs give new values; nothing is changed in place.

>>> bids = source("bids", window="RANGE 15 MINUTES")
>>> bids.where(col("price") > 5).group("auction", mean=fn.avg(col("price"))).sql
'SELECT auction, AVG(price) AS mean FROM bids [RANGE 15 MINUTES] WHERE price > 5 GROUP BY auction'
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

__all__ = ["Built", "Term", "col", "exists", "fn", "lit", "source"]

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """A scalar expression as SQL; ``whole`` needs no parentheses around it.

    It may have a name, which counts where it becomes a column.
    """

    text: str
    whole: bool = True
    name: str | None = None

    def __str__(self) -> str:
        return self.text if self.name is None else f"{self.text} AS {_identifier(self.name)}"

    @property
    def inner(self) -> str:
        """The text as an operand."""
        return self.text if self.whole else f"({self.text})"

    def __add__(self, other: object) -> Term:
        return _binary(self, "+", other)

    def __sub__(self, other: object) -> Term:
        return _binary(self, "-", other)

    def __mul__(self, other: object) -> Term:
        return _binary(self, "*", other)

    def __truediv__(self, other: object) -> Term:
        return _binary(self, "/", other)

    def __mod__(self, other: object) -> Term:
        return _binary(self, "%", other)

    def __eq__(self, other: object) -> Term:  # type: ignore[override]
        return _binary(self, "=", other)

    def __ne__(self, other: object) -> Term:  # type: ignore[override]
        return _binary(self, "<>", other)

    def __lt__(self, other: object) -> Term:
        return _binary(self, "<", other)

    def __le__(self, other: object) -> Term:
        return _binary(self, "<=", other)

    def __gt__(self, other: object) -> Term:
        return _binary(self, ">", other)

    def __ge__(self, other: object) -> Term:
        return _binary(self, ">=", other)

    def __and__(self, other: object) -> Term:
        return _binary(self, "AND", other)

    def __or__(self, other: object) -> Term:
        return _binary(self, "OR", other)

    def __invert__(self) -> Term:
        return Term(f"NOT {self.inner}", False)

    def __neg__(self) -> Term:
        return Term(f"-{self.inner}", False)

    def __hash__(self) -> int:
        return hash(self.text)

    def __bool__(self) -> bool:
        raise TypeError("a condition on rows has no truth value here: use &, | and ~")

    def is_null(self) -> Term:
        """Whether it is NULL."""
        return Term(f"{self.inner} IS NULL", False)

    def is_in(self, *options: object) -> Term:
        """Whether it is one of the options."""
        return Term(f"{self.inner} IN ({_list(options)})", False)

    def between(self, low: object, high: object) -> Term:
        """Whether it lies from ``low`` to ``high``, both included."""
        return Term(f"{self.inner} BETWEEN {lit(low).inner} AND {lit(high).inner}", False)

    def cast(self, type_: str) -> Term:
        """The same value as another type."""
        return Term(f"CAST({self.text} AS {type_})")

    def named(self, name: str) -> Term:
        """The same value under a name."""
        return replace(self, name=name)

    def descending(self) -> Term:
        """The greatest first, in an order."""
        return Term(f"{self.text} DESC")

    def floor(self, to: str | timedelta) -> Term:
        """A time, taken down to a grid of so long: ``floor("20 seconds")``."""
        return Term(f"FLOOR({self.text} TO {_duration(to)})")

    def ceil(self, to: str | timedelta) -> Term:
        """A time, taken up to a grid of so long."""
        return Term(f"CEIL({self.text} TO {_duration(to)})")

    def over(self, *by: str | Term, order: str | Term | None = None, frame: str = "") -> Term:
        """A function of rows beside this one: of equal ``by``, in an order, within a frame.

        >>> print(fn.lag(col("value")).over("sid", order="at"))
        LAG(value) OVER (PARTITION BY sid ORDER BY at)
        """
        parts = [f"PARTITION BY {', '.join(map(_name, by))}"] if by else []
        parts += [f"ORDER BY {_name(order)}"] if order is not None else []
        return Term(f"{self.text} OVER ({' '.join([*parts, frame]).strip()})")


class _Functions:
    """Every function of the language, as a method: ``fn.upper(col("name"))``."""

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: object, distinct: bool = False, where: Term | None = None) -> Term:
            inside = _list(arguments)
            if not arguments and name.casefold() == "count":
                inside = "*"
            text = f"{name.upper()}({'DISTINCT ' if distinct else ''}{inside})"
            return Term(text if where is None else f"{text} FILTER (WHERE {where.text})")

        return call


fn = _Functions()


def col(name: str) -> Term:
    """A column, by its name or ``table.name``."""
    return Term(".".join(_identifier(part) for part in name.split(".")))


def lit(value: object) -> Term:
    """A constant; a term stays as it is."""
    match value:
        case Term():
            return value
        case None:
            return Term("NULL")
        case bool():
            return Term(str(value).upper())
        case int() | Decimal():
            return Term(str(value), value >= 0)
        case float():
            return Term(f"{value!r}D" if value == value else "CAST('NaN' AS DOUBLE)", value >= 0)
        case str():
            escaped = value.replace("\\", "\\\\").replace("'", "\\'")
            return Term(f"'{escaped}'")
        case datetime():
            return Term(f"TIMESTAMP '{value.isoformat(sep=' ')}'")
        case date():
            return Term(f"DATE '{value.isoformat()}'")
        case timedelta():
            return Term(f"INTERVAL {value // timedelta(microseconds=1)} MICROSECONDS")
        case _:
            raise TypeError(f"{value!r} is not a constant of the language")


@dataclass(frozen=True, slots=True)
class Built:
    """A query in the making; ``sql`` is its text."""

    origin: str
    conditions: tuple[str, ...] = ()
    groups: tuple[str, ...] | None = None
    filters: tuple[str, ...] = ()
    columns: tuple[str, ...] | None = None
    unique: bool = False
    order: tuple[str, ...] = ()
    count: int | None = None
    combined: str | None = None
    emission: tuple[str, ...] = ()

    @property
    def sql(self) -> str:
        """The query as SQL."""
        return " ".join([self._rows(), *self.emission])

    def _rows(self) -> str:
        """The query without what is said about its emission."""
        if self.combined is not None and self._is_bare:
            return self.combined
        parts = [f"SELECT {'DISTINCT ' if self.unique else ''}{', '.join(self.columns or ('*',))}"]
        parts.append(f"FROM {self.origin}")
        if self.conditions:
            parts.append(f"WHERE {_all(self.conditions)}")
        if self.groups:
            parts.append(f"GROUP BY {', '.join(self.groups)}")
        if self.filters:
            parts.append(f"HAVING {_all(self.filters)}")
        if self.order:
            parts.append(f"ORDER BY {', '.join(self.order)}")
        if self.count is not None:
            parts.append(f"LIMIT {self.count}")
        return " ".join(parts)

    def __str__(self) -> str:
        return self.sql

    def join(self, other: Built, on: Term, kind: str = "inner") -> Built:
        """Pairs with the rows of another relation; ``kind`` inner, left, right or full."""
        word = {"inner": "JOIN", "left": "LEFT JOIN", "right": "RIGHT JOIN", "full": "FULL JOIN"}
        if kind not in word:
            raise ValueError(f"a join is one of {', '.join(word)}, not {kind!r}")
        mine, its = self._as_origin(), other._as_origin()
        return Built(f"{mine} {word[kind]} {its} ON {on.text}", emission=self.emission)

    def where(self, condition: Term) -> Built:
        """The rows for which a condition is TRUE; of groups, if there are any."""
        if self._is_complete:
            return self._nested().where(condition)
        if self.groups is not None:
            return replace(self, filters=(*self.filters, condition.text))
        return replace(self, conditions=(*self.conditions, condition.text))

    def group(
        self, *keys: str | Term, hidden: Sequence[str | Term] = (), **aggregates: Term
    ) -> Built:
        """A row per group: its keys, but for those that are hidden, and the named aggregates."""
        base = self._nested() if self._is_complete or self.groups is not None else self
        by = tuple(_name(key) for key in (*keys, *hidden))
        values = tuple(str(term.named(name)) for name, term in aggregates.items())
        return replace(base, groups=by, columns=(*map(_column, keys), *values))

    def select(self, *columns: str | Term, **named: Term) -> Built:
        """Columns, by name or as terms."""
        base = self._nested() if self._is_complete or self.groups is not None else self
        chosen = (*map(_column, columns), *(str(term.named(name)) for name, term in named.items()))
        return replace(base, columns=chosen)

    def distinct(self) -> Built:
        """Every row once."""
        base = self._nested() if self.count is not None else self
        return replace(base, unique=True)

    def top(self, count: int, *order: str | Term) -> Built:
        """The first rows of an order."""
        base = self._nested() if self.count is not None else self
        return replace(base, order=tuple(_name(key) for key in order), count=count)

    def union(self, other: Built, *, all: bool = True) -> Built:
        """The rows of both; without ``all`` every row once."""
        return self._combined("UNION ALL" if all else "UNION", other)

    def minus(self, other: Built, *, all: bool = True) -> Built:
        """The rows that the other does not have."""
        return self._combined("EXCEPT ALL" if all else "EXCEPT", other)

    def intersect(self, other: Built, *, all: bool = True) -> Built:
        """The rows that both have."""
        return self._combined("INTERSECT ALL" if all else "INTERSECT", other)

    def alias(self, name: str) -> Built:
        """The rows under a name, for joins."""
        return Built(f"({self._rows()}) AS {_identifier(name)}", emission=self.emission)

    def final(self) -> Built:
        """Each row once, when it is final: ``EMIT FINAL``."""
        return self._emitting("EMIT FINAL")

    def with_finality(self) -> Built:
        """Every row at once, and whether it is final: ``EMIT CHANGES WITH FINALITY``."""
        return self._emitting("EMIT CHANGES WITH FINALITY")

    def unbounded(self) -> Built:
        """The same, though what it stores may grow for ever: ``ALLOW UNBOUNDED STATE``."""
        return self._emitting("ALLOW UNBOUNDED STATE")

    def insert_into(self, stream: str) -> str:
        """The statement that feeds a stream with these rows."""
        return f"INSERT INTO {_identifier(stream)} {self.sql}"

    @property
    def _is_complete(self) -> bool:
        chosen = self.columns is not None and self.groups is None
        return chosen or self.unique or self.count is not None

    @property
    def _is_bare(self) -> bool:
        return self == Built(self.origin, combined=self.combined, emission=self.emission)

    def _as_origin(self) -> str:
        return self.origin if self._is_bare else self._nested().origin

    def _nested(self) -> Built:
        return Built(f"({self._rows()}) AS part", emission=self.emission)

    def _emitting(self, clause: str) -> Built:
        return replace(self, emission=(*self.emission, clause))

    def _combined(self, word: str, other: Built) -> Built:
        text = f"{self._rows()} {word} {other._rows()}"
        return Built(f"({text}) AS part", combined=text, emission=self.emission)


def source(name: str, *, window: str | None = None, alias: str | None = None) -> Built:
    """A stream, table or view, perhaps through a window such as ``RANGE 15 MINUTES``."""
    shown = f" [{window}]" if window is not None else ""
    known = f" AS {_identifier(alias)}" if alias is not None else ""
    return Built(f"{_identifier(name)}{shown}{known}")


def exists(rows: Built) -> Term:
    """Whether there are such rows; their conditions may name columns of the query around.

    >>> later = source("readings", alias="n").where(col("n.at") > col("t.at"))
    >>> print(source("readings", alias="t").where(~exists(later)).sql)
    SELECT * FROM readings AS t WHERE NOT EXISTS (SELECT 1 FROM readings AS n WHERE n.at > t.at)
    """
    plain = rows.columns is None and rows.groups is None and rows.combined is None
    return Term(f"EXISTS ({(replace(rows, columns=('1',)) if plain else rows)._rows()})")


def _binary(left: Term, op: str, right: object) -> Term:
    return Term(f"{left.inner} {op} {lit(right).inner}", False)


def _list(values: tuple[object, ...]) -> str:
    return ", ".join(lit(value).text for value in values)


def _name(column: str | Term) -> str:
    return col(column).text if isinstance(column, str) else column.text


def _column(column: str | Term) -> str:
    """A column of a list, under its name if it has one."""
    return str(col(column) if isinstance(column, str) else column)


def _duration(value: str | timedelta) -> str:
    if isinstance(value, str):
        return value
    return f"{value // timedelta(microseconds=1)} MICROSECONDS"


def _all(conditions: tuple[str, ...]) -> str:
    if len(conditions) == 1:
        return conditions[0]
    return " AND ".join(f"({condition})" for condition in conditions)


def _identifier(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else f"`{name.replace('`', '``')}`"
