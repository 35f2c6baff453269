"""Values with commas between them, a row a line.

Law: in a quoted value a quote is written twice or behind a backslash; elsewhere both stand for
themselves.  An empty value is NULL, one in quotes is empty text.  A value never goes over the end
of its line.  Where a file begins with the names of its columns, they are found by them.

Blocks in which nothing is out of the ordinary are read by Arrow at once.  In others, each line is
looked at: it says the same of an ordinary line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from ebbtide.core.schema import Schema
from ebbtide.core.types import DoubleType, IntegerType, StringType, TimestampType, Type
from ebbtide.files.lines import blocks, lines_of
from ebbtide.files.options import ENCODING, FOLDED_FILE_OPTIONS, is_utf_8
from ebbtide.files.reader import FileReader, Unreadable, opened, parts_of
from ebbtide.files.texts import WRITTEN, from_texts, local_times
from ebbtide.state.types import arrow_type

_OPTIONS = frozenset({"header", "sep", "delimiter", "nullvalue"}) | ENCODING
_QUOTE = '"'

_AT_ONCE = 1 << 19
"""Arrow reads so many bytes at once: what they become stays in the processor's cache."""

_COMPARED = 1 << 16
"""So many bytes are compared at once, for the same reason."""


@dataclass(frozen=True, slots=True)
class CsvReader(FileReader):
    """Reads files of CSV."""

    @staticmethod
    def knows(schema: Schema, options: Mapping[str, str]) -> bool:
        """Whether this knows the types and, of those that Spark's reader has, the options."""
        separator = options.get("sep", options.get("delimiter", ","))
        return (
            all(isinstance(column.type, WRITTEN) for column in schema)
            and options.keys() <= _OPTIONS | FOLDED_FILE_OPTIONS
            and len(separator) == 1
            and separator.isascii()
            and separator not in '"\\\r\n'
            and is_utf_8(options)
        )

    def batches(self, place: str, content: bytes | None) -> Iterator[Any]:
        """The rows of a file."""
        columns: _Columns | None = None
        with opened(place, content, self.unpacked) as stream:
            for block in blocks(stream):
                if columns is None:
                    first, block = self._first(block)
                    columns = _Columns(self, first, place)
                if block.lstrip(b"\n"):
                    yield columns.rows(block)

    @property
    def separator(self) -> str:
        """What stands between values."""
        return self.options.get("sep", self.options.get("delimiter", ","))

    @property
    def null(self) -> str:
        """How NULL is written, besides nothing at all."""
        return self.options.get("nullvalue", "")

    def _first(self, block: bytes) -> tuple[list[str] | None, bytes]:
        """The names that a file begins with, if it does, and what is below them."""
        if self.options.get("header", "true").strip().casefold() != "true":
            return None, block
        line, _, below = block.lstrip(b"\n").partition(b"\n")
        try:
            names = fields(line.decode(), self.separator)
        except UnicodeDecodeError:
            names = None
        if names is None:
            raise Unreadable(f"its first line is not the names of columns: {line[:200]!r}")
        return [(name or "").strip() for name in names], below


