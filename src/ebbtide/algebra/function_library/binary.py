"""Functions of bytes.  Text stands for its bytes in UTF-8."""

from __future__ import annotations

import hashlib
import re

from ebbtide.algebra.function_library.signature import define, exactly, only, text_or_bytes
from ebbtide.core.types import BIGINT, BINARY, INT, STRING, Type, is_numeric

FAMILY = "bytes"


def _number_or_bytes(given: Type) -> Type | None:
    return BIGINT if is_numeric(given) else text_or_bytes(given)


def _text_or_bytes(given: Type) -> Type | None:
    return only(BINARY)(given) or only(STRING)(given)


_DIGITS = re.compile(r"[0-9a-fA-F]*")

_SHA2 = {0: "sha256", 224: "sha224", 256: "sha256", 384: "sha384", 512: "sha512"}


def _bytes(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else value


def _hex(value: int | str | bytes) -> str:
    if isinstance(value, int):
        return f"{value & (1 << 64) - 1:X}"
    return _bytes(value).hex().upper()


def _unhex(digits: str) -> bytes | None:
    if not _DIGITS.fullmatch(digits):
        return None
    return bytes.fromhex(digits if len(digits) % 2 == 0 else f"0{digits}")


def _sha2(value: str | bytes, bits: int) -> str | None:
    return hashlib.new(_SHA2[bits], _bytes(value)).hexdigest() if bits in _SHA2 else None


BINARY_FUNCTIONS = (
    define(
        FAMILY,
        "HEX(x)",
        "The bytes, or the bits of a BIGINT, as hexadecimal digits.",
        (_number_or_bytes,),
        STRING,
        meaning=_hex,
    ),
    define(
        FAMILY,
        "UNHEX(text)",
        "The bytes that hexadecimal digits stand for; NULL if there are other characters.",
        (exactly(STRING),),
        BINARY,
        may_be_null=True,
        meaning=_unhex,
    ),
    define(
        FAMILY,
        "MD5(x)",
        "The MD5 digest as 32 digits.",
        (_text_or_bytes,),
        STRING,
        meaning=lambda value: hashlib.md5(_bytes(value)).hexdigest(),
    ),
    define(
        FAMILY,
        "SHA1(x)",
        "The SHA-1 digest as 40 digits.",
        (_text_or_bytes,),
        STRING,
        meaning=lambda value: hashlib.sha1(_bytes(value)).hexdigest(),
    ),
    define(
        FAMILY,
        "SHA2(x, bits)",
        "The SHA-2 digest of 224, 256 (also 0), 384 or 512 bits as hexadecimal digits; NULL for "
        "other lengths.",
        (_text_or_bytes, exactly(INT)),
        STRING,
        may_be_null=True,
        meaning=_sha2,
    ),
)
