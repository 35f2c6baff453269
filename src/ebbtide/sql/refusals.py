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
from ebbtide.sql import nodes

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

CLAUSES = {
    "CLUSTER BY": _absent("CLUSTER BY", "leave it out"),
    "DISTRIBUTE BY": _absent("DISTRIBUTE BY", "leave it out"),
    "SORT BY": _absent("SORT BY", "leave it out"),
    "FETCH": _absent("FETCH", "write LIMIT {count}"),
    "TABLESAMPLE": _absent(
        "TABLESAMPLE", "a part of the rows is a condition: WHERE PMOD(id, 10) = 0"
    ),
    "LATERAL": _absent(
        "LATERAL",
        "UNNEST(items) AS t (item) has a row for each item; QUALIFY ROW_NUMBER() OVER (PARTITION "
        "BY k ORDER BY x DESC) <= 3 keeps the first of each group",
    ),
    "UNPIVOT": _absent("UNPIVOT"),
}
SPREAD = ("CLUSTER BY", "DISTRIBUTE BY", "SORT BY")
PIVOT_OF_ALL = _refusal(
    "unsupported-syntax",
    "PIVOT is of a query that names its columns",
    "write (SELECT {columns} FROM {item}) PIVOT",
    "it groups by the columns that it does not name itself: list these, too",
)
REPARTITIONED = _absent("PARTITION BY here", "leave it out")
AFTER_A_SOURCE = ("UNPIVOT", "TABLESAMPLE")
GROUPINGS = {"ALL": _absent("GROUP BY ALL", "list what to group by")}
JOINS = {"NATURAL": _absent("NATURAL JOIN", "name the columns with USING")}
_STATEMENTS = """
    ALTER ANALYZE BEGIN CACHE CALL COMMIT COPY DELETE DESC DESCRIBE END EXECUTE FLUSH GRANT LIST
    LOAD MERGE PAUSE PRINT REFRESH RESUME REVOKE ROLLBACK SET SUBSCRIBE TAIL TERMINATE TRUNCATE
    UNCACHE UPDATE USE VACUUM
"""
STATEMENTS = tuple(_STATEMENTS.split())

