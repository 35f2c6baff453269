"""The types of the language, from what sqlglot makes of their names.

Law: a name of another system stands for a type of ours only if that has all of its values.  A
length or a precision behind the name of a column's type, VARCHAR(20) or TIMESTAMP(3), is a remark:
no value is cut to it.  In a CAST it would cut, so there it is refused.
"""

from difflib import get_close_matches

from sqlglot import exp

from ebbtide.core import types
from ebbtide.errors import ParseError, QueryError, Span
from ebbtide.sql.spans import span_of

__all__ = ["SAME_TYPES", "TYPE_WORDS", "data_type", "unknown_type"]

TYPE_WORDS = {
    "TEXT": exp.DType.TEXT,
    "CHARACTER": exp.DType.VARCHAR,
    "TIMESTAMPTZ": exp.DType.TIMESTAMPTZ,
}
"""Names of types that are no keywords, so that a column may have such a name."""

SAME_TYPES = {
    exp.DType.FLOAT: exp.DType.DOUBLE,
    exp.DType.TIMESTAMPLTZ: exp.DType.TIMESTAMPTZ,
    exp.DType.VARCHAR: exp.DType.TEXT,
}
"""Names that are one type here, and so one node."""

_SIMPLE = {
    exp.DType.BOOLEAN: types.BOOLEAN,
    exp.DType.TINYINT: types.TINYINT,
    exp.DType.SMALLINT: types.SMALLINT,
    exp.DType.INT: types.INT,
    exp.DType.BIGINT: types.BIGINT,
    exp.DType.DOUBLE: types.DOUBLE,
    exp.DType.FLOAT: types.DOUBLE,
    exp.DType.TEXT: types.STRING,
    exp.DType.VARCHAR: types.STRING,
    exp.DType.CHAR: types.STRING,
    exp.DType.BINARY: types.BINARY,
    exp.DType.DATE: types.DATE,
    exp.DType.INTERVAL: types.INTERVAL,
    exp.DType.TIMESTAMP: types.TIMESTAMP,
    exp.DType.TIMESTAMPTZ: types.TIMESTAMP,
    exp.DType.TIMESTAMPLTZ: types.TIMESTAMP,
}

# Types that other systems give a length or a number of digits, and how to cut a value to it here.
_SIZED = {
    exp.DType.TEXT: "LEFT(...)",
    exp.DType.VARCHAR: "LEFT(...)",
    exp.DType.CHAR: "LEFT(...)",
    exp.DType.FLOAT: "ROUND(...)",
    exp.DType.TIMESTAMP: "FLOOR(... TO 1 MILLISECOND)",
    exp.DType.TIMESTAMPTZ: "FLOOR(... TO 1 MILLISECOND)",
    exp.DType.TIMESTAMPLTZ: "FLOOR(... TO 1 MILLISECOND)",
}
_MOST_DIGITS = 6
"""How many digits of a second a TIMESTAMP has."""

_SHORT = 2
"""What has no more letters than this is like any type."""

_WRITTEN = "BOOLEAN TINYINT SMALLINT INT BIGINT DOUBLE DECIMAL STRING BINARY DATE TIMESTAMP"
_NAMES = _WRITTEN.split()

# What other systems call a type that is here.
_SYNONYMS = {
    "BLOB": "BINARY",
    "BOOL": "BOOLEAN",
    "BYTEA": "BINARY",
    "BYTES": "BINARY",
    "DATETIME": "TIMESTAMP",
    "FLOAT4": "DOUBLE",
    "FLOAT64": "DOUBLE",
    "FLOAT8": "DOUBLE",
    "INT2": "SMALLINT",
    "INT32": "INT",
    "INT4": "INT",
    "INT64": "BIGINT",
    "INT8": "BIGINT",
    "JSON": "STRING",
    "JSONB": "STRING",
    "NUMBER": "DECIMAL",
    "ROW": "STRUCT",
    "SERIAL": "BIGINT",
    "TIMESTAMP_NTZ": "TIMESTAMP",
    "UUID": "STRING",
    "VARCHAR": "STRING",
    "VARBINARY": "BINARY",
}


def data_type(node: exp.Expr, source: str, *, declared: bool = False) -> types.Type:
    """The type that a node of the tree names, for a column that is declared or for a cast."""
    if isinstance(node, exp.DataType):
        kind, inner = node.this, node.expressions
        cuts = kind is exp.DType.CHAR and not declared  # CHAR is CHAR(1)
        if kind in _SIMPLE and not inner and not cuts:
            return _SIMPLE[kind]
        if kind in _SIZED and len(inner) <= 1:
            return _sized(node, span_of(node, source), declared)
        if kind is exp.DType.DECIMAL:
            return _decimal(node, span_of(node, source))
        if kind is exp.DType.ARRAY and len(inner) == 1 and node.args.get("nested"):
            return types.ArrayType(data_type(inner[0], source, declared=declared))
        if kind is exp.DType.STRUCT and inner:
            return types.StructType(tuple(_field(part, source, declared) for part in inner))
    raise unknown_type(span_of(node, source))


def unknown_type(span: Span) -> ParseError:
    """The error that there is no such type, with the one that comes nearest."""
    name = span.text.upper().partition("(")[0].partition("<")[0].strip()
    near = [_SYNONYMS[name]] if name in _SYNONYMS else get_close_matches(name, _NAMES, 1)
    near = near if len(name) > _SHORT else []
    return ParseError(
        "unknown-type",
        f'"{span.text}" is not a type of the language',
        span=span,
        detail="the types are BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, DOUBLE, DECIMAL(p, s), "
        "STRING, BINARY, DATE, TIMESTAMP, ARRAY<...> and STRUCT<...>",
        hint=f"write {near[0]}" if near else None,
    )


def _sized(node: exp.DataType, span: Span, declared: bool) -> types.Type:
    """A type with a length or a number of digits behind its name."""
    known = _SIMPLE[node.this]
    if not declared:
        raise ParseError(
            "sized-type",
            f"a cast to {span.text} would cut values in silence",
            span=span,
            detail=f"{known} has no length; what cuts a value is {_SIZED[node.this]}",
            hint=f"write {known}",
        )
    size = node.expressions[0]
    if not size.name.isdecimal() or size.args.get("expression"):
        raise unknown_type(span)
    if known == types.TIMESTAMP and int(size.name) > _MOST_DIGITS:
        raise ParseError(
            "sized-type",
            f"{span.text} has more digits than a TIMESTAMP, which counts microseconds",
            span=span,
            hint="write TIMESTAMP",
        )
    return known


def _decimal(node: exp.DataType, span: Span) -> types.Type:
    sizes = [
        int(part.name)
        for part in node.expressions
        if part.name.isdecimal() and not part.args.get("expression")
    ]
    if len(sizes) != len(node.expressions) or len(sizes) > 2:
        raise ParseError("bad-decimal", f"{span.text} does not exist", span=span)
    try:
        return types.DecimalType(*sizes)
    except QueryError as error:
        raise ParseError(error.code, error.message, span=span, hint=error.hint) from None


def _field(node: exp.Expr, source: str, declared: bool) -> tuple[str, types.Type]:
    kind = node.args.get("kind")
    if not isinstance(node, exp.ColumnDef) or kind is None:
        span = span_of(node, source)
        raise ParseError("unknown-type", f'"{span.text}" is not a field of a STRUCT', span=span)
    return node.name, data_type(kind, source, declared=declared)