class _Columns:
    """Where the declared columns are in the lines of a file."""

    def __init__(self, reader: CsvReader, names: list[str] | None, place: str) -> None:
        self.reader = reader
        schema = reader.schema
        self.parts = parts_of(place)
        if names is None:
            names = [c.name for c in schema if c.name.casefold() not in self.parts]
        folded = [name.casefold() for name in names]
        wanted = [column.name.casefold() for column in schema]
        twice = [name for name in wanted if folded.count(name) > 1]
        if twice:
            raise Unreadable(f"it has the column {twice[0]} twice")
        missing = [name for name in wanted if name not in folded and name not in self.parts]
        if missing:
            raise Unreadable(f"it has no column {missing[0]}; it has {', '.join(names)}")
        self.count = len(names)
        self.places = [folded.index(name) if name in folded else None for name in wanted]
        self.ordinary = True

    def rows(self, block: bytes) -> Any:
        """The rows of a block of lines."""
        if self.ordinary:
            found = self._at_once(block)
            if found is not None:
                return found
            # What is out of the ordinary once in a file mostly comes again.
            self.ordinary = False
        return self._line_by_line(block)

    def _at_once(self, block: bytes) -> Any | None:
        """The rows of a block in which every line is plainly a row; else None."""
        if _may_have_hexadecimals(block):
            return None
        direct = {
            place: _DIRECT[type(column.type)](column.type)
            for column, place in zip(self.reader.schema, self.places, strict=True)
            if place is not None and type(column.type) in _DIRECT
        }
        table = self._parsed(block, direct)
        if table is None:
            return None
        columns = []
        for column, given in zip(self.reader.schema, self._given(table), strict=True):
            values = _of_direct(given, column.type, self.reader.zone)
            if values is None or values.null_count != given.null_count:
                return None
            columns.append(values)
        return self.reader.made(columns, pa.nulls(table.num_rows, pa.string()))

    def _line_by_line(self, block: bytes) -> Any:
        """The rows of any block; a line that is none is given as text."""
        malformed: dict[int, str] = {}
        lines = lines_of(block)
        table = self._parsed(block, {})
        if table is None:
            table = self._split(lines, malformed)
        columns, bad = [], np.zeros(len(lines), bool)
        for column, given in zip(self.reader.schema, self._given(table), strict=True):
            values = from_texts(given, column.type, self.reader.zone)
            bad |= np.asarray(pc.and_(values.is_null(), given.is_valid()))
            columns.append(values)
        for row in np.flatnonzero(bad).tolist():
            malformed[row] = lines[row].decode()
        texts = [malformed.get(row) for row in range(len(lines))] if malformed else None
        made = pa.nulls(len(lines), pa.string()) if texts is None else pa.array(texts, pa.string())
        return self.reader.made(columns, made)

    def _split(self, lines: list[bytes], malformed: dict[int, str]) -> Any:
        """The values of lines as texts; a line with more or fewer of them is malformed."""
        rows: list[list[str | None]] = []
        for number, line in enumerate(lines):
            try:
                text = line.decode()
                found = fields(text, self.reader.separator, self.reader.null)
            except UnicodeDecodeError:
                text, found = line.decode(errors="replace"), None
            if found is None or len(found) != self.count:
                malformed[number], found = text, [None] * self.count
            rows.append(found)
        columns = zip(*rows, strict=True)
        return pa.table({f"f{i}": pa.array(texts, pa.string()) for i, texts in enumerate(columns)})

    def _given(self, table: Any) -> Iterator[Any]:
        """What stands in the declared columns: in the lines, or in the names of directories."""
        for column, place in zip(self.reader.schema, self.places, strict=True):
            if place is None:
                part = pa.scalar(self.parts[column.name.casefold()], pa.string())
                yield pa.repeat(part, table.num_rows)
            else:
                yield table[f"f{place}"].combine_chunks()

    def _parsed(self, block: bytes, direct: Mapping[int, Any]) -> Any | None:
        """The lines of a block as Arrow reads them; None if it may read one differently.

        Values are texts, but for those in places that have a type.
        """
        if not _is_text(block) or not _is_plain(block, ord(self.reader.separator)):
            return None
        found = self._read(block, direct, _AT_ONCE)
        # A line may be longer than that.
        return self._read(block, direct, len(block) + 1) if found is None else found

    def _read(self, block: bytes, direct: Mapping[int, Any], size: int) -> Any | None:
        names = [f"f{place}" for place in range(self.count)]
        wanted = [place for place in self.places if place is not None]
        try:
            return pacsv.read_csv(
                pa.py_buffer(block),
                pacsv.ReadOptions(use_threads=False, column_names=names, block_size=size),
                pacsv.ParseOptions(
                    delimiter=self.reader.separator,
                    quote_char=_QUOTE if b'"' in block else False,
                ),
                pacsv.ConvertOptions(
                    check_utf8=False,
                    column_types={f"f{i}": direct.get(i, pa.string()) for i in wanted},
                    include_columns=[f"f{i}" for i in wanted],
                    null_values=["", self.reader.null],
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=False,
                ),
            )
        except pa.ArrowInvalid:
            return None


