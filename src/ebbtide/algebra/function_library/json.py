"""Functions of JSON in text.

JSON is text here: a column of it is a STRING.  A text that is not JSON has no parts, so all of
them are NULL.  Numbers keep the digits that they are written with, of a name that an object has
twice the last value counts, and a part that is given as JSON has no spaces between its tokens.
What the functions compute is in ``reference.functions.json_text``.
"""

from __future__ import annotations

from ebbtide.algebra.function_library.signature import define, form, only
from ebbtide.core.types import BOOLEAN, INT, STRING, ArrayType, IntegerType, Type

FAMILY = "JSON"
TEXT = only(STRING)


def _key(given: Type) -> Type | None:
    """A name, or a place in an array."""
    if isinstance(given, IntegerType):
        return INT if given.bits <= INT.bits else None
    return TEXT(given)


JSON_FUNCTIONS = (
    define(
        FAMILY,
        "JSON_GET(json, key)",
        "The value of a name, or at a place from 0 (from the end if negative), as JSON; "
        "`json -> key` is the same.",
        (TEXT, _key),
        STRING,
        may_be_null=True,
    ),
    define(
        FAMILY,
        "JSON_GET_TEXT(json, key)",
        "The same as text: a string without quotes, and NULL for null; `json ->> key` is the same.",
        (TEXT, _key),
        STRING,
        may_be_null=True,
    ),
    define(
        FAMILY,
        "GET_JSON_OBJECT(json, path)",
        "The value at a path as text: a string without quotes, NULL for null, all else as JSON.",
        (TEXT, TEXT),
        STRING,
        may_be_null=True,
    ),
    define(
        FAMILY,
        "JSON_VALUE(json, path)",
        "The string, number or truth value at a path as text; NULL for null, objects and arrays.",
        (TEXT, TEXT),
        STRING,
        may_be_null=True,
    ),
    define(
        FAMILY,
        "JSON_QUERY(json, path)",
        "The object or array at a path as JSON; NULL for all else.",
        (TEXT, TEXT),
        STRING,
        may_be_null=True,
    ),
    define(
        FAMILY,
        "JSON_EXISTS(json, path)",
        "Whether there is a value at a path, be it null; FALSE if the text is not JSON.",
        (TEXT, TEXT),
        BOOLEAN,
    ),
    define(
        FAMILY,
        "JSON_ITEMS(json)",
        "The items of an array, each as JSON; NULL for all else.",
        (TEXT,),
        ArrayType(STRING),
        may_be_null=True,
    ),
    define(
        FAMILY,
        "JSON_ITEMS_TEXT(json)",
        "The items of an array as text: strings without quotes, and NULL for null.",
        (TEXT,),
        ArrayType(STRING),
        may_be_null=True,
    ),
)

JSON_FORMS = (
    form(
        FAMILY,
        "FROM_JSON(json, type)",
        "The fields of an object as a STRUCT, or the items of an array, by a type that is given as "
        "text; a field that is missing or does not fit is NULL.",
    ),
)
