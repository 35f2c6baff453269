"""Functions of bytes.  Text stands for its bytes in UTF-8."""

from __future__ import annotations

from ebbtide.algebra.function_library.signature import define, exactly, only, text_or_bytes
from ebbtide.core.types import BIGINT, BINARY, INT, STRING, Type, is_numeric

FAMILY = "bytes"


def _number_or_bytes(given: Type) -> Type | None:
    return BIGINT if is_numeric(given) else text_or_bytes(given)


def _text_or_bytes(given: Type) -> Type | None:
    return only(BINARY)(given) or only(STRING)(given)


BINARY_FUNCTIONS = (
    define(
        FAMILY,
        "HEX(x)",
        "The bytes, or the bits of a BIGINT, as hexadecimal digits.",
        (_number_or_bytes,),
        STRING,
    ),
    define(
        FAMILY,
        "UNHEX(text)",
        "The bytes that hexadecimal digits stand for; NULL if there are other characters.",
        (exactly(STRING),),
        BINARY,
        may_be_null=True,
    ),
    define(FAMILY, "MD5(x)", "The MD5 digest as 32 digits.", (_text_or_bytes,), STRING),
    define(FAMILY, "SHA1(x)", "The SHA-1 digest as 40 digits.", (_text_or_bytes,), STRING),
    define(
        FAMILY,
        "SHA2(x, bits)",
        "The SHA-2 digest of 224, 256 (also 0), 384 or 512 bits as hexadecimal digits; NULL for "
        "other lengths.",
        (_text_or_bytes, exactly(INT)),
        STRING,
        may_be_null=True,
    ),
)
