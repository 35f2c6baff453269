"""Hexadecimal digits and digests of bytes.  Text stands for its bytes in UTF-8."""

from __future__ import annotations

import hashlib
import re

from ebbtide.columnar.signature import Implementation, by_value

_HEXADECIMAL = re.compile(r"[0-9a-fA-F]*")
_SHA2 = {0: "sha256", 224: "sha224", 256: "sha256", 384: "sha384", 512: "sha512"}


def _bytes(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else value


def _hex(value: int | str | bytes) -> str:
    return f"{value % 2**64:X}" if isinstance(value, int) else _bytes(value).hex().upper()


def _unhex(digits: str) -> bytes | None:
    if not _HEXADECIMAL.fullmatch(digits):
        return None
    return bytes.fromhex(f"0{digits}" if len(digits) % 2 else digits)


def _sha2(value: str | bytes, bits: int) -> str | None:
    return hashlib.new(_SHA2[bits], _bytes(value)).hexdigest() if bits in _SHA2 else None


DIGESTS: dict[str, Implementation] = {
    "HEX": by_value(_hex),
    "UNHEX": by_value(_unhex),
    "MD5": by_value(lambda value: hashlib.md5(_bytes(value)).hexdigest()),
    "SHA1": by_value(lambda value: hashlib.sha1(_bytes(value)).hexdigest()),
    "SHA2": by_value(_sha2),
}
