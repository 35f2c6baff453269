"""Random queries on ``t (a, b)``, ``u (x, y)`` and ``v (k, w)``, all of whole numbers.

They are of the part of SQL that has one meaning everywhere: what depends on the order of rows is
ordered by all of them, and a subquery that is a value is an aggregate.
"""

from collections.abc import Callable, Mapping
from random import Random

TABLES = {"t": ("a", "b"), "u": ("x", "y"), "v": ("k", "w")}

Scope = Mapping[str, tuple[str, ...]]


class Writer:
    """Writes a query; ``source`` says how a table stands in FROM."""

    def __init__(self, dice: Random, source: Callable[[str, Random], str]) -> None:
        self.dice = dice
        self.source = source
        self.names = 0

    def query(self, depth: int = 2) -> str:
        """A query."""
        if depth > 0 and self.maybe(0.2):
            width = self.dice.randint(1, 2)
            operation = self.one_of("UNION", "EXCEPT", "INTERSECT") + self.one_of("", " ALL")
            return f"{self.select(depth - 1, width)} {operation} {self.select(depth - 1, width)}"
        text = self.select(depth, self.dice.randint(1, 3))
        if self.maybe(0.15):
            return f"SELECT * FROM ({text}) AS q WHERE TRUE"
        return text

    def select(self, depth: int, width: int) -> str:
        """A SELECT of some columns o0, o1, ..."""
        sources, scope = self.sources(depth)
        where = f" WHERE {self.conditions(scope, depth)}" if self.maybe(0.6) else ""
        if self.maybe(0.35):
            columns, rest = self.grouped(scope, depth, width)
        else:
            columns, rest = [self.column(scope, depth) for _ in range(width)], ""
        distinct = "DISTINCT " if self.maybe(0.15) else ""
        listed = ", ".join(f"{column} AS o{place}" for place, column in enumerate(columns))
        text = f"SELECT {distinct}{listed} FROM {sources}{where}{rest}"
        if self.maybe(0.1):
            order = ", ".join(f"{place} NULLS FIRST" for place in range(1, width + 1))
            return f"(SELECT * FROM ({text}) AS {self.name()} ORDER BY {order} LIMIT 3)"
        return text

    # --- FROM -----------------------------------------------------------------------------------

    def sources(self, depth: int) -> tuple[str, Scope]:
        text, scope = self.table(depth)
        for _ in range(self.one_of(0, 0, 1, 1, 2)):
            other, more = self.table(depth)
            words = self.one_of(
                "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN", "LEFT SEMI JOIN",
                "LEFT ANTI JOIN",
            )  # fmt: skip
            if words == "CROSS JOIN":
                text = f"{text} CROSS JOIN {other}"
            else:
                text = f"{text} {words} {other} ON {self.name_of(scope)} = {self.name_of(more)}"
                if self.maybe(0.3):
                    text += f" AND {self.name_of(more)} > {self.dice.randint(0, 2)}"
            if "SEMI" not in words and "ANTI" not in words:
                scope = {**scope, **more}
        return text, scope

    def table(self, depth: int) -> tuple[str, Scope]:
        alias = self.name()
        if depth > 0 and self.maybe(0.25):
            width = self.dice.randint(1, 3)
            columns = tuple(f"o{place}" for place in range(width))
            return f"({self.select(depth - 1, width)}) AS {alias}", {alias: columns}
        if depth > 0 and self.maybe(0.15):
            return self.ranked(alias)
        name = self.one_of(*TABLES)
        return f"{self.source(name, self.dice)} AS {alias}", {alias: TABLES[name]}

    def ranked(self, alias: str) -> tuple[str, Scope]:
        """The rows of a table with a low rank."""
        name, inner = self.one_of(*TABLES), self.name()
        first, second = (f"{inner}.{column}" for column in TABLES[name])
        rank = f"{self.one_of('RANK', 'DENSE_RANK')}() OVER (PARTITION BY {first}"
        rank += f" ORDER BY {second} NULLS FIRST) AS n"
        text = f"SELECT {first} AS p, {second} AS q, {rank} FROM {self.source(name, self.dice)}"
        bound = self.one_of("n <= 2", "n = 1", "n < 3 AND n > 1", "n > 1")
        return f"(SELECT * FROM ({text} AS {inner}) AS {self.name()} WHERE {bound}) AS {alias}", {
            alias: ("p", "q", "n")
        }

    # --- expressions ----------------------------------------------------------------------------

    def grouped(self, scope: Scope, depth: int, width: int) -> tuple[list[str], str]:
        keys = [self.name_of(scope) for _ in range(self.one_of(0, 1, 1, 2))]
        columns = []
        for _ in range(width):
            choices = [self.aggregate(scope), f"{self.aggregate(scope)} + 1"]
            choices += [*keys, f"COALESCE({keys[0]}, 0) * 2"] if keys else []
            if keys and depth > 0:
                choices.append(f"({self.subquery(keys[:1], 'COUNT')})")
            choices.append("SUM(COUNT(*)) OVER ()")
            columns.append(self.one_of(*choices))
        text = f" GROUP BY {', '.join(keys)}" if keys else ""
        if self.maybe(0.3) or not keys:
            text += f" HAVING {self.aggregate(scope)} >= {self.dice.randint(0, 2)}"
            if self.maybe(0.3) and depth > 0:
                text += f" AND {self.aggregate(scope)} IN ({self.subquery([], None)})"
        return columns, text

    def aggregate(self, scope: Scope) -> str:
        column = self.name_of(scope)
        return self.one_of(
            "COUNT(*)",
            f"SUM({column})",
            f"MAX({column})",
            f"COUNT(DISTINCT {column})",
            f"COUNT(*) FILTER (WHERE {column} > 1)",
        )

    def column(self, scope: Scope, depth: int) -> str:
        name = self.name_of(scope)
        choices = [name, name, f"{name} + {self.name_of(scope)}", f"COALESCE({name}, -1)"]
        choices.append(f"CASE WHEN {self.comparison(scope)} THEN {name} ELSE 0 END")
        choices.append(f"SUM({name}) OVER (PARTITION BY {self.name_of(scope)})")
        choices.append(f"RANK() OVER (ORDER BY {name} NULLS FIRST)")
        if depth > 0:
            names = [self.name_of(scope)] if self.maybe(0.6) else []
            choices.append(f"({self.subquery(names, self.one_of('MAX', 'COUNT', 'SUM'))})")
            choices.append(f"CAST({self.condition(scope, depth)} AS INT)")
        return self.one_of(*choices)

    def conditions(self, scope: Scope, depth: int) -> str:
        count = self.dice.randint(1, 3)
        return " AND ".join(self.condition(scope, depth) for _ in range(count))

    def condition(self, scope: Scope, depth: int) -> str:
        name = self.name_of(scope)
        choices = [self.comparison(scope), f"{name} IS NOT NULL", f"{name} NOT IN (1, 2)"]
        if depth > 0:
            negated = self.one_of("", "NOT ")
            names = [self.name_of(scope)] if self.maybe(0.6) else []
            choices.append(f"{negated}EXISTS ({self.subquery(names, None)})")
            choices.append(f"{name} {negated}IN ({self.subquery(names, None)})")
            choices.append(f"{name} >= ({self.subquery(names, 'MIN')})")
            inner = [self.condition(scope, depth - 1) for _ in range(2)]
            choices.append(f"({inner[0]} OR {inner[1]})")
        return self.one_of(*choices)

    def comparison(self, scope: Scope) -> str:
        other = self.one_of(self.name_of(scope), str(self.dice.randint(0, 3)))
        return f"{self.name_of(scope)} {self.one_of('=', '<', '>=', '<>')} {other}"

    def subquery(self, outside: list[str], aggregate: str | None) -> str:
        """A subquery on one table, joined to names outside of it by equalities."""
        name, alias = self.one_of(*TABLES), self.name()
        scope = {alias: TABLES[name]}
        column = self.name_of(scope)
        conditions = [f"{self.name_of(scope)} = {other}" for other in outside]
        if self.maybe(0.4):
            conditions.append(self.comparison(scope))
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        item = column if aggregate is None else f"{aggregate}({column})"
        return f"SELECT {item} FROM {self.source(name, self.dice)} AS {alias}{where}"

    # --- choices --------------------------------------------------------------------------------

    def name(self) -> str:
        self.names += 1
        return f"s{self.names}"

    def name_of(self, scope: Scope) -> str:
        table = self.one_of(*scope)
        return f"{table}.{self.one_of(*scope[table])}"

    def maybe(self, share: float) -> bool:
        return self.dice.random() < share

    def one_of(self, *choices):  # type: ignore[no-untyped-def]
        return self.dice.choice(choices)
