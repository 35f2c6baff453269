"""The types of the language, from what sqlglot makes of their names."""

from difflib import get_close_matches

from sqlglot import exp

from ebbtide.core import types
from ebbtide.errors import ParseError, QueryError, Span
from ebbtide.sql.spans import span_of

__all__ = ["data_type", "unknown_type"]

_SIMPLE = {
    exp.DType.BOOLEAN: types.BOOLEAN,
    exp.DType.TINYINT: types.TINYINT,
    exp.DType.SMALLINT: types.SMALLINT,
    exp.DType.INT: types.INT,
    exp.DType.BIGINT: types.BIGINT,
    exp.DType.DOUBLE: types.DOUBLE,
    exp.DType.TEXT: types.STRING,
    exp.DType.BINARY: types.BINARY,
    exp.DType.DATE: types.DATE,
    exp.DType.INTERVAL: types.INTERVAL,
    exp.DType.TIMESTAMP: types.TIMESTAMP,
    exp.DType.TIMESTAMPTZ: types.TIMESTAMP,
    exp.DType.TIMESTAMPLTZ: types.TIMESTAMP,
}

_WRITTEN = "BOOLEAN TINYINT SMALLINT INT BIGINT DOUBLE DECIMAL STRING BINARY DATE TIMESTAMP"
_NAMES = _WRITTEN.split()

# What other systems call a type that is here.
_SYNONYMS = {
    "BLOB": "BINARY",
    "BOOL": "BOOLEAN",
    "CHAR": "STRING",
    "DATETIME": "TIMESTAMP",
    "FLOAT": "DOUBLE",
    "FLOAT8": "DOUBLE",
    "INT2": "SMALLINT",
    "INT32": "INT",
    "INT4": "INT",
    "INT64": "BIGINT",
    "INT8": "BIGINT",
    "NUMBER": "DECIMAL",
    "REAL": "DOUBLE",
    "TEXT": "STRING",
    "TIMESTAMPTZ": "TIMESTAMP",
    "TIMESTAMP_NTZ": "TIMESTAMP",
    "VARCHAR": "STRING",
}


def data_type(node: exp.Expr, source: str) -> types.Type:
    """The type that a node of the tree names."""
    if isinstance(node, exp.DataType):
        kind, inner = node.this, node.expressions
        if kind in _SIMPLE and not inner:
            return _SIMPLE[kind]
        if kind is exp.DType.DECIMAL:
            return _decimal(node, span_of(node, source))
        if kind is exp.DType.ARRAY and len(inner) == 1 and node.args.get("nested"):
            return types.ArrayType(data_type(inner[0], source))
        if kind is exp.DType.STRUCT and inner:
            return types.StructType(tuple(_field(part, source) for part in inner))
    raise unknown_type(span_of(node, source))


def unknown_type(span: Span) -> ParseError:
    """The error that there is no such type, with the one that comes nearest."""
    name = span.text.upper().partition("(")[0].strip()
    near = [_SYNONYMS[name]] if name in _SYNONYMS else get_close_matches(name, _NAMES, 1)
    return ParseError(
        "unknown-type",
        f'"{span.text}" is not a type of the language',
        span=span,
        detail="the types are BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, DOUBLE, DECIMAL(p, s), "
        "STRING, BINARY, DATE, TIMESTAMP, ARRAY<...> and STRUCT<...>",
        hint=f"write {near[0]}" if near else None,
    )


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


def _field(node: exp.Expr, source: str) -> tuple[str, types.Type]:
    kind = node.args.get("kind")
    if not isinstance(node, exp.ColumnDef) or kind is None:
        span = span_of(node, source)
        raise ParseError("unknown-type", f'"{span.text}" is not a field of a STRUCT', span=span)
    return node.name, data_type(kind, source)
