"""Hexadecimal digits and digests of bytes."""

from __future__ import annotations

import hashlib
import re

from ebbtide.reference.functions.context import Evaluation, plain

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


DIGESTS: dict[str, Evaluation] = {
    "HEX": plain(_hex),
    "UNHEX": plain(_unhex),
    "MD5": plain(lambda value: hashlib.md5(_bytes(value)).hexdigest()),
    "SHA1": plain(lambda value: hashlib.sha1(_bytes(value)).hexdigest()),
    "SHA2": plain(_sha2),
}
