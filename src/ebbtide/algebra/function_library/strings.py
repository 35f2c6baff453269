"""Functions of text.  Positions count characters, from 1; BINARY is counted in bytes."""

from __future__ import annotations

from ebbtide.algebra.function_library.signature import (
    Types,
    check_count,
    custom,
    define,
    exactly,
    first,
    text_or_bytes,
)
from ebbtide.algebra.type_rules import common_type_of
from ebbtide.core.types import BINARY, BOOLEAN, INT, STRING, ArrayType, Type
from ebbtide.errors import BindError

FAMILY = "text"
TEXT = exactly(STRING)
COUNT = exactly(INT)


def _concat(types: Types) -> Types:
    if types and all(type_ == BINARY for type_ in types):
        return types
    if types and all(isinstance(type_, ArrayType) for type_ in types):
        common = common_type_of(types)
        return types if common is None else (common,) * len(types)
    return tuple(_texts("CONCAT(text, ...)", type_, False) for type_ in types)


def _concat_ws(types: Types) -> Types:
    usage = "CONCAT_WS(separator, text, ...)"
    check_count(usage, types, 1, None)
    return tuple(_texts(usage, type_, place > 0) for place, type_ in enumerate(types))


def _texts(usage: str, given: Type, arrays: bool) -> Type:
    if arrays and isinstance(given, ArrayType):
        return ArrayType(STRING)
    wanted = TEXT(given)
    if wanted is None:
        raise BindError("type-mismatch", f"{usage} cannot have an argument {given}")
    return wanted


def _text_or_array(given: Type) -> Type | None:
    return given if isinstance(given, ArrayType) else text_or_bytes(given)


def _joined(types: Types) -> Type:
    return types[0] if types else STRING


STRING_FUNCTIONS = (
    define(FAMILY, "UPPER(text)", "The text in upper case.", (TEXT,), STRING),
    define(FAMILY, "LOWER(text)", "The text in lower case.", (TEXT,), STRING),
    define(
        FAMILY,
        "INITCAP(text)",
        "The text with the first letter of each word, after a space, in upper case and the rest "
        "in lower case.",
        (TEXT,),
        STRING,
    ),
    define(
        FAMILY,
        "LENGTH(text)",
        "The number of characters, or of bytes of a BINARY.",
        (text_or_bytes,),
        INT,
    ),
    define(
        FAMILY,
        "SUBSTRING(text, position[, length])",
        "The part from a position on, at most `length` long; a negative position counts from the "
        "end.",
        (text_or_bytes, COUNT, COUNT),
        first,
        optional=1,
    ),
    define(
        FAMILY,
        "LEFT(text, length)",
        "The first characters of the text, or bytes of a BINARY.",
        (text_or_bytes, COUNT),
        first,
    ),
    define(
        FAMILY, "RIGHT(text, length)", "The last characters of the text.", (TEXT, COUNT), STRING
    ),
    define(
        FAMILY,
        "LPAD(text, length[, pad])",
        "The text made `length` long: `pad` (a space) put in front of it as often as it takes, or "
        "its end cut off.",
        (TEXT, COUNT, TEXT),
        STRING,
        optional=1,
    ),
    define(
        FAMILY,
        "RPAD(text, length[, pad])",
        "The text made `length` long: `pad` (a space) put after it as often as it takes, or its "
        "end cut off.",
        (TEXT, COUNT, TEXT),
        STRING,
        optional=1,
    ),
    *(
        define(
            FAMILY,
            f"{name}(text[, characters])",
            f"The text without the spaces, or the characters, {place}.",
            (TEXT, TEXT),
            STRING,
            optional=1,
        )
        for name, place in (
            ("TRIM", "at both ends"),
            ("LTRIM", "at its beginning"),
            ("RTRIM", "at its end"),
        )
    ),
    custom(
        FAMILY,
        "CONCAT(text, ...)",
        "The texts, BINARY values or arrays, one after the other.",
        _concat,
        _joined,
    ),
    custom(
        FAMILY,
        "CONCAT_WS(separator, text, ...)",
        "The texts, and the items of arrays of texts, with a separator between them; NULLs are "
        "left out.",
        _concat_ws,
        STRING,
        strict=False,
    ),
    define(
        FAMILY,
        "REPLACE(text, search[, replacement])",
        "The text with every `search` replaced, or removed.",
        (TEXT, TEXT, TEXT),
        STRING,
        optional=1,
    ),
    define(
        FAMILY,
        "TRANSLATE(text, from, to)",
        "The text with every character of `from` replaced by the one at its place in `to`, or "
        "removed if there is none.",
        (TEXT, TEXT, TEXT),
        STRING,
    ),
    define(
        FAMILY,
        "REVERSE(text)",
        "The characters of a text, bytes of a BINARY or items of an array in reverse order.",
        (_text_or_array,),
        first,
    ),
    define(FAMILY, "REPEAT(text, count)", "The text that often.", (TEXT, COUNT), STRING),
    define(
        FAMILY,
        "SPLIT_PART(text, separator, number)",
        "One of the parts between separators, from 1; a negative number counts from the end, and "
        "there is an empty text beyond.",
        (TEXT, TEXT, COUNT),
        STRING,
    ),
    *(
        define(FAMILY, usage, summary, (TEXT, TEXT), BOOLEAN)
        for usage, summary in (
            ("STARTSWITH(text, part)", "Whether the text begins with the part."),
            ("ENDSWITH(text, part)", "Whether the text ends with the part."),
            ("CONTAINS(text, part)", "Whether the part occurs in the text."),
        )
    ),
    define(
        FAMILY,
        "INSTR(text, part)",
        "The position at which the part first occurs in the text, or 0.",
        (TEXT, TEXT),
        INT,
    ),
    define(
        FAMILY,
        "LOCATE(part, text[, position])",
        "The position, not before the given one, at which the part first occurs in the text, or 0.",
        (TEXT, TEXT, COUNT),
        INT,
        optional=1,
        strict=False,
    ),
    define(
        FAMILY,
        "ASCII(text)",
        "The code point of the first character, 0 of an empty text.",
        (TEXT,),
        INT,
    ),
    define(
        FAMILY,
        "CHR(code)",
        "The character with that code, modulo 256; an empty text for a negative code.",
        (COUNT,),
        STRING,
    ),
)
