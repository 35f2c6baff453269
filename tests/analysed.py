"""Queries as SQL, analysed: for tests of what the compiler proves."""

from ebbtide.algebra.relation import Relation
from ebbtide.analysis import Analysis, analyse, check, explain
from ebbtide.analysis.explain import Explanation
from ebbtide.errors import Span
from ebbtide.optimizer import guarded, optimise, prepared, written
from ebbtide.sql import parse
from ebbtide.sql.binder import bind_query, execute
from ebbtide.sql.bound import BoundQuery
from ebbtide.sql.catalog import Catalog
from ebbtide.sql.syntax import Query


class World:
    """Declarations, and queries over them."""

    def __init__(self, declarations: str) -> None:
        self.catalog = Catalog()
        for statement in parse(declarations):
            self.catalog = execute(statement, self.catalog)

    def bound(self, sql: str) -> BoundQuery:
        """The plan of a query."""
        (statement,) = parse(sql)
        assert isinstance(statement, Query)
        return bind_query(statement, self.catalog)

    def analysed(self, sql: str) -> Analysis:
        """What is proved about a query."""
        bound = self.bound(sql)
        return analyse(prepared(bound.plan, bound.on_error).plan, bound.emit)

    def checked(self, sql: str) -> Analysis:
        """The same, or the error with which it is refused."""
        bound = self.bound(sql)
        plan = optimise(bound.plan, bound.on_error)
        runs = guarded(plan, bound.on_error)

        def place(node: Relation) -> Span | None:
            return bound.written.span(written(bound.plan, plan, runs.origin(node)))

        return check(runs.plan, bound.emit, bound.allow_unbounded, place)

    def explained(self, sql: str) -> Explanation:
        """What EXPLAIN says."""
        bound = self.bound(sql)
        return explain(prepared(bound.plan, bound.on_error).plan, bound.emit)


def rules(analysis: Analysis) -> list[str]:
    """What the operators keep, the root's first."""
    operators = (node for node in analysis.nodes() if node.inputs)
    return [f"{store.size}: {store.rule}" for node in operators for store in node.stores]
