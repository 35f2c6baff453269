"""Names that are called like functions and stand for expressions of other nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ebbtide.algebra.casts import cast, coerce
from ebbtide.algebra.expression import Call, Cast, Expression, Field, Literal, Ref
from ebbtide.algebra.functions import FORMS, function
from ebbtide.algebra.operand_types import arithmetic, case, compare, exact_types, is_null, not_
from ebbtide.algebra.printing import sql, sql_round_type
from ebbtide.core.json_path import steps_of
from ebbtide.core.types import (
    DATE,
    NULL,
    STRING,
    TIMESTAMP,
    ArrayType,
    StructType,
    Type,
    type_from_sql,
)
from ebbtide.core.values import normalise
from ebbtide.errors import BindError

Arguments: TypeAlias = tuple[Expression, ...]

_EXTRACTS = {
    **dict.fromkeys(("YEAR", "Y", "YEARS", "YR", "YRS"), "YEAR"),
    **dict.fromkeys(("YEAROFWEEK", "ISOYEAR"), "YEAROFWEEK"),
    **dict.fromkeys(("QUARTER", "QTR"), "QUARTER"),
    **dict.fromkeys(("MONTH", "MON", "MONS", "MONTHS"), "MONTH"),
    **dict.fromkeys(("WEEK", "W", "WEEKS"), "WEEKOFYEAR"),
    **dict.fromkeys(("DAY", "D", "DAYS"), "DAY"),
    **dict.fromkeys(("DAYOFWEEK", "DOW"), "DAYOFWEEK"),
    **dict.fromkeys(("DOY",), "DAYOFYEAR"),
    **dict.fromkeys(("HOUR", "H", "HOURS", "HR", "HRS"), "HOUR"),
    **dict.fromkeys(("MINUTE", "M", "MIN", "MINS", "MINUTES"), "MINUTE"),
    **dict.fromkeys(("SECOND", "S", "SEC", "SECONDS", "SECS"), "SECOND_FRACTION"),
}


def plain_call(name: str, arguments: Arguments) -> Expression:
    """A call of a function of the library, its arguments cast to what it takes."""
    wanted = function(name).adapt(tuple(argument.type for argument in arguments))
    return Call(name, tuple(map(coerce, arguments, wanted)))


def _count(name: str, arguments: Arguments, *counts: int) -> None:
    if len(arguments) not in counts:
        usage = FORMS[name].usage if name in FORMS else function(name).usage
        raise BindError(
            "wrong-arguments", f"{name} cannot have {len(arguments)} arguments", hint=usage
        )


def _mod(arguments: Arguments) -> Expression:
    _count("MOD", arguments, 2)
    return arithmetic("%", *arguments)


def _if(arguments: Arguments) -> Expression:
    _count("IF", arguments, 3)
    condition, then, otherwise = arguments
    return case(((condition, then),), otherwise)


def _nullif(arguments: Arguments) -> Expression:
    _count("NULLIF", arguments, 2)
    value, other = arguments
    return case(((compare("=", value, other), Literal(None, NULL)),), value)


def _nvl2(arguments: Arguments) -> Expression:
    _count("NVL2", arguments, 3)
    value, then, otherwise = arguments
    return case(((not_(is_null(value)), then),), otherwise)


def _extract(arguments: Arguments) -> Expression:
    _count("EXTRACT", arguments, 2)
    field, value = arguments
    name = _EXTRACTS.get(_text(field).upper())
    if name is None:
        fields = "use YEAR, QUARTER, MONTH, WEEK, DAY, DAYOFWEEK, DOY, HOUR, MINUTE or SECOND"
        epoch = f"write (UNIX_MICROS({sql(value)}) / 1000000)"
        raise BindError(
            "unknown-field",
            f"{sql(field)} is not a field of a time",
            hint=epoch if _text(field).upper() == "EPOCH" else fields,
        )
    return plain_call(name, (value,))


def _named_struct(arguments: Arguments) -> Expression:
    if len(arguments) % 2:
        _count("NAMED_STRUCT", arguments)
    return struct(tuple(map(_text, arguments[::2])), arguments[1::2])


def _struct(arguments: Arguments) -> Expression:
    names = []
    for number, argument in enumerate(arguments, 1):
        match argument:
            case Ref():
                names.append(argument.column.name)
            case Field():
                names.append(argument.name)
            case _:
                names.append(f"col{number}")
    return struct(tuple(names), arguments)


def struct(names: tuple[str, ...], values: Arguments) -> Expression:
    """A struct of values under names; of constants, it is one."""
    type_ = StructType(tuple(zip(names, (value.type for value in values), strict=True)))
    if all(isinstance(value, Literal) for value in values):
        return Literal(tuple(_value(value) for value in values), type_)
    made = Call("STRUCT", values)
    return made if made.type == type_ else Cast(made, type_)


def _array(arguments: Arguments) -> Expression:
    made = plain_call("ARRAY", arguments)
    if isinstance(made, Call) and all(isinstance(item, Literal) for item in made.arguments):
        return Literal(tuple(_value(item) for item in made.arguments), made.type)
    return made


def _round(arguments: Arguments) -> Expression:
    made = plain_call("ROUND", arguments)
    if len(arguments) > 1 and isinstance(made, Call) and not isinstance(made.arguments[1], Literal):
        raise BindError(
            "type-mismatch",
            f"the number of digits of ROUND is a constant, and {sql(arguments[1])} is none",
        )
    type_ = sql_round_type(made)
    return made if type_ is None else cast(made, type_)


def _pmod(arguments: Arguments) -> Expression:
    if len(arguments) == 2:
        arguments = tuple(map(coerce, arguments, exact_types(*arguments)))
    return plain_call("PMOD", arguments)


def _log(arguments: Arguments) -> Expression:
    return plain_call("LN" if len(arguments) == 1 else "LOG", arguments)


def _reading(name: str, type_: Type) -> Callable[[Arguments], Expression]:
    """Reading a time: by a pattern if there is one and a text to read, else a cast."""

    def make(arguments: Arguments) -> Expression:
        _count(name, arguments, 1, 2)
        if len(arguments) == 2 and arguments[0].type not in (DATE, TIMESTAMP):
            return plain_call(name, arguments)
        return cast(arguments[0], type_)

    return make


def _by_path(name: str) -> Callable[[Arguments], Expression]:
    """A call with a path, which is checked now if it is a constant."""

    def make(arguments: Arguments) -> Expression:
        made = plain_call(name, arguments)
        path = made.arguments[1] if isinstance(made, Call) else None
        if isinstance(path, Literal) and isinstance(path.value, str):
            _check_path(path.value)
        return made

    return make


def _check_path(path: str) -> None:
    try:
        steps_of(path)
    except ValueError:
        raise BindError(
            "bad-path",
            f"'{path}' is not a path into JSON",
            detail="a path leads to one value: $ and .name, ['name'] or [0] behind it",
            hint="'$.name[0]' is a path; UNNEST(JSON_ITEMS(json)) has a row for each item",
        ) from None


def _from_json(arguments: Arguments) -> Expression:
    _count("FROM_JSON", arguments, 2)
    json, named = arguments
    text = _text(named)
    composite = text.strip().upper().startswith(("STRUCT<", "STRUCT <", "ARRAY<", "ARRAY <"))
    type_ = type_from_sql(text if composite else f"STRUCT<{text}>")
    if json.type not in (STRING, NULL):
        raise BindError("type-mismatch", f"argument 1 of FROM_JSON cannot be {json.type}")
    return _part(coerce(json, STRING), "$", type_)


def _part(json: Expression, path: str, type_: Type) -> Expression:
    """What stands at a path, as a value of a type; NULL if it does not fit."""
    at = Literal(path, STRING)
    match type_:
        case ArrayType(element=ArrayType() | StructType()):
            raise BindError(
                "type-mismatch",
                f"FROM_JSON cannot give {type_}",
                hint="UNNEST(JSON_ITEMS(json)) has a row for each item, to take FROM_JSON of",
            )
        case ArrayType():
            items = plain_call("JSON_ITEMS_TEXT", (plain_call("JSON_QUERY", (json, at)),))
            return cast(items, type_, safe=True)
        case StructType(fields=fields):
            values = tuple(_part(json, f"{path}{_step(name)}", its) for name, its in fields)
            whole = json if path == "$" else plain_call("JSON_QUERY", (json, at))
            made = struct(tuple(name for name, _ in fields), values)
            return case(((not_(is_null(whole)), made),), None)
        case _:
            return cast(plain_call("GET_JSON_OBJECT", (json, at)), type_, safe=True)


def _step(name: str) -> str:
    return f'["{name}"]' if "'" in name else f"['{name}']"


def _text(argument: Expression) -> str:
    if isinstance(argument, Literal) and argument.of == STRING and argument.value is not None:
        return str(argument.value)
    raise BindError("type-mismatch", f"{sql(argument)} must be a constant text")


def _value(argument: Expression) -> object:
    assert isinstance(argument, Literal)
    return normalise(argument.value)


FORM_MAKERS: dict[str, Callable[[Arguments], Expression]] = {
    "MOD": _mod,
    "IF": _if,
    "NULLIF": _nullif,
    "NVL2": _nvl2,
    "EXTRACT": _extract,
    "DATE_PART": _extract,
    "NAMED_STRUCT": _named_struct,
    "FROM_JSON": _from_json,
}

OWN_MAKERS: dict[str, Callable[[Arguments], Expression]] = {
    "ARRAY": _array,
    "STRUCT": _struct,
    "ROUND": _round,
    "PMOD": _pmod,
    "LOG": _log,
    "TO_DATE": _reading("TO_DATE", DATE),
    "TO_TIMESTAMP": _reading("TO_TIMESTAMP", TIMESTAMP),
    "GET_JSON_OBJECT": _by_path("GET_JSON_OBJECT"),
    "JSON_VALUE": _by_path("JSON_VALUE"),
    "JSON_QUERY": _by_path("JSON_QUERY"),
    "JSON_EXISTS": _by_path("JSON_EXISTS"),
}
"""Functions whose calls are more than their arguments cast."""
