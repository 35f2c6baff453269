"""SQL with CQL's windows: the dialect, its parser and printer.

    parse(script) -> tuple[Statement, ...]      parse_query(text) -> Query
    sql(statement) -> str                       span_of(node, source) -> Span

Statements are frozen dataclasses (`syntax`).  The queries and expressions in them are trees of
sqlglot, with nodes of ours (`nodes`) for what sqlglot does not have.  Comparing two statements
compares what they say; where they stood is in spans.  A tree that `parse` returns has passed
`checks`: there is no node and no argument in it but those below, so a reader that handles these
handles everything.  What says no more than other forms do (QUALIFY, WINDOW, DISTINCT ON, grouping
sets, windows in GROUP BY, STRING_AGG, NTILE) is said by these when the parser is done;
after that a tree is never changed.

Queries (`Query.body`, `CreateView.body`, `StreamOperator.this`, `Subquery.this`, `CTE.this`)

    exp.Select          with_, distinct (exp.Distinct or None), expressions, from_ (exp.From),
                        joins [exp.Join], where, group, having, order, limit, offset
    exp.Union, exp.Intersect, exp.Except
                        this, expression, distinct (True, or False for ALL), with_, order, limit,
                        offset; INTERSECT binds tighter; MINUS is EXCEPT
    nodes.MaxUnion      this, expression, with_, order, limit, offset: UNION MAX
    exp.Subquery        this: a query in parentheses; with_, order, limit, offset may stand behind
    exp.Values          expressions [exp.Tuple], alias
    nodes.Istream, nodes.Dstream, nodes.Rstream
                        this: a query; every (nodes.Duration, Rstream only); with_

    exp.With            expressions [exp.CTE]; exp.CTE: this (query), alias (exp.TableAlias)
    exp.Where, exp.Having, exp.Limit/exp.Offset
                        this; this; expression
    exp.Group           expressions: any expression, or a literal number for a position
    exp.Order           expressions [exp.Ordered]: this, desc (True or None), nulls_first (always
                        set: by default NULLs are first ascending and last descending)

Sources (`exp.From.this`, `exp.Join.this`, and inside of each other)

    exp.Table           this (exp.Identifier), alias
    exp.Subquery        this (query), alias
    exp.Values          expressions [exp.Tuple], alias
    nodes.Windowed      this (source without alias), window (nodes.WindowNode), alias
    nodes.Tumble, nodes.Hop, nodes.Session, nodes.Cumulate
                        this (source), on (exp.Identifier), durations, partition_by, alias
    nodes.Unnest        this (an array), place (True or None: WITH ORDINALITY), alias
    nodes.Istream, ...  as above, with alias
    nodes.Joined        this (source), joins: a join in parentheses, or just a source in them
    exp.TableAlias      this (exp.Identifier or None), columns [exp.Identifier]
    exp.Join            this (source); side LEFT, RIGHT, FULL or None; kind CROSS, SEMI, ANTI or
                        None (INNER and OUTER are left out); on; using [exp.Identifier]; a comma
                        is a Join with neither side, kind, on nor using

Windows: nodes.WindowNode(this, amounts, partition_by, on).  Amounts are nodes.Duration and int,
partition_by is a list of exp.Identifier or None, on is an exp.Identifier or None.

Expressions

    exp.Column          this (exp.Identifier or exp.Star), table, db, catalog; `column.parts` are
                        the names in order, which are [table.]column[.field...]
    exp.Dot             this, expression (exp.Identifier): a field, where Column has no room for it
    exp.Bracket         this, expressions [one]: an item of an array, from 0
    exp.Star            except_ [exp.Column]: * EXCEPT (a, b)
    exp.Literal         is_string; this is the text; numbers are as written (1, 1.5, 1e3)
    exp.Null, exp.Boolean, exp.HexString
    nodes.Duration      us: every interval literal
    exp.Cast, exp.TryCast
                        this, to (exp.DataType; `types.data_type(node, source)` gives the type);
                        5L is CAST(5 AS BIGINT), DATE '...' is CAST('...' AS DATE)
    exp.Paren, exp.Neg, exp.Not, exp.And, exp.Or
    exp.Add, Sub, Mul, Div, Mod, IntDiv, DPipe (||), BitwiseAnd, BitwiseOr, BitwiseXor, BitwiseNot
    exp.EQ, NEQ, LT, LTE, GT, GTE, NullSafeEQ (<=>, IS NOT DISTINCT FROM), NullSafeNEQ
    exp.Is              this, expression (exp.Null or exp.Boolean); IS NOT is exp.Not of it
    exp.Between         this, low, high
    exp.In              this, expressions, or query (exp.Subquery); NOT IN is exp.Not of it
    nodes.Quantified    this, op (a text), query (exp.Subquery): this op ANY (query); ALL is exp.Not
                        of the opposite, = ANY is exp.In
    exp.Like, exp.ILike this, expression, negate; exp.Escape around it: this, expression
    exp.RegexpLike      this, expression
    exp.Exists          this (query)
    exp.Case            this or None, ifs [exp.If: this, true], default or None
    exp.Subquery        this (query): a scalar subquery
    exp.Tuple           expressions: (a, b) before IN
    nodes.Call          this (upper-case name), expressions, distinct, order [exp.Ordered], filter,
                        nulls: every function and aggregate; COUNT(*) has an exp.Star;
                        STRUCT(a AS x) has exp.Alias; EXTRACT(HOUR FROM t) has the arguments
                        'HOUR', t; TRIM(LEADING c FROM s) is LTRIM(s, c); CURRENT_DATE has none
    exp.Window          this (nodes.Call), partition_by [...], order (exp.Order), spec
                        (exp.WindowSpec: kind ROWS or RANGE; start, end: "UNBOUNDED",
                        "CURRENT ROW" or an expression; start_side, end_side PRECEDING, FOLLOWING
                        or None; both ends are always there)
    nodes.FloorTo, nodes.CeilTo
                        this, grid (nodes.Duration)
    exp.Alias           this, alias (exp.Identifier); in expressions of a Select

This package does not know what exists: names and types are the binder's.
"""

from ebbtide.sql.parser import parse, parse_query
from ebbtide.sql.printer import sql
from ebbtide.sql.spans import span_of

__all__ = ["parse", "parse_query", "span_of", "sql"]