STATEMENT = _absent("the statement {name}", "the statements are {known}")
STATEMENT_INSTEAD = _absent("the statement {name}", "write {instead}")
STATEMENT_LEFT_OUT = _absent("the statement {name}", "leave it out")
INSTEAD_OF_STATEMENTS = {
    "DESC": "EXPLAIN SELECT * FROM {rest}",
    "DESCRIBE": "EXPLAIN SELECT * FROM {rest}",
    "LIST": "SHOW {rest}",
    "PRINT": "SELECT * FROM {rest}",
    "SUBSCRIBE": "SELECT * FROM {rest}",
    "TAIL": "SELECT * FROM {rest}",
}
_LEFT_OUT = "ANALYZE BEGIN CACHE COMMIT END FLUSH REFRESH SET USE VACUUM"
LEFT_OUT_STATEMENTS = tuple(_LEFT_OUT.split())
STATEMENT_ADVISED = _absent("the statement {name}", "{advice}")
STATEMENT_OF_RUNS = _refusal(
    "unsupported-syntax",
    "the statement {name} is not in the language",
    "leave it out",
    "a run is stopped where it was started, run.stop(), and goes on when it is started again",
)
RUNS = ("PAUSE", "RESUME", "TERMINATE")
STATEMENT_SET = _refusal(
    "unsupported-syntax",
    "the statement EXECUTE is not in the language",
    "leave it out",
    "each INSERT INTO is a statement of its own; all that a script starts runs as one program",
)
ADVICE_FOR_STATEMENTS = {
    "ALTER": "CREATE OR REPLACE declares a source again, while no run reads it",
    "DELETE": "a row is deleted by an operation: engine.feed(name, rows, op='delete')",
    "MERGE": "a table takes upserts by its key: engine.feed(name, rows)",
    "UPDATE": "a row is corrected by an operation: engine.feed(name, rows, op='replace')",
}
SHOWN_ELSEWHERE = _absent("SHOW {name}", "write SHOW {instead}")
SHOWN_AS = {"SOURCES": "STREAMS", "SINKS": "QUERIES", "TOPICS": "STREAMS", "JOBS": "QUERIES"}
DROP_CASCADE = _absent("{name} in DROP", "leave it out")
WITHIN = _absent(
    "WITHIN in a join",
    "write {on} AND {right}.at BETWEEN {left}.at - INTERVAL {length} AND {left}.at + INTERVAL "
    "{length}",
)
MATCH_RECOGNIZE = _absent(
    "MATCH_RECOGNIZE", "join the stream with itself, and bound the times of its rows in ON"
)
JSON_OTHERWISE = _absent(
    "this clause of a function of JSON",
    "what is missing or no JSON is NULL; COALESCE(JSON_VALUE(json, '$.a'), 'other') puts another "
    "value in its place",
)
WINDOW_BEHIND_SOURCE = _absent("a window behind a source", "write {grouped}")
DISTINCT_ON_AND_QUALIFY = _absent(
    "DISTINCT ON with QUALIFY", "put the query with QUALIFY in a subquery"
)
FRAME_OF_SESSIONS = _absent(
    "a frame of a session", "SESSION(bids PARTITION BY bidder, at, 10 MINUTES) in FROM has sessions"
)
FRAME_OF_GROUPS = _absent("a frame of GROUPS", "a frame is of ROWS or of RANGE")
COMPUTED_KEY = _absent(
    "a key that is computed, or a lambda function,",
    "parentheses stand around a key, json -> (key); UNNEST has a row for each item of an array",
)
ARGUMENT_BY_NAME = _absent("an argument by name")
OPTIMIZER_HINT = _absent("a hint", "leave it out")
UNNEST_IN_LIST = _absent(
    "{name} beside another, or with GROUP BY,",
    "UNNEST stands in FROM: FROM events CROSS JOIN UNNEST(items) AS t (item)",
)
LATERAL_VIEW = _absent(
    "LATERAL VIEW of {name}", "CROSS JOIN UNNEST(items) WITH ORDINALITY AS t (item, place) is there"
)
UNNEST_JOIN = _refusal(
    "unsupported-join",
    "UNNEST is joined by CROSS JOIN, JOIN, or LEFT JOIN ... ON TRUE",
    "LEFT JOIN {item} ON TRUE keeps rows without items, and WHERE has conditions",
)
WINDOW_ON_ITEMS = _absent(
    "a window on UNNEST",
    "the window stands on the stream: FROM events [RANGE 1 HOUR], UNNEST(items)",
)
AS_OF_AFTER_ALIAS = _absent(
    "FOR SYSTEM_TIME AS OF behind an alias", "write {item} FOR SYSTEM_TIME AS OF {time} AS {alias}"
)
TOP = _absent("TOP", "leave it out, and write LIMIT {count} behind the query and its ORDER BY")
EMIT_ELSEWHERE = _absent("EMIT {name}", "write EMIT FINAL")
LIMIT_ALL = _absent("LIMIT ALL", "leave it out")
NAME_IN_TWO_PARTS = _absent("a name in two parts")
COMMENT_IN_BRACES = _absent("a comment in braces", "a comment is written /* ... */ or -- ...")


def by_token(words: dict[str, Refusal]) -> dict[TokenType, Refusal]:
    """Refusals by the tokens that words are read as."""
    return {Spark.Tokenizer.KEYWORDS[word]: refusal for word, refusal in words.items()}


TOO_MANY_SETS = _absent(
    "a grouping of {count} sets", "name the sets that matter: GROUPING SETS ((a, b), (a))"
)
STAR_OF_SETS = _absent("* with grouping sets", "list the columns")
OVER_OF_SETS = _absent(
    "OVER with grouping sets", "group in a subquery, and use OVER on what it gives"
)
SEVERAL_WINDOWS = _absent("a second window in GROUP BY")
GROUPED_JOIN = _absent(
    "{name} in GROUP BY on a join", "name the join in WITH, and group what it gives"
)
SESSION_BY_EXPRESSION = _absent(
    "a session by an expression", "name the expression in a query in FROM, and group by its name"
)