def _local_time(_: Type) -> pa.DataType:
    return pa.timestamp("us")


_DIRECT: dict[type[Type], Callable[[Type], pa.DataType]] = {
    IntegerType: arrow_type,
    DoubleType: arrow_type,
    TimestampType: _local_time,
}
"""The types that Arrow reads from text just as we do, or not at all."""


def _of_direct(values: Any, type_: Type, zone: str) -> Any | None:
    """What Arrow has read, as values of a type; None if it may not be so."""
    match type_:
        case IntegerType() if pa.types.is_integer(values.type):
            return values
        case DoubleType() if pa.types.is_floating(values.type):
            return None if pc.any(pc.is_inf(values)).as_py() else values
        case TimestampType() if pa.types.is_timestamp(values.type):
            return local_times(values, zone)
        case StringType():
            return values
        case _:
            return from_texts(values, type_, zone)


def _may_have_hexadecimals(block: bytes) -> bool:
    """Whether ``0x`` or ``0X`` stands anywhere: Arrow takes such texts for numbers.

    To look for two bytes in a text full of zeros is slow; to compare all of it is not.
    """
    data = np.frombuffer(block, np.uint8)
    parts = (data[start : start + _COMPARED + 1] for start in range(0, len(data), _COMPARED))
    return any(((part[:-1] == ord("0")) & (part[1:] | 0x20 == ord("x"))).any() for part in parts)


def _is_text(block: bytes) -> bool:
    if block.isascii():
        return True
    try:
        block.decode()
    except UnicodeDecodeError:
        return False
    return True


def _is_plain(block: bytes, separator: int) -> bool:
    """Whether quotes stand around whole values only, and none inside of them."""
    if b'"' not in block:
        return True
    data = np.frombuffer(b"\n" + block + (b"" if block.endswith(b"\n") else b"\n"), np.uint8)
    quotes = np.flatnonzero(data == ord(_QUOTE))
    if len(quotes) % 2:
        return False
    opening, closing = quotes[::2], quotes[1::2]
    before, behind = data[opening - 1], data[closing + 1]
    line_feed = ord("\n")
    stand = np.isin(before, (separator, line_feed)) & np.isin(behind, (separator, line_feed))
    if not stand.all():
        return False
    ends: npt.NDArray[np.int64] = np.flatnonzero(data == line_feed)
    return bool((np.searchsorted(ends, opening) == np.searchsorted(ends, closing)).all())


def fields(line: str, separator: str, null: str = "") -> list[str | None] | None:
    """The values of a line; None if it has quotes that do not fit together.

    A value that is empty, or ``null``, is none unless it is in quotes.
    """
    if _QUOTE not in line:
        return [None if text in ("", null) else text for text in line.split(separator)]
    found: list[str | None] = []
    pattern, place = _field(separator), 0
    while True:
        match = pattern.match(line, place)
        if match is None:
            return None
        quoted, plain = match.groups()
        if quoted is not None:
            found.append(_unquoted(quoted))
        else:
            found.append(None if plain in ("", null) else plain)
        place = match.end()
        if place == len(line):
            return found
        place += 1


def _unquoted(text: str) -> str:
    return text.replace('""', '"').replace('\\"', '"')


def _field(separator: str) -> re.Pattern[str]:
    stop = re.escape(separator)
    return re.compile(rf'(?:"((?:[^"\\]|\\"|\\|"")*)"|((?:[^"{stop}][^{stop}]*)?))(?={stop}|$)')
