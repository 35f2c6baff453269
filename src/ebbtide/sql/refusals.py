"""What other SQL has and Ebbtide's has not: every refusal, with its code, message and hint.

Law: no other module of this package makes an `UnsupportedError`.  The parser refuses by the word
that it meets, the last look at a tree (`checks`) by a node or an argument that is not allowed, and
the binder by what stands for nothing that it could bind; each takes its words from here.  A
mistake in a query that is otherwise in the language is no refusal: its error stands where it is
found.
"""

from typing import Protocol

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.tokenizer_core import TokenType

from ebbtide.errors import BindError, EbbtideError, Span, UnsupportedError

__all__ = ["Refusal"]


class Refusal(Protocol):
    """Makes the error, at a place, with words in the places that the message leaves open."""

    def __call__(self, span: Span | None = None, **words: str) -> EbbtideError: ...


def _refusal(
    code: str, message: str, hint: str | None = None, detail: str | None = None
) -> Refusal:
    def error(span: Span | None = None, **words: str) -> EbbtideError:
        said, what_helps, facts = (
            text and text.format(**words) for text in (message, hint, detail)
        )
        return UnsupportedError(code, str(said), span=span, hint=what_helps, detail=facts)

    return error


def _without_meaning(code: str, message: str, hint: str) -> Refusal:
    """Refuses a clause that another system would ignore."""

    def error(span: Span | None = None, **words: str) -> EbbtideError:
        return BindError(code, message, span=span, hint=hint.format(**words))

    return error


def _absent(what: str, hint: str | None = None) -> Refusal:
    """Refuses what is not in the language at all."""
    return _refusal("unsupported-syntax", f"{what} is not in the language", hint)


# --- by the word: the parser -------------------------------------------------------------------

_NAMED_WINDOW = _absent("a named window", "repeat the window in parentheses after OVER")

CLAUSES = {
    "QUALIFY": _absent("QUALIFY", "put the query in a subquery and filter its rows with WHERE"),
    "WINDOW": _NAMED_WINDOW,
    "CLUSTER BY": _absent("CLUSTER BY"),
    "DISTRIBUTE BY": _absent("DISTRIBUTE BY"),
    "SORT BY": _absent("SORT BY"),
    "FETCH": _absent("FETCH", "the number of rows is given by LIMIT"),
    "TABLESAMPLE": _absent("TABLESAMPLE"),
    "LATERAL": _absent("LATERAL"),
    "PIVOT": _absent("PIVOT"),
    "UNPIVOT": _absent("UNPIVOT"),
}
AFTER_A_SOURCE = ("PIVOT", "UNPIVOT", "TABLESAMPLE")
GROUPINGS = {
    "CUBE": _absent("CUBE"),
    "ROLLUP": _absent("ROLLUP"),
    "GROUPING SETS": _absent("GROUPING SETS"),
    "ALL": _absent("GROUP BY ALL"),
}
JOINS = {"NATURAL": _absent("NATURAL JOIN", "name the columns with USING")}
_STATEMENTS = """
    ALTER ANALYZE BEGIN CACHE CALL COMMIT COPY DELETE DESC DESCRIBE GRANT LOAD MERGE REFRESH REVOKE
    ROLLBACK SET TRUNCATE UNCACHE UPDATE USE VACUUM
"""
STATEMENTS = tuple(_STATEMENTS.split())

STATEMENT = _absent("the statement {name}", "the statements are {known}")
NAMED_WINDOW = _NAMED_WINDOW
FRAME_OF_GROUPS = _absent("a frame of GROUPS", "a frame is of ROWS or of RANGE")
LAMBDA = _absent("a lambda function")
ARGUMENT_BY_NAME = _absent("an argument by name")
OPTIMIZER_HINT = _absent("a hint")
LIMIT_ALL = _absent("LIMIT ALL")
NAME_IN_TWO_PARTS = _absent("a name in two parts")
COMMENT_IN_BRACES = _absent("a comment in braces", "a comment is written /* ... */ or -- ...")


def by_token(words: dict[str, Refusal]) -> dict[TokenType, Refusal]:
    """Refusals by the tokens that words are read as."""
    return {Spark.Tokenizer.KEYWORDS[word]: refusal for word, refusal in words.items()}