# --- by the word: declarations -----------------------------------------------------------------

_OUT = "leave it out"
_ROWS = (
    "rows come FROM FILES, from a DataFrame (engine.stream and engine.table in Python), or are fed"
)


def _declared(what: str, detail: str, hint: str = _OUT) -> Refusal:
    """Refuses what declares something elsewhere."""
    return _refusal("unsupported-syntax", f"{what} is not in the language", hint, detail)


# After CREATE: what is declared elsewhere.
KINDS = {
    "SOURCE TABLE": _declared("CREATE SOURCE", _ROWS, "write TABLE"),
    "SOURCE STREAM": _declared("CREATE SOURCE", _ROWS, "write STREAM"),
    "SOURCE": _declared("CREATE SOURCE", _ROWS, "write STREAM"),
    "EXTERNAL TABLE": _declared("EXTERNAL", "no table is ours alone", "write TABLE"),
    "TEMPORARY": _declared("TEMPORARY", "what is declared lasts as long as its engine"),
    "TEMP": _declared("TEMP", "what is declared lasts as long as its engine"),
}

# After CREATE, as whole statements.
NOT_DECLARED = {
    "SINK": _declared("CREATE SINK", "a sink is given where a query starts: start(sink=...)"),
    "FUNCTION": _declared("CREATE FUNCTION", "a view names an expression: SELECT ... AS name"),
    "CLUSTER": _declared("CREATE CLUSTER", "a program runs where its engine is"),
    "INDEX": _declared("CREATE INDEX", "operators keep the indexes that they need"),
    "DATABASE": _declared("CREATE DATABASE", "names have one part"),
    "SCHEMA": _declared("CREATE SCHEMA", "names have one part"),
    "CATALOG": _declared("CREATE CATALOG", "names have one part"),
    "CONNECTION": _declared("CREATE CONNECTION", _ROWS),
    "SECRET": _declared("CREATE SECRET", _ROWS),
}

# Between the parentheses, in the place of a column.
ELEMENTS = {
    "FOREIGN KEY (": _declared("FOREIGN KEY", "references are not checked"),
    "UNIQUE (": _declared("UNIQUE", "one key is known of a source, its PRIMARY KEY"),
    "CHECK (": _declared("CHECK", "a view with WHERE leaves rows out"),
}
NAMED_CONSTRAINT = _declared("CONSTRAINT", "a key has no name")
COMPUTED_COLUMN = _declared(
    'the computed column "{name}"', "a view computes columns: SELECT *, ... AS {name}"
)

# Behind the type of a column.
COLUMN_CLAUSES = {
    "METADATA": _declared("METADATA", "a column is a field of the rows as they come"),
    "DEFAULT": _declared("DEFAULT", "a field that a row does not have is NULL"),
    "GENERATED": _declared("GENERATED", "a view computes columns"),
    "CHECK": _declared("CHECK", "a view with WHERE leaves rows out"),
    "REFERENCES": _declared("REFERENCES", "references are not checked"),
    "UNIQUE": _declared("UNIQUE", "one key is known of a source, its PRIMARY KEY"),
    "KEY": _declared("KEY", "what tells rows apart is a PRIMARY KEY"),
    "HEADER": _declared("HEADER", "a column is a field of the rows as they come"),
    "VIRTUAL": _declared("VIRTUAL", "a column is a field of the rows as they come"),
    "AUTO_INCREMENT": _declared("AUTO_INCREMENT", "rows bring all their values"),
}
NOT_ENFORCED = _declared("NOT ENFORCED", "a key is enforced: the first row with it stays")

