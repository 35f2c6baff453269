"""Random SQL as text, for two engines that share nothing but the language.

Law: a text depends on its seed alone, and DuckDB means the same by it, given what `theirs` spells
otherwise and what is avoided.  Where the two dialects differ, these rules hold.

Spelt otherwise for DuckDB
    `name` is "name"; LEFT SEMI JOIN and LEFT ANTI JOIN have no LEFT; DIV is //; <=> is
    IS NOT DISTINCT FROM; * EXCEPT is * EXCLUDE; ARRAY(...) is LIST_VALUE(...).
    NULLs are first ascending and last descending there too, by a setting.

Avoided, because both are right in their own way
    - Columns of `*` over a join with USING: the named columns are first here, and stay in place
      there; such a star stands in a query in FROM, whose columns are used by name.
    - A bare name in an expression of ORDER BY that is both an alias and a column: an alias here, a
      column there.  Such expressions have qualified names.
    - A name that is both an alias and a column in HAVING: aliases have names of their own, unless
      they name that column.
    - Division by zero is an error here and NULL there: what is divided by is never zero.
    - DECIMAL has two digits behind the point and is only added, subtracted and compared: products
      and quotients have other scales, AVG is a DECIMAL here and a DOUBLE there, and a set operation
      on sums of different scales loses digits there.
    - DOUBLE is dyadic, so that sums do not depend on the order of rows.
    - CAST only to a type that has all the values: casts of fractions to whole numbers truncate here
      and round there.
    - LIMIT, ROW_NUMBER, LAG, LEAD and ROWS frames stand on an order in which ties are equal rows,
      and a SELECT on rows that are not grouped has one call of these at most: the results of two
      can be paired in several ways.
    - A subquery that is a value has one row by construction; several are an error in both.
    - LIKE has no escapes.
    - Rows in a list, (a, b) IN ((1, 2), (3, 4)): there they are structs, whose NULLs are equal.
    - COUNT_IF of no rows is 0 here and NULL there.
    - A number in parentheses in ORDER BY, and an expression of constants in GROUP BY: constants
      here, positions there.
    - A source that has the name of a column: source.name is a field of the column there.
    - ASOF JOIN with right rows that are equally near: any of them there.
    - STRING_AGG is ordered by what it joins: of equal keys any order there.
    - IN with several columns that depends on the query around: not there.

Not in the language here, and so never written
    NATURAL joins, ORDER BY without LIMIT, OFFSET without LIMIT, OVER with grouping sets, subqueries
    in ON, two columns of one name, LATERAL.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import TypeVar

__all__ = ["TABLES", "VIEWS", "Writer", "theirs"]

T = TypeVar("T")

TABLES: dict[str, dict[str, str]] = {
    "t": {"a": "INT", "b": "INT", "c": "STRING", "f": "BOOLEAN"},
    "u": {"a": "INT", "x": "DOUBLE", "s": "STRING", "d": "DATE"},
    "v": {"k": "BIGINT", "p": "DECIMAL(6, 2)", "b": "INT", "order": "STRING"},
    "w": {"Key": "INT", "f": "BOOLEAN", "d": "DATE", "c": "STRING"},
}

VIEWS: dict[str, tuple[str, dict[str, str]]] = {
    "sums": (
        "SELECT a AS b, COUNT(*) AS n, MAX(c) AS c FROM t GROUP BY a",
        {"b": "INT", "n": "BIGINT", "c": "STRING"},
    ),
    "pairs": (
        "SELECT a, t.f, u.d, w.Key AS k FROM t FULL JOIN u USING (a) LEFT JOIN w ON w.d = u.d",
        {"a": "INT", "f": "BOOLEAN", "d": "DATE", "k": "INT"},
    ),
}

INT, NUM, REAL, TEXT, BOOL, DATE = "int", "num", "real", "text", "bool", "date"
KINDS = (INT, NUM, REAL, TEXT, BOOL, DATE)
_KIND = {
    "INT": INT,
    "BIGINT": INT,
    "DECIMAL(6, 2)": NUM,
    "DOUBLE": REAL,
    "STRING": TEXT,
    "BOOLEAN": BOOL,
    "DATE": DATE,
}
_CASTS = {
    INT: "BIGINT",
    NUM: "DECIMAL(12, 2)",
    REAL: "DOUBLE",
    TEXT: "STRING",
    BOOL: "BOOLEAN",
    DATE: "DATE",
}
_COMPARED = ("=", "=", "<>", "<", "<=", ">", ">=")

_SPELT = (
    ("`", '"'),
    ("LEFT SEMI JOIN", "SEMI JOIN"),
    ("LEFT ANTI JOIN", "ANTI JOIN"),
    (" DIV ", " // "),
    ("<=>", "IS NOT DISTINCT FROM"),
    ("* EXCEPT (", "* EXCLUDE ("),
    ("ARRAY(", "LIST_VALUE("),
)


def theirs(text: str) -> str:
    """The text as DuckDB spells it."""
    for here, there in _SPELT:
        text = text.replace(here, there)
    return text


Pair = tuple[str, str]
"""A name or an expression, and its kind."""


@dataclass(frozen=True)
class Column:
    """A column that can be named: alone if it is ``bare``, and with its source if it has one."""

    name: str
    kind: str
    source: str | None
    bare: bool = True


@dataclass(frozen=True)
class Level:
    """What the expressions of a clause may hold.

    ``keys`` are the grouped expressions, where rows are grouped, and ``outside`` what subqueries
    may use of them.  Subqueries go ``depth`` deep.
    """

    columns: tuple[Column, ...]
    depth: int = 0
    keys: tuple[Pair, ...] | None = None
    outside: tuple[Column, ...] = ()
    windows: bool = False
    qualified: bool = False


@dataclass(frozen=True)
class Shape:
    """A query: its text, and its columns; ``placed`` if they are in the same order everywhere."""

    text: str
    columns: tuple[Pair, ...]
    placed: bool = True


@dataclass(frozen=True)
class Item:
    """A column of a SELECT list."""

    text: str
    kind: str
    name: str
    named: bool = True


class Choices:
    """What a seed decides."""

    def __init__(self, dice: Random) -> None:
        self.dice = dice
        self.broken = False

    def maybe(self, share: float) -> bool:
        """True so often."""
        return self.dice.random() < share

    def one(self, *choices: T) -> T:
        """One of them."""
        return self.dice.choice(choices)

    def named(self, name: str) -> str:
        """A name as it may be written: in another case, or quoted."""
        written = self.one(name.upper(), name.lower()) if self.maybe(0.12) else name
        plain = name.isidentifier() and name != "order"
        return written if plain and not self.maybe(0.08) else f"`{written}`"

    def reference(self, column: Column, qualified: bool = False) -> str:
        """A column as it may be named."""
        bare = column.bare and not qualified
        if column.source is None or (bare and self.maybe(0.5)):
            return self.named(column.name)
        return f"{self.named(column.source)}.{self.named(column.name)}"

    def literal(self, kind: str) -> str:
        """A constant."""
        match kind:
            case "int":
                return str(self.one(-1, 0, 1, 1, 2, 3))
            case "num":
                return self.one("0.50", "1.25", "-2.00", "3.10")
            case "real":
                return self.one("0.5e0", "1e0", "-0.25e0", "2e0")
            case "text":
                return self.one("'a'", "'b'", "'B'", "'ab'", "''")
            case "bool":
                return self.one("TRUE", "FALSE")
            case _:
                return self.one("DATE '2024-02-29'", "DATE '2024-03-01'", "DATE '2023-12-31'")


class Expressions(Choices):
    """Writes expressions."""

    def expression(self, kind: str, level: Level, size: int = 2) -> str:
        """An expression of a kind, made of so many parts."""
        if level.depth > 0 and self.maybe(0.07):
            return self.value(kind, level)
        if level.windows and self.maybe(0.12):
            return self.window(kind, level)
        if size <= 0 or self.maybe(0.4):
            return self.atom(kind, level)

        def part(of: str = kind) -> str:
            return self.expression(of, level, size - 1)

        if self.maybe(0.25):
            return self.chosen(kind, level, size)
        match kind:
            case "int":
                return self.one(
                    lambda: f"({part()} {self.one('+', '-', '*')} {part()})",
                    lambda: (
                        f"{self.atom(kind, level)} {self.one('+', '-')} {self.atom(kind, level)}"
                    ),
                    lambda: f"-({part()})",
                    lambda: f"CAST({part(BOOL)} AS INT)",
                    lambda: f"LENGTH({part(TEXT)})",
                    lambda: f"EXTRACT({self.one('YEAR', 'MONTH', 'DAY')} FROM {part(DATE)})",
                    lambda: f"ABS({part()})",
                    lambda: f"({part()}) {self.one('%', 'DIV')} {self.one('2', '3', '-2')}",
                    lambda: f"CAST({part()} AS BIGINT)",
                )()
            case "num":
                return self.one(
                    lambda: f"({part()} {self.one('+', '-')} {part(self.one(NUM, INT))})",
                    lambda: f"-({part()})",
                    lambda: f"CAST({self.atom(INT, level)} AS DECIMAL(12, 2))",
                )()
            case "real":
                return self.one(
                    lambda: f"({part()} {self.one('+', '-')} {part(self.one(REAL, INT))})",
                    lambda: f"({part(INT)}) / {self.one('2', '4')}",
                    lambda: f"CAST({part(INT)} AS DOUBLE)",
                )()
            case "text":
                return self.one(
                    lambda: f"({part()} || {part()})",
                    lambda: f"{self.one('UPPER', 'lower')}({part()})",
                    lambda: f"SUBSTRING({part()}, {self.one(1, 2)}, {self.one(1, 2)})",
                    lambda: f"CAST({part(self.one(INT, DATE))} AS STRING)",
                )()
            case "bool":
                return f"({self.condition(level, size)})"
            case _:
                return self.atom(kind, level)

    def chosen(self, kind: str, level: Level, size: int) -> str:
        """CASE, COALESCE or NULLIF."""

        def part(of: str = kind) -> str:
            return self.expression(of, level, size - 1)

        def null_or_part() -> str:
            return "NULL" if self.maybe(0.15) else part()

        other = self.one(*KINDS)
        return self.one(
            lambda: f"COALESCE({part()}, {part()})",
            lambda: f"NULLIF({part()}, {part()})",
            lambda: (
                f"CASE WHEN {self.condition(level, size - 1)} THEN {part()} ELSE"
                f" {null_or_part()} END"
            ),
            lambda: (
                f"CASE {part(other)} WHEN {self.literal(other)} THEN {part()} WHEN"
                f" {part(other)} THEN {part()} END"
            ),
        )()

    def atom(self, kind: str, level: Level) -> str:
        """A column, a constant, or what groups have."""
        if self.maybe(0.03):
            return f"CAST(NULL AS {_CASTS[kind]})"
        if level.keys is not None:
            keys = [text for text, of in level.keys if of == kind]
            if keys and self.maybe(0.5):
                return self.one(*keys)
            return self.aggregate(kind, level) if self.maybe(0.85) else self.literal(kind)
        known = [column for column in level.columns if column.kind == kind]
        if level.qualified:
            known = [column for column in known if column.source is not None]
        if not known or self.maybe(0.2):
            return self.literal(kind)
        return self.reference(self.one(*known), level.qualified)

    # --- conditions -----------------------------------------------------------------------------

    def conditions(self, level: Level) -> str:
        """What WHERE, HAVING or FILTER demands."""
        parts = [self.condition(level) for _ in range(self.one(1, 1, 1, 2, 3))]
        return " AND ".join(parts)

    def condition(self, level: Level, size: int = 2) -> str:
        """A condition; in parentheses where it is not one by itself."""
        if level.depth > 0 and self.maybe(0.22):
            return self.membership(level)

        def part(of: str) -> str:
            return self.expression(of, level, size - 1)

        if size > 0 and self.maybe(0.3):
            inner = [self.condition(level, size - 1) for _ in range(2)]
            return self.one(
                f"({inner[0]} OR {inner[1]})",
                f"({inner[0]} AND {inner[1]})",
                f"NOT ({inner[0]})",
                f"NOT ({inner[0]} OR {inner[1]})",
                f"(({inner[0]}) IS {self.one('TRUE', 'FALSE', 'NOT TRUE', 'NOT FALSE', 'NULL')})",
                f"(({inner[0]}) = ({inner[1]}))",
            )
        kind = self.one(*KINDS, INT, INT)
        negated = self.one("", "", "NOT ")
        return self.one(
            lambda: f"{part(kind)} {self.one(*_COMPARED)} {part(kind)}",
            lambda: f"{part(kind)} {self.one(*_COMPARED)} {self.literal(kind)}",
            lambda: f"{part(kind)} {self.one('<=>', 'IS DISTINCT FROM', '<>')} {part(kind)}",
            lambda: f"{part(kind)} IS {negated}NULL",
            lambda: f"{part(kind)} {negated}IN ({self.literal(kind)}, {part(kind)})",
            lambda: f"{part(kind)} {negated}IN ({self.literal(kind)}, NULL)",
            lambda: f"{part(kind)} {negated}BETWEEN {self.literal(kind)} AND {part(kind)}",
            lambda: f"{part(TEXT)} {negated}LIKE '{self.one('%b', 'a%', '_', '%')}'",
            lambda: f"{part(TEXT)} {negated}ILIKE '{self.one('%b', 'A%', '_')}'",
            lambda: self.atom(BOOL, level),
            lambda: f"{part(INT)} {self.one(*_COMPARED)} {part(self.one(NUM, REAL))}",
        )()

    # --- groups and windows ---------------------------------------------------------------------

    def aggregate(self, kind: str, level: Level) -> str:
        """An aggregate over the rows of a group."""
        depth = level.depth if self.maybe(0.08) else 0
        rows = Level(level.columns, depth, qualified=level.qualified)

        def part(of: str = kind) -> str:
            return self.expression(of, rows, self.one(0, 0, 1))

        distinct = self.one("", "", "DISTINCT ")
        extreme = self.one("MIN", "MAX")
        match kind:
            case "int":
                text = self.one(
                    lambda: "COUNT(*)",
                    lambda: f"COUNT({distinct}{part(self.one(*KINDS))})",
                    lambda: f"SUM({distinct}{part()})",
                    lambda: f"{extreme}({part()})",
                )()
            case "num":
                text = f"{self.one('SUM', extreme)}({part()})"
            case "real":
                text = self.one(
                    lambda: f"AVG({distinct}{part(INT)})",
                    lambda: f"SUM({part()})",
                    lambda: f"{extreme}({part()})",
                )()
            case "bool":
                text = f"{self.one('BOOL_AND', 'BOOL_OR')}({part()})"
            case "text" if self.maybe(0.3):
                # Equal texts are equal wherever they stand.
                order = self.one("", " DESC", " NULLS LAST")
                item = part()
                text = f"STRING_AGG({item}, '{self.one('-', '', ', ')}' ORDER BY {item}{order})"
            case _:
                text = f"{extreme}({part()})"
        if self.maybe(0.2):
            text += f" FILTER (WHERE {self.condition(replace(rows, depth=0), 1)})"
        return text

    def window(self, kind: str, level: Level) -> str:
        """A call with OVER."""
        plain = replace(level, depth=0, windows=False)

        def part(of: str = kind) -> str:
            return self.expression(of, plain, self.one(0, 0, 1))

        total = self.total(plain) if self.may_break_ties(level) else ""
        keys = f"PARTITION BY {part(self.one(*KINDS))} " if self.maybe(0.6) else ""
        if kind == INT and self.maybe(0.35):
            name = self.one("RANK", "DENSE_RANK", "ROW_NUMBER")
            if name == "ROW_NUMBER" and total:
                return f"{name}() OVER ({keys}{self.breaking(total)})"
            name = "RANK" if name == "ROW_NUMBER" else name
            return f"{name}() OVER ({keys}{self.sorted([part(self.one(*KINDS))])})"
        if self.maybe(0.2) and total:
            self.breaking(total)
            distance = self.one("", ", 1", ", 2", f", 1, {self.literal(kind)}")
            return f"{self.one('LAG', 'LEAD')}({part()}{distance}) OVER ({keys}{total})"
        call = self.framed(kind, part)
        frame = self.one(
            lambda: self.sorted([part(self.one(*KINDS))]),
            lambda: "",
            lambda: f"{self.breaking(total)} ROWS BETWEEN {self.bounds()}" if total else "",
            lambda: (
                f"{self.breaking(total)} ROWS {self.one('1', 'UNBOUNDED')} PRECEDING"
                if total
                else ""
            ),
            lambda: f"{self.sorted([self.atom(INT, plain)])} RANGE BETWEEN {self.bounds()}",
            lambda: (
                f"{self.sorted([part(TEXT)])} RANGE BETWEEN UNBOUNDED PRECEDING AND"
                f" {self.one('CURRENT ROW', 'UNBOUNDED FOLLOWING')}"
            ),
        )()
        return f"{call} OVER ({keys}{frame})"

    def framed(self, kind: str, part) -> str:  # type: ignore[no-untyped-def]
        """An aggregate of a frame."""
        extreme = self.one("MIN", "MAX")
        match kind:
            case "int":
                options = ["COUNT(*)", f"COUNT({part(TEXT)})", f"SUM({part()})"]
                options += [f"{extreme}({part()})"]
                return self.one(*options) + self.one("", "", f" FILTER (WHERE {part(BOOL)})")
            case "bool":
                return f"BOOL_OR({part()})"
            case "num" | "real":
                return f"{self.one('SUM', extreme)}({part()})"
            case _:
                return f"{extreme}({part()})"

    def bounds(self) -> str:
        """The two ends of a frame."""
        return self.one(
            "1 PRECEDING AND 1 FOLLOWING",
            "UNBOUNDED PRECEDING AND CURRENT ROW",
            "CURRENT ROW AND UNBOUNDED FOLLOWING",
            "2 PRECEDING AND 1 PRECEDING",
            "1 FOLLOWING AND 2 FOLLOWING",
            "CURRENT ROW AND CURRENT ROW",
        )

    def sorted(self, keys: list[str]) -> str:
        """ORDER BY, by these."""
        return f"ORDER BY {', '.join(self.key(key) for key in keys)}"

    def key(self, text: str) -> str:
        """A key of ORDER BY."""
        nulls = self.one("", "", " NULLS FIRST", " NULLS LAST")
        return f"{text}{self.one('', ' ASC', ' DESC')}{nulls}"

    def may_break_ties(self, level: Level) -> bool:
        """Whether a call may depend on the order of equal rows, which only one of a SELECT may."""
        return level.keys is not None or not self.broken

    def breaking(self, order: str) -> str:
        """The order, which breaks the ties of this SELECT."""
        self.broken = True
        return order

    def total(self, level: Level) -> str:
        """An order in which ties are equal rows; nothing if there is nothing to order."""
        if level.keys is not None:
            texts = [text for text, _ in level.keys]
        else:
            named = [column for column in level.columns if column.source is not None]
            texts = [self.reference(column, True) for column in named]
        self.dice.shuffle(texts)
        return self.sorted(texts) if texts else ""

    # --- subqueries -----------------------------------------------------------------------------

    def value(self, kind: str, level: Level) -> str:
        """A subquery that is a value."""
        raise NotImplementedError

    def membership(self, level: Level) -> str:
        """IN or EXISTS."""
        raise NotImplementedError


class Sources(Expressions):
    """Writes FROM clauses."""

    def __init__(self, dice: Random) -> None:
        super().__init__(dice)
        self.queries: dict[str, tuple[Pair, ...]] = {}

    def query(self, depth: int, kinds: tuple[str, ...] | None = None) -> Shape:
        """A query."""
        raise NotImplementedError

    def sources(self, depth: int, avoided: set[str]) -> tuple[str, tuple[Column, ...]]:
        """What stands in FROM, under names that are not to be avoided."""
        taken = set(avoided)
        texts: list[str] = []
        columns: tuple[Column, ...] = ()
        for joins in self.one((0,), (0,), (1,), (1,), (2,), (0, 0), (0, 1), (1, 0)):
            text, more = self.joined(depth, taken, joins)
            texts.append(text)
            columns = _beside(columns, more)
        return ", ".join(texts), columns

    def joined(self, depth: int, taken: set[str], joins: int) -> tuple[str, tuple[Column, ...]]:
        """Sources with joins between them."""
        text, left = self.source(depth, taken)
        for _ in range(joins):
            if self.maybe(0.1):
                inner, right = self.joined(depth, taken, 1)
                inner = f"({inner})"
            else:
                inner, right = self.source(depth, taken)
            side = self.one(
                "JOIN", "INNER JOIN", "LEFT JOIN", "LEFT OUTER JOIN", "LEFT JOIN", "RIGHT JOIN",
                "FULL JOIN", "FULL OUTER JOIN", "FULL JOIN", "CROSS JOIN", "LEFT SEMI JOIN",
                "LEFT ANTI JOIN",
            )  # fmt: skip
            if side == "CROSS JOIN":
                text, left = f"{text} CROSS JOIN {inner}", _beside(left, right)
                continue
            shared = _shared(left, right)
            if shared and self.maybe(0.4):
                names = self.dice.sample(shared, self.one(1, len(shared)))
                words = ", ".join(map(self.named, names))
                text = f"{text} {side} {inner} USING ({words})"
                after = _merged(left, right, names)
            else:
                text = f"{text} {side} {inner} ON {self.on(left, right)}"
                after = _beside(left, right)
            left = left if "SEMI" in side or "ANTI" in side else after
        return text, left

    def on(self, left: tuple[Column, ...], right: tuple[Column, ...]) -> str:
        """The condition of a join."""
        both = Level(_beside(left, right))
        pairs = [(x, y) for x in left for y in right if x.kind == y.kind and x.source and y.source]
        terms = []
        if pairs and self.maybe(0.85):
            x, y = self.one(*pairs)
            terms = [f"{self.reference(x, True)} = {self.reference(y, True)}"]
        if not terms or self.maybe(0.35):
            terms.append(self.condition(both, 1))
        self.dice.shuffle(terms)
        return " AND ".join(terms)

    def source(self, depth: int, taken: set[str]) -> tuple[str, tuple[Column, ...]]:
        """A table, a query or VALUES, under a name."""
        if depth > 0 and self.maybe(0.25):
            return self.derived(self.query(depth - 1), taken)
        if depth > 0 and self.maybe(0.08):
            return self.ranked(taken)
        if self.maybe(0.06):
            return self.constants(taken)
        views = {name: columns for name, (_, columns) in VIEWS.items()}
        name = self.one(*TABLES, *TABLES, *views, *self.queries, *self.queries)
        if name in self.queries:
            columns = self.queries[name]
        else:
            named = (TABLES | views)[name].items()
            columns = tuple((column, _KIND[of]) for column, of in named)
        if name not in taken and self.maybe(0.5):
            taken.add(name)
            return self.named(name), _columns(columns, name)
        alias = self.alias(taken)
        return f"{self.named(name)}{self.one(' ', ' AS ')}{alias}", _columns(columns, alias)

    def alias(self, taken: set[str]) -> str:
        """A name for a source."""
        free = [name for name in ("q", "r", "t", "u", "v", "w", "z") if name not in taken]
        number = 1
        while f"q{number}" in taken:
            number += 1
        alias = self.one(*free) if free else f"q{number}"
        taken.add(alias)
        return alias

    def derived(self, shape: Shape, taken: set[str]) -> tuple[str, tuple[Column, ...]]:
        """A query in FROM."""
        alias = self.alias(taken)
        if shape.placed and self.maybe(0.2):
            names = self.dice.sample(("a", "b", "k", "n", "m", "x", "y"), len(shape.columns))
            columns = tuple((n, k) for n, (_, k) in zip(names, shape.columns, strict=True))
            return f"({shape.text}) AS {alias} ({', '.join(names)})", _columns(columns, alias)
        return f"({shape.text}) AS {alias}", _columns(shape.columns, alias)

    def constants(self, taken: set[str]) -> tuple[str, tuple[Column, ...]]:
        """VALUES."""
        kinds = [self.one(*KINDS) for _ in range(self.one(1, 2))]
        rows = [
            ", ".join(self.literal(k) if n == 0 or self.maybe(0.8) else "NULL" for k in kinds)
            for n in range(self.one(1, 2, 3))
        ]
        alias = self.alias(taken)
        names = self.dice.sample(("a", "b", "k", "n"), len(kinds))
        listed = ", ".join(f"({row})" for row in rows)
        columns = _columns(tuple(zip(names, kinds, strict=True)), alias)
        return f"(VALUES {listed}) AS {alias} ({', '.join(names)})", columns

    def ranked(self, taken: set[str]) -> tuple[str, tuple[Column, ...]]:
        """The rows of a table with a low rank."""
        name = self.one(*(table for table in TABLES if table not in self.queries))
        columns = _columns(tuple((c, _KIND[of]) for c, of in TABLES[name].items()), "i")
        level = Level(columns)
        call = self.one("RANK", "DENSE_RANK", "ROW_NUMBER")
        order = self.total(level)
        if call != "ROW_NUMBER":
            order = self.sorted([self.reference(self.one(*columns))])
        keys = f"PARTITION BY {self.reference(self.one(*columns))} " if self.maybe(0.6) else ""
        second = ", COUNT(*) OVER () AS total" if self.maybe(0.3) else ""
        where = f" WHERE {self.condition(level, 1)}" if self.maybe(0.3) else ""
        text = f"SELECT *, {call}() OVER ({keys}{order}) AS rank{second} FROM {name} AS i{where}"
        bound = self.one(
            "rank = 1", "rank <= 2", "2 >= rank", "rank < 3 AND rank > 1", "rank = 0",
            "rank > 1", "rank <= 2 OR rank = 4", "rank BETWEEN 2 AND 3", "NOT rank > 2",
            "rank <= 3 AND rank <> 2", "rank <= 3 AND rank <= 1", "rank IN (1, 3)",
        )  # fmt: skip
        alias = self.alias(taken)
        shown = (*((c.name, c.kind) for c in columns), ("rank", INT))
        return (
            f"(SELECT * FROM ({text}) AS o WHERE {bound}) AS {alias}",
            _columns((*shown, ("total", INT)) if second else shown, alias),
        )


def _columns(pairs: tuple[Pair, ...], source: str) -> tuple[Column, ...]:
    return tuple(Column(name, kind, source) for name, kind in pairs)


def _bare(columns: tuple[Column, ...], name: str) -> list[Column]:
    return [c for c in columns if c.name.lower() == name.lower() and c.bare]


def _beside(left: tuple[Column, ...], right: tuple[Column, ...]) -> tuple[Column, ...]:
    """Two sources: what both have needs a qualified name."""
    both = {c.name.lower() for c in left} & {c.name.lower() for c in right}
    return tuple(
        replace(column, bare=False) if column.name.lower() in both else column
        for column in left + right
        if column.source is not None or column.name.lower() not in both
    )


def _shared(left: tuple[Column, ...], right: tuple[Column, ...]) -> list[str]:
    """The names that USING may have."""
    return [
        column.name
        for column in left
        if column.bare
        and len(_bare(left, column.name)) == 1
        and [c.kind for c in _bare(right, column.name)] == [column.kind]
    ]


def _merged(
    left: tuple[Column, ...], right: tuple[Column, ...], names: list[str]
) -> tuple[Column, ...]:
    folded = {name.lower() for name in names}
    kinds = {column.name.lower(): column.kind for column in left}
    rest = _beside(
        tuple(c for c in left if c.name.lower() not in folded),
        tuple(c for c in right if c.name.lower() not in folded),
    )
    hidden = tuple(
        replace(c, bare=False)
        for c in left + right
        if c.name.lower() in folded and c.source is not None
    )
    merged = tuple(Column(name, kinds[name.lower()], None) for name in names)
    return merged + rest + hidden


class Writer(Sources):
    """Writes queries."""

    def text(self) -> str:
        """A query."""
        return self.query(self.one(1, 1, 1, 1, 1, 2)).text

    def query(self, depth: int, kinds: tuple[str, ...] | None = None) -> Shape:
        """A query, perhaps with WITH."""
        if depth <= 0 or not self.maybe(0.15):
            return self.body(depth, kinds)
        before, parts, seen = self.queries, [], set[str]()
        for _ in range(self.one(1, 1, 2)):
            name = self.one("t", "u", "n", "Mine")
            if name in seen:
                continue
            seen.add(name)
            inner = self.query(depth - 1)
            listed = ""
            columns = inner.columns
            if inner.placed and self.maybe(0.3):
                names = self.dice.sample(("a", "b", "k", "n", "m", "x", "y"), len(columns))
                columns = tuple((n, k) for n, (_, k) in zip(names, columns, strict=True))
                listed = f" ({', '.join(names)})"
            parts.append(f"{self.named(name)}{listed} AS ({inner.text})")
            self.queries = {**self.queries, name: columns}
        shape = self.body(depth - 1, kinds)
        self.queries = before
        return replace(shape, text=f"WITH {', '.join(parts)} {shape.text}")

    def body(self, depth: int, kinds: tuple[str, ...] | None) -> Shape:
        """SELECT, or a set operation, perhaps the first rows of it."""
        if depth <= 0 or not self.maybe(0.25):
            return self.select(depth, kinds, ordered=True)
        kinds = kinds or tuple(self.one(*KINDS) for _ in range(self.one(1, 2, 3)))
        shape = self.operand(depth, kinds)
        for _ in range(self.one(1, 1, 1, 2, 3)):
            word = self.one("UNION", "EXCEPT", "INTERSECT") + self.one("", " ALL", " DISTINCT")
            other = self.operand(depth, tuple(map(self.widened, kinds)))
            both = tuple(
                (name, _wider(mine, theirs_))
                for (name, mine), (_, theirs_) in zip(shape.columns, other.columns, strict=True)
            )
            shape = Shape(f"{shape.text} {word} {other.text}", both)
        if self.maybe(0.2):
            shape = replace(shape, text=f"({shape.text})") if self.maybe(0.2) else shape
            keys = [str(place + 1) for place in range(len(kinds))]
            if self.maybe(0.3):
                keys = [f"`{name}`" for name, _ in shape.columns]
            self.dice.shuffle(keys)
            return replace(shape, text=f"{shape.text} {self.sorted(keys)} {self.limit()}")
        return shape

    def widened(self, kind: str) -> str:
        wider = {INT: NUM, NUM: REAL}
        return wider.get(kind, kind) if self.maybe(0.05) else kind

    def operand(self, depth: int, kinds: tuple[str, ...]) -> Shape:
        """A side of a set operation."""
        if self.maybe(0.25):
            inner = self.query(depth - 1, kinds)
            return replace(inner, text=f"({inner.text})")
        return self.select(depth - 1, kinds)

    def limit(self) -> str:
        """LIMIT."""
        return f"LIMIT {self.one(0, 1, 2, 3, 5)}{self.one('', '', ' OFFSET 1', ' OFFSET 2')}"

    # --- SELECT ---------------------------------------------------------------------------------

    def select(
        self, depth: int, kinds: tuple[str, ...] | None = None, *, ordered: bool = False
    ) -> Shape:
        """SELECT ... FROM ... WHERE ... GROUP BY ... HAVING ... ORDER BY ... LIMIT."""
        before, self.broken = self.broken, False
        shape = self.selected(depth, kinds, ordered)
        self.broken = before
        return shape

    def selected(self, depth: int, kinds: tuple[str, ...] | None, ordered: bool) -> Shape:
        """The clauses of a SELECT."""
        if self.maybe(0.03):
            return self.single(kinds)
        if kinds is None and self.maybe(0.12):
            return self.form()
        sources, columns = self.sources(depth, set())
        level = Level(columns, depth, outside=columns)
        where = f" WHERE {self.conditions(level)}" if self.maybe(0.4) else ""
        distinct = "DISTINCT " if self.maybe(0.15) else ""
        if kinds is None and self.maybe(0.2) and self.starred(columns):
            return self.star(f"{distinct}", f"{sources}{where}", level)
        wanted = kinds or tuple(self.one(*KINDS) for _ in range(self.one(1, 2, 3)))
        if self.maybe(0.35):
            return self.grouped(distinct, f"{sources}{where}", level, wanted, ordered)
        items = self.items(wanted, replace(level, windows=True))
        text = f"SELECT {distinct}{_listed(items)} FROM {sources}{where}"
        order = self.first(items, level, bool(distinct)) if ordered and self.maybe(0.15) else ""
        return Shape(f"{text}{order}", tuple((item.name, item.kind) for item in items))

    def form(self) -> Shape:
        """QUALIFY, WINDOW, DISTINCT ON, grouping sets, UNNEST or ASOF, on one table."""
        table = self.one(*TABLES)
        kinds = {f"`{name}`": _KIND[of] for name, of in TABLES[table].items()}
        columns = tuple(Column(name.strip("`"), kind, table) for name, kind in kinds.items())
        level = Level(columns, 0)
        keys = self.dice.sample(list(kinds), self.one(1, 1, 2))
        where = f" WHERE {self.condition(level, 1)}" if self.maybe(0.3) else ""
        where = f" WHERE {self.quantified(columns)}" if self.maybe(0.3) else where
        rest = f"FROM {table}{where}"
        return self.one(
            self.qualified,
            self.qualified,
            self.distinct_on,
            self.sets,
            self.sets,
            self.unnested,
            self.nearest,
        )(rest, keys, kinds, level)

    def quantified(self, columns: tuple[Column, ...]) -> str:
        """A comparison with ANY or ALL of a subquery, that may depend on the query around."""
        pairs = [
            (column, other, name)
            for column in columns
            for other in TABLES
            for name, of in TABLES[other].items()
            if _KIND[of] == column.kind
        ]
        column, other, name = self.one(*pairs)
        depends = [
            (mine.name, theirs)
            for mine in columns
            for theirs, of in TABLES[other].items()
            if _KIND[of] == mine.kind
        ]
        where = ""
        if depends and self.maybe(0.5):
            mine, theirs = self.one(*depends)
            sign = self.one("=", "<", "<>")
            where = f" WHERE q.`{theirs}` {sign} {column.source}.`{mine}`"
        words = self.one("ANY", "ALL", "SOME")
        text = f"{column.source}.`{column.name}` {self.one(*_COMPARED)} {words}"
        negated = self.one("", "", "NOT ")
        return f"{negated}{text} (SELECT q.`{name}` FROM {other} AS q{where})"

    def qualified(self, rest: str, keys: list[str], kinds: dict[str, str], level: Level) -> Shape:
        """SELECT ... WINDOW ... QUALIFY, all rows of a partition in an order without ties."""
        order = self.sorted(self.dice.sample(list(kinds), len(kinds)))
        window = f"PARTITION BY {', '.join(keys)}"
        called = self.one("ROW_NUMBER()", "RANK()", "DENSE_RANK()", "COUNT(*)", "NTILE(2)")
        called = self.one(called, "2 * CUME_DIST()", "3 * PERCENT_RANK()")
        items = ", ".join(f"{name} AS o{i}" for i, name in enumerate(kinds))
        pairs = tuple((f"o{i}", kind) for i, kind in enumerate(kinds.values()))
        bound = self.one("<= 1", "= 2", "> 1", "<> 1")
        more = f" AND {self.condition(level, 1)}" if self.maybe(0.4) else ""
        listed = f"SELECT {self.one('', 'DISTINCT ')}{items}"
        match self.one("alias", "named", "plain", "star"):
            case "alias":
                text = f"{listed}, {called} OVER ({window} {order}) AS n {rest} QUALIFY n {bound}"
                pairs += (("n", INT),)
            case "named":
                text = f"{listed} {rest} WINDOW w AS ({window}) QUALIFY {called} OVER (w {order})"
                text += f" {bound}"
            case "plain":
                text = f"{listed} {rest} QUALIFY {called} OVER ({window} {order}) {bound}"
            case _:
                text = f"SELECT * {rest} QUALIFY {called} OVER ({window} {order}) {bound}"
                pairs = tuple((name.strip("`"), kind) for name, kind in kinds.items())
        return Shape(f"{text}{more}", pairs)

    def distinct_on(self, rest: str, keys: list[str], kinds: dict[str, str], level: Level) -> Shape:
        """SELECT DISTINCT ON, the first rows in an order without ties."""
        others = [name for name in kinds if name not in keys]
        self.dice.shuffle(others)
        order = self.sorted([*keys, *others])
        shown = self.dice.sample(list(kinds), self.one(1, 2, len(kinds)))
        items = ", ".join(f"{name} AS o{i}" for i, name in enumerate(shown))
        pairs = tuple((f"o{i}", kinds[name]) for i, name in enumerate(shown))
        return Shape(f"SELECT DISTINCT ON ({', '.join(keys)}) {items} {rest} {order}", pairs)

    def sets(self, rest: str, keys: list[str], kinds: dict[str, str], level: Level) -> Shape:
        """GROUP BY ROLLUP, CUBE or GROUPING SETS."""
        grouped = self.dice.sample(list(kinds), self.one(1, 2, 2, 3))
        listed = ", ".join(grouped)
        first = grouped[0]
        by = self.one(
            f"ROLLUP ({listed})",
            f"CUBE ({listed})",
            f"GROUPING SETS (({listed}), ({first}), ())",
            f"GROUPING SETS (({listed}), ({first}), ({first}))",
            f"{first}, ROLLUP ({listed})",
            f"GROUPING SETS (ROLLUP ({listed}), ({first}))",
        )
        items = [Item(name, kinds[name], f"o{i}") for i, name in enumerate(grouped)]
        kind = self.one(INT, TEXT, DATE)
        texts = [name for name in kinds if kinds[name] == TEXT]
        joined = f"STRING_AGG({self.one(*texts)}, '-' ORDER BY {texts[0]})" if texts else "MIN('a')"
        made = joined if kind == TEXT and self.maybe(0.6) else self.aggregate(kind, level)
        items.append(Item(made, kind, "m"))
        if self.maybe(0.5):
            items.append(Item(f"GROUPING({listed})", INT, "g"))
        having = f" HAVING {self.one('COUNT(*) > 1', f'{first} IS NOT NULL')}"
        text = f"SELECT {self.one('', '', 'DISTINCT ')}{_listed(items)} {rest} GROUP BY {by}"
        pairs = tuple((item.name, item.kind) for item in items)
        return Shape(f"{text}{having if self.maybe(0.3) else ''}", pairs)

    def unnested(self, rest: str, keys: list[str], kinds: dict[str, str], level: Level) -> Shape:
        """The items of an array beside each row, some of them columns of the row."""
        kind = self.one(*kinds.values())
        items = [self.expression(kind, level, 1) for _ in range(self.one(1, 2, 3))]
        listed = ", ".join(f"CAST({item} AS {_CASTS[kind]})" for item in items)
        array = f"UNNEST(ARRAY({listed}))"
        source, where, conditions = rest.partition(" WHERE ")
        sources = f"{source}{self.one(', ', ' CROSS JOIN ')}{array} AS z (n)"
        if where and self.maybe(0.5):
            conditions += f" AND z.n {self.one(*_COMPARED)} {self.literal(kind)}"
        if self.maybe(0.4):
            made = self.one("COUNT(*)", "COUNT(DISTINCT z.n)", f"MAX({self.one(*kinds)})")
            text = f"SELECT z.n AS o, {made} AS m {sources}{where}{conditions} GROUP BY z.n"
            return Shape(text, (("o", kind),))
        shown = self.dice.sample(list(kinds), self.one(1, 2))
        columns = ", ".join(f"{name} AS o{i}" for i, name in enumerate(shown))
        distinct = self.one("", "", "DISTINCT ")
        text = f"SELECT {distinct}{columns}, z.n AS o {sources}{where}{conditions}"
        return Shape(text, (*((f"o{i}", kinds[name]) for i, name in enumerate(shown)), ("o", kind)))

    def nearest(self, rest: str, keys: list[str], kinds: dict[str, str], level: Level) -> Shape:
        """ASOF JOIN with the rows of another table, of which no two are equally near."""
        table = level.columns[0].source
        ordered = [name for name, kind in kinds.items() if kind in (INT, NUM, REAL, DATE)]
        mine = self.one(*ordered)
        pairs = [
            (key, other, f"`{its}`", f"`{near}`")
            for key, kind in kinds.items()
            for other, columns in TABLES.items()
            for its, of in columns.items()
            for near, at in columns.items()
            if _KIND[of] == kind and _KIND[at] == kinds[mine] and its != near
        ]
        if not pairs:
            return self.sets(rest, keys, kinds, level)
        key, other, its, near = self.one(*pairs)
        right = f"(SELECT {its} AS rk, {near} AS rt, COUNT(*) AS rn FROM {other} GROUP BY 1, 2)"
        side = self.one("ASOF JOIN", "ASOF LEFT JOIN")
        match = f"{table}.{mine} {self.one('>=', '>', '<=', '<')} z.rt"
        source, where, conditions = rest.partition(" WHERE ")
        join = f"{source} {side} {right} AS z ON {table}.{key} = z.rk AND {match}"
        text = f"SELECT {table}.{key} AS o, {table}.{mine} AS l, z.rt AS r, z.rn AS n {join}"
        shown = (("o", kinds[key]), ("l", kinds[mine]), ("r", kinds[mine]), ("n", INT))
        return Shape(f"{text}{where}{conditions}", shown)

    def single(self, kinds: tuple[str, ...] | None) -> Shape:
        """SELECT without FROM."""
        wanted = kinds or (self.one(*KINDS),)
        items = self.items(wanted, Level((), 1))
        return Shape(f"SELECT {_listed(items)}", tuple((i.name, i.kind) for i in items))

    def starred(self, columns: tuple[Column, ...]) -> bool:
        """Whether * has columns of different names."""
        shown = [c.name.lower() for c in columns if c.bare]
        hidden = {c.name.lower() for c in columns if not c.bare}
        return len(set(shown)) == len(shown) and hidden <= {
            c.name.lower() for c in columns if c.source is None
        }

    def star(self, distinct: str, rest: str, level: Level) -> Shape:
        """SELECT *, and more."""
        shown = [column for column in level.columns if column.bare]
        merged = any(column.source is None for column in level.columns)
        text, placed = "*", not merged
        if not merged and self.maybe(0.3):
            source = self.one(*shown).source
            assert source is not None
            text, shown = f"{self.named(source)}.*", [c for c in shown if c.source == source]
        elif len(shown) > 1 and self.maybe(0.3):
            dropped = self.one(*shown)
            text = f"* EXCEPT ({self.named(dropped.name)})"
            shown = [column for column in shown if column is not dropped]
        pairs = tuple((column.name, column.kind) for column in shown)
        if self.maybe(0.3):
            kind = self.one(*KINDS)
            text += f", {self.expression(kind, replace(level, windows=True))} AS more"
            pairs += (("more", kind),)
        seen: dict[str, Pair] = {name.lower(): (name, kind) for name, kind in pairs}
        if len(seen) < len(pairs) or len(pairs) > 7:
            kind = self.one(*KINDS)
            return Shape(
                f"SELECT {distinct}{self.expression(kind, level)} AS n FROM {rest}", (("n", kind),)
            )
        return Shape(f"SELECT {distinct}{text} FROM {rest}", pairs, placed)

    def items(self, kinds: tuple[str, ...], level: Level) -> list[Item]:
        """The columns of a SELECT list."""
        items: list[Item] = []
        for kind in kinds:
            text = self.expression(kind, level)
            items.append(self.item(text, kind, items))
        return items

    def item(self, text: str, kind: str, before: list[Item]) -> Item:
        """A column, under a name that none before it has."""
        taken = {item.name.lower() for item in before}
        own = text.split(".")[-1].strip("`")
        plain = text.replace("`", "").replace(".", "").isidentifier() and own.lower() not in (
            "true", "false",
        )  # fmt: skip
        if plain and own.lower() not in taken and self.maybe(0.5):
            return Item(text, kind, own, named=False)
        pool = ["n1", "n2", "n3", "n4", "my name", "a", "b", "k"]
        free = [name for name in pool if name not in taken]
        name = self.one(*free[:4]) if self.maybe(0.8) else self.one(*free)
        return Item(text, kind, name)

    def first(self, items: list[Item], level: Level, distinct: bool) -> str:
        """ORDER BY ... LIMIT."""
        keys = []
        if not distinct and self.maybe(0.5):
            plain = replace(level, qualified=True, windows=level.keys is None)
            text = self.expression(self.one(*KINDS), plain)
            keys += [] if text.lstrip("-").replace(".", "").isdigit() else [f"({text})"]
        rest = [
            str(place) if self.maybe(0.5) or not item.named else f"`{item.name}`"
            for place, item in enumerate(items, 1)
        ]
        self.dice.shuffle(rest)
        return f" {self.sorted(keys + rest)} {self.limit()}"

    def grouped(
        self, distinct: str, rest: str, level: Level, kinds: tuple[str, ...], ordered: bool
    ) -> Shape:
        """SELECT with GROUP BY or aggregates."""
        keys: list[Pair] = []
        outside: list[Column] = []
        for _ in range(self.one(0, 1, 1, 2, 2)):
            column = self.one(*level.columns)
            if self.maybe(0.6):
                keys.append((self.reference(column), column.kind))
                outside += [column] if column.source is not None else []
            else:
                keys.append(self.key_expression(column, level))
        above = replace(level, keys=tuple(keys), outside=tuple(outside))
        items = self.items(kinds, replace(above, windows=True))
        names = {column.name.lower() for column in level.columns}
        by = [self.grouped_by(text, items, names) for text, _ in keys]
        group = f" GROUP BY {', '.join(by)}" if by else ""
        clash = any(item.named and item.name.lower() in names for item in items)
        having = ""
        if self.maybe(0.4) and not clash:
            having = f" HAVING {self.conditions(above)}"
            named = [i for i in items if i.named and " OVER " not in i.text]
            if named and self.maybe(0.3):
                item = self.one(*named)
                having += f" AND `{item.name}` {self.one(*_COMPARED)} {self.literal(item.kind)}"
        elif not keys:
            having = " HAVING COUNT(*) >= 0"
        text = f"SELECT {distinct}{_listed(items)} FROM {rest}{group}{having}"
        if ordered and not clash and self.maybe(0.2):
            text += self.first(items, above, bool(distinct))
        return Shape(text, tuple((item.name, item.kind) for item in items))

    def key_expression(self, column: Column, level: Level) -> Pair:
        """What rows are grouped by, other than a column; never a constant, which is a position."""
        name, kind = self.reference(column), column.kind
        options = [
            (f"COALESCE({name}, {self.literal(kind)})", kind),
            (f"({name} IS NULL)", BOOL),
            (f"({name} {self.one(*_COMPARED)} {self.literal(kind)})", BOOL),
            (f"CASE WHEN {self.condition(replace(level, depth=0), 1)} THEN {name} END", kind),
        ]
        if kind in (INT, NUM, REAL):
            options.append((f"({name} {self.one('+', '-')} 1)", kind))
        if kind == TEXT:
            options += [(f"UPPER({name})", TEXT), (f"LENGTH({name})", INT)]
        return self.one(*options)

    def grouped_by(self, text: str, items: list[Item], names: set[str]) -> str:
        """A key as GROUP BY has it: as it is, or by the position or the alias of a column."""
        for place, item in enumerate(items, 1):
            if item.text == text:
                if self.maybe(0.4):
                    return str(place)
                if item.named and item.name not in names and self.maybe(0.5):
                    return f"`{item.name}`"
        return text

    # --- subqueries -----------------------------------------------------------------------------

    def value(self, kind: str, level: Level) -> str:
        depth = level.depth - 1
        form = self.dice.random()
        if form < 0.06:
            return f"(SELECT {self.expression(kind, Level(()), 1)})"
        if form < 0.16:
            name = "BOOL_OR" if kind == BOOL else self.one("MIN", "MAX")
            return f"(SELECT {name}(n) FROM ({self.select(depth, (kind,)).text}) AS z (n))"
        if form < 0.28:
            shape = self.select(depth, (kind,))
            return f"({shape.text} ORDER BY 1 LIMIT 1)"
        rest, inner = self.inside(level, equalities=self.maybe(0.5))
        own = Level(inner, depth)
        having = ""
        if form < 0.35:
            having = f" HAVING {self.condition(replace(own, keys=()), 1)}"
        columns = replace(own, keys=())
        item = self.aggregate(kind, self.within(inner, level) if self.maybe(0.3) else own)
        if self.maybe(0.2):
            item = self.expression(kind, columns, 1)
            if not _aggregated(item) or "SELECT" in item:
                item = self.aggregate(kind, own)
        return f"(SELECT {item} FROM {rest}{having})"

    def membership(self, level: Level) -> str:
        negated = self.one("", "NOT ")
        if self.maybe(0.1):
            return f"{negated}EXISTS ({self.query(level.depth - 1).text})"
        if self.maybe(0.35):
            rest, inner = self.inside(level, equalities=False)
            star = "*" if self.starred(inner) else "2"
            within = self.within(inner, level)
            item = self.one("1", star, self.expression(self.one(*KINDS), within, 1))
            return f"{negated}EXISTS (SELECT {item} FROM {rest})"
        kinds = tuple(self.one(*KINDS, INT, INT) for _ in range(self.one(1, 1, 1, 1, 2)))
        operands = [self.expression(kind, replace(level, depth=0), 1) for kind in kinds]
        left = operands[0] if len(operands) == 1 else f"({', '.join(operands)})"
        if self.maybe(0.4):
            return f"{left} {negated}IN ({self.query(level.depth - 1, kinds).text})"
        # DuckDB has no IN with several columns that depends on the query around.
        around = level if len(kinds) == 1 else replace(level, outside=())
        rest, inner = self.inside(around, equalities=self.maybe(0.7))
        items = [
            f"{self.expression(kind, self.within(inner, around), 1)} AS i{place}"
            for place, kind in enumerate(kinds)
        ]
        distinct = self.one("", "", "DISTINCT ")
        return f"{left} {negated}IN (SELECT {distinct}{', '.join(items)} FROM {rest})"

    def within(self, inner: tuple[Column, ...], around: Level) -> Level:
        """The SELECT list of a subquery, that may hold columns of the query around it."""
        sources = {column.source for column in inner}
        outer = [c for c in around.outside if c.source is not None and c.source not in sources]
        if around.keys is not None or not outer or not self.maybe(0.2):
            return Level(inner)
        return Level((*inner, replace(self.one(*outer), bare=False)))

    def inside(self, level: Level, *, equalities: bool) -> tuple[str, tuple[Column, ...]]:
        """FROM and WHERE of a subquery, that may depend on the query around it."""
        depends = level.outside and self.maybe(0.6)
        names = {c.source for c in level.columns if c.source is not None} if depends else set()
        sources, inner = self.sources(max(0, level.depth - 1), names)
        own = Level(inner, level.depth - 1, outside=inner)
        terms = [self.condition(own, 1)] if self.maybe(0.35) else []
        if depends:
            for _ in range(self.one(1, 1, 2)):
                pairs = [
                    (x, y)
                    for x in level.outside
                    for y in inner
                    if x.kind == y.kind and x.source is not None
                ]
                if pairs:
                    x, y = self.one(*pairs)
                    taken = {column.name.lower() for column in inner}
                    bare = x.bare and x.name.lower() not in taken and self.maybe(0.3)
                    outer = self.named(x.name) if bare else self.reference(x, True)
                    op = "=" if equalities or self.maybe(0.6) else self.one(*_COMPARED, "<=>")
                    both = [self.reference(y), outer]
                    if op == "=":
                        self.dice.shuffle(both)
                    terms.append(f"{both[0]} {op} {both[1]}")
        self.dice.shuffle(terms)
        where = f" WHERE {' AND '.join(terms)}" if terms else ""
        return f"{sources}{where}", inner


def _listed(items: list[Item]) -> str:
    return ", ".join(f"{item.text} AS `{item.name}`" if item.named else item.text for item in items)


_AGGREGATES = ("COUNT(", "SUM(", "MIN(", "MAX(", "AVG(", "BOOL_", "STRING_AGG(")


def _aggregated(text: str) -> bool:
    return any(name in text for name in _AGGREGATES)


def _wider(left: str, right: str) -> str:
    order = (INT, NUM, REAL)
    if left == right:
        return left
    return order[max(order.index(left), order.index(right))]