# --- by the node: the last look ----------------------------------------------------------------

_BY_NAME = _absent("BY NAME")

NODES: dict[type[exp.Expr], Refusal] = {
    exp.Array: _absent("an array in brackets", "an array is made by ARRAY(...)"),
    exp.Struct: _absent("a struct in braces", "a struct is made by STRUCT(...)"),
    exp.Kwarg: ARGUMENT_BY_NAME,
    exp.Slice: _absent("a part of an array"),
    exp.HavingMax: _absent("HAVING in a call"),
    exp.IgnoreNulls: _absent("IGNORE NULLS here"),
    exp.RespectNulls: _absent("RESPECT NULLS here"),
    exp.AtTimeZone: _absent("AT TIME ZONE"),
    exp.BitwiseLeftShift: _absent("the operator <<"),
    exp.BitwiseRightShift: _absent("the operator >>"),
}
ARGUMENTS: dict[tuple[type[exp.Expr], str], Refusal] = {
    (exp.With, "recursive"): _absent("a recursive query"),
    (exp.Distinct, "on"): _absent("DISTINCT ON"),
    (exp.Distinct, "expressions"): _absent("DISTINCT here"),
    (exp.Select, "into"): _absent("SELECT INTO", "use INSERT INTO name SELECT ..."),
    (exp.Select, "kind"): _absent("SELECT AS"),
    (exp.Order, "this"): _absent(
        "ORDER BY in a call", "give the order with WITHIN GROUP (ORDER BY ...)"
    ),
    (exp.Limit, "this"): _absent("LIMIT in a call"),
    (exp.Star, "replace"): _absent("* REPLACE"),
    (exp.Star, "rename"): _absent("* RENAME"),
    (exp.Union, "by_name"): _BY_NAME,
    (exp.Intersect, "by_name"): _BY_NAME,
    (exp.Except, "by_name"): _BY_NAME,
    (exp.CTE, "materialized"): _absent("MATERIALIZED"),
    (exp.Subquery, "joins"): _absent(
        "a join of queries without SELECT", "put SELECT * FROM before it"
    ),
}
OTHER = _absent("{what}")
"""What is not allowed and has no words of its own: a node or an argument, by its name."""

ROW_OF_VALUES = _absent("a row of values here", "write STRUCT{values}")

# --- by what stands for nothing: the binder ----------------------------------------------------

NOT_AN_EXPRESSION = _refusal("unsupported-syntax", "{text} is not an expression")
TUPLE = _refusal("unsupported-syntax", "a tuple can only stand before IN")
OUTER_COLUMN = _refusal(
    "correlated-subquery",
    '"{name}" is of a query around this one, and cannot be used here',
    detail="a subquery can use columns of the query that it directly stands in, in WHERE",
)
VALUE_BY_OTHER_THAN_EQUALITIES = _refusal(
    "correlated-subquery",
    "a subquery that is a value depends on the query around it by equalities only",
    hint="join the two, and group",
    detail="{term} is none",
)
IN_OF_SEVERAL_COLUMNS = _refusal(
    "unsupported-subquery",
    "IN with several columns that can be NULL is a condition of WHERE only",
)
ORDER_OF_A_PERCENTILE = _refusal(
    "unsupported-order", "{name} is ordered by one expression, ascending"
)
ORDER_WITHOUT_LIMIT = _without_meaning(
    "order-without-limit",
    "an order without LIMIT means nothing: a result is a bag of rows",
    "write {clause} LIMIT 10",
)
OFFSET_WITHOUT_LIMIT = _without_meaning(
    "order-without-limit",
    "OFFSET without LIMIT means nothing: a result is a bag of rows",
    "write LIMIT 10 {clause}",
)

INTO_A_TABLE = _refusal(
    "insert-not-built",
    'INSERT INTO the table "{name}" is understood, but cannot be run yet',
    "INSERT INTO a stream, or run the query with a sink",
)
RECURSIVE_STREAM = _refusal(
    "recursive-stream",
    '"{name}" would be fed by a query that reads it',
    "read from what feeds it",
)
