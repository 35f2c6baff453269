"""Text as blocks of whole lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ebbtide.files.reader import Unreadable

BLOCK = 1 << 22
"""About so many bytes are worked on at once."""

LONGEST = 1 << 26
"""No line may have more bytes."""

_BOM = b"\xef\xbb\xbf"


def blocks(stream: Any) -> Iterator[bytes]:
    """All lines, some at a time; every line but the last of all has its end, which is ``\\n``."""
    rest, first = b"", True
    while data := stream.read(BLOCK):
        if first:
            data, first = data.removeprefix(_BOM), False
        cut = max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
        if cut:
            yield _with_line_feeds(b"".join((rest, memoryview(data)[:cut])))
            rest = b""
        rest += data[cut:]
        if len(rest) > LONGEST:
            raise Unreadable(f"a line is longer than {LONGEST} bytes")
    if rest:
        yield _with_line_feeds(rest)


def pieces(block: bytes, count: int) -> Iterator[bytes]:
    """A block cut between lines into about so many."""
    size, begin = -(-len(block) // count), 0
    while begin < len(block):
        end = block.find(b"\n", begin + size - 1) + 1 or len(block)
        yield block[begin:end]
        begin = end


def lines_of(block: bytes) -> list[bytes]:
    """The lines of a block that are not empty."""
    return [line for line in block.split(b"\n") if line]


def _with_line_feeds(block: bytes) -> bytes:
    if b"\r" not in block:
        return block
    return block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