# Behind the columns: where rows are, and all else.
STORAGE = (
    "WITH",
    "USING",
    "OPTIONS",
    "LOCATION",
    "STORED AS",
    "ROW FORMAT",
    "FORMAT",
    "ENCODE",
    "FROM KAFKA",
    "FROM POSTGRES",
    "FROM MYSQL",
    "FROM LOAD GENERATOR",
    "FROM WEBHOOK",
    "FROM SOURCE",
    "ENGINE",
)
STORED_ELSEWHERE = _declared("{clause} in a declaration", _ROWS)
STORED_IN_FILES = _declared(
    "{clause} in a declaration", _ROWS, "write FROM FILES '{path}' FORMAT {format}"
)
_SPREAD = "rows are spread over shards by the keys of the operators that read them"
DECLARATION_CLAUSES = {
    "TBLPROPERTIES": _declared("TBLPROPERTIES", "a declaration has clauses, not properties"),
    "COMMENT": _declared("COMMENT on a declaration", "columns have comments"),
    "PARTITIONED BY": _declared("PARTITIONED BY", _SPREAD),
    "PARTITIONED INTO": _declared("PARTITIONED INTO", _SPREAD),
    "CLUSTERED BY": _declared("CLUSTERED BY", _SPREAD),
    "CLUSTER BY": _declared("CLUSTER BY", _SPREAD),
    "DISTRIBUTED": _declared("DISTRIBUTED", _SPREAD),
    "INCLUDE": _declared("INCLUDE", "a column is a field of the rows as they come"),
    "ENVELOPE": _declared("ENVELOPE", "OP names the column that says what a row does"),
    "EXPOSE": _declared("EXPOSE", "a column is a field of the rows as they come"),
    "LIKE": _declared("LIKE", "the columns are listed"),
    "ON CONFLICT": _declared("ON CONFLICT", "the version of a key that is later in time holds"),
    "APPEND ONLY ON": _declared("APPEND ONLY ON", "an operation of a key has its time"),
    "APPEND ONLY": _declared(
        "APPEND ONLY", "a table has a version for each key; what only grows is a STREAM"
    ),
}
DECLARED_BY_QUERY = _declared(
    "a stream or table made by a query",
    "what a query gives is a view, which runs as a query does",
    "write CREATE VIEW {name} {query}",
)

# --- by the node: the last look ----------------------------------------------------------------

_BY_NAME = _absent("BY NAME")

NODES: dict[type[exp.Expr], Refusal] = {
    exp.Array: _absent("an array in brackets", "an array is made by ARRAY(...)"),
    exp.Struct: _absent("a struct in braces", "a struct is made by STRUCT(...)"),
    exp.Kwarg: ARGUMENT_BY_NAME,
    nodes.Quantifier: _absent("ANY or ALL here", "it follows a comparison: a > ANY (SELECT ...)"),
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
        "ORDER BY here", "the order of a call stands behind its arguments"
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
    detail="a subquery can use columns of the query that it directly stands in, in its WHERE and "
    "in ON of its inner joins",
)
VALUE_OF_AGGREGATES = _refusal(
    "correlated-subquery",
    "this subquery depends on aggregates or subqueries of the query around it",
    hint="compute them in a query in FROM, and use their columns",
)
AS_OF = _absent(
    "FOR SYSTEM_TIME AS OF without a join",
    "it stands behind what a stream is joined to: s JOIN t FOR SYSTEM_TIME AS OF s.at ON ...",
)
AS_OF_JOIN = _absent("FOR SYSTEM_TIME AS OF in this kind of join", "write JOIN or LEFT JOIN")
AS_OF_SEVERAL = _absent(
    "FOR SYSTEM_TIME AS OF behind a join", "name the join in WITH, and join that with the table"
)
IN_OF_SEVERAL_COLUMNS = _refusal(
    "unsupported-subquery",
    "IN with several columns that can be NULL is a condition of WHERE only",
)
QUANTIFIED_VALUE = _refusal(
    "unsupported-subquery",
    "ANY and ALL with this comparison are a condition of WHERE or HAVING, joined by AND",
    hint="compare with the least or the greatest: (SELECT MAX(...) ...)",
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
    '"{name}" is fed by a query that reads it, and names no time in which it grows',
    "declare a time with PROGRESS FOR at AS at",
)
