"""The nodes that a tree may hold, with the arguments that each may have."""

from sqlglot import exp

from ebbtide.sql import nodes

__all__ = ["ALLOWED"]

_MODIFIERS = "with_ order limit offset"
_BINARY = "this expression"

_TABLE: dict[str, tuple[type[exp.Expr], ...]] = {
    # queries
    f"{_MODIFIERS} distinct expressions from_ joins where group having": (exp.Select,),
    f"{_MODIFIERS} {_BINARY} distinct": (exp.Union, exp.Intersect, exp.Except),
    f"{_MODIFIERS} {_BINARY}": (nodes.MaxUnion,),
    f"{_MODIFIERS} this alias": (exp.Subquery,),
    "expressions alias": (exp.Values,),
    "with_ this alias": (nodes.Istream, nodes.Dstream),
    "with_ this every alias": (nodes.Rstream,),
    "expressions": (exp.With, exp.Group, exp.Order, exp.Tuple),
    "expression": (exp.Limit, exp.Offset),
    "this desc nulls_first": (exp.Ordered,),
    "": (exp.Distinct, exp.Null),
    # sources
    "this side kind on using": (exp.Join,),
    "this joins": (nodes.Joined,),
    "this window alias": (nodes.Windowed,),
    "this place alias": (nodes.Unnest,),
    "this at alias": (nodes.AsOf,),
    "this on size offset alias": (nodes.Tumble,),
    "this on slide size offset alias": (nodes.Hop,),
    "this on gap partition_by alias": (nodes.Session,),
    "this on step size offset alias": (nodes.Cumulate,),
    "this amounts partition_by on valid_from valid_to": (nodes.WindowNode,),
    "this alias": (exp.Table, exp.CTE, exp.Alias),
    "this columns": (exp.TableAlias,),
    # expressions
    "this": (
        exp.From,
        exp.Where,
        exp.Having,
        exp.Exists,
        exp.Paren,
        exp.Neg,
        exp.Not,
        exp.BitwiseNot,
        exp.Boolean,
        exp.HexString,
        exp.DataTypeParam,
    ),
    _BINARY: (
        exp.And,
        exp.Or,
        exp.EQ,
        exp.NEQ,
        exp.LT,
        exp.LTE,
        exp.GT,
        exp.GTE,
        exp.NullSafeEQ,
        exp.NullSafeNEQ,
        exp.Is,
        exp.Add,
        exp.Sub,
        exp.Mul,
        exp.Mod,
        exp.IntDiv,
        exp.BitwiseAnd,
        exp.BitwiseOr,
        exp.BitwiseXor,
        exp.RegexpLike,
        exp.Escape,
        exp.Dot,
    ),
    f"{_BINARY} safe": (exp.DPipe,),
    f"{_BINARY} typed safe": (exp.Div,),
    f"{_BINARY} negate": (exp.Like, exp.ILike),
    "this table db catalog": (exp.Column,),
    "this quoted": (exp.Identifier,),
    "this expressions": (exp.Bracket,),
    "except_": (exp.Star,),
    "this is_string": (exp.Literal,),
    "us": (nodes.Duration,),
    "this to": (exp.Cast, exp.TryCast),
    "this expressions nested": (exp.DataType,),
    "this kind": (exp.ColumnDef,),
    "this grid": (nodes.FloorTo, nodes.CeilTo),
    "this low high": (exp.Between,),
    "this expressions query": (exp.In,),
    "this op query": (nodes.Quantified,),
    "this ifs default": (exp.Case,),
    "this true": (exp.If,),
    "this expressions distinct order filter nulls": (nodes.Call,),
    "this partition_by order spec over": (exp.Window,),
    "kind start start_side end end_side": (exp.WindowSpec,),
}

ALLOWED: dict[type[exp.Expr], frozenset[str]] = {
    node: frozenset(names.split()) for names, listed in _TABLE.items() for node in listed
}
