"""Lines of JSON, one object each.

Law: names of columns are found whatever their case; what no column is named after does not count.
A line with a value that does not fit, with a column twice, or with anything but one object, is
malformed as a whole.

Blocks in which nothing is out of the ordinary are read by Arrow at once.  In others, each line is
looked at: it says the same of an ordinary line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.json as pajson

from ebbtide.core.schema import Column, Schema
from ebbtide.core.types import BooleanType, DoubleType, IntegerType, StringType, TimestampType, Type
from ebbtide.files.json_values import JsonObject, fitted, is_json, parsed
from ebbtide.files.lines import blocks, lines_of, pieces
from ebbtide.files.options import ENCODING, FOLDED_FILE_OPTIONS, is_utf_8
from ebbtide.files.reader import FileReader, opened, parts_of
from ebbtide.files.texts import WRITTEN, from_texts, local_times
from ebbtide.state.types import arrow_type

_SMALL, _PIECES = 1 << 15, 16
_LETTER = re.compile(rb"\\u00[4-7]")


@dataclass(frozen=True, slots=True)
class JsonReader(FileReader):
    """Reads files of JSON."""

    @staticmethod
    def knows(schema: Schema, options: Mapping[str, str]) -> bool:
        """Whether this knows the types and, of those that Spark's reader has, the options."""
        return (
            all(is_json(column.type) for column in schema)
            and options.keys() <= ENCODING | FOLDED_FILE_OPTIONS
            and is_utf_8(options)
        )

    def batches(self, place: str, content: bytes | None) -> Iterator[Any]:
        """The rows of a file."""
        parts = parts_of(place)
        ordinary = not {column.name.casefold() for column in self.schema} & parts.keys()
        with opened(place, content, self.unpacked) as stream:
            for block in blocks(stream):
                yield from self._rows(block, parts) if ordinary else [self._by_line(block, parts)]

    def _rows(self, block: bytes, parts: Mapping[str, str | None]) -> Iterator[Any]:
        """The rows of a block; one with something odd in it is cut, so that little is slow."""
        found = self._at_once(block)
        if found is not None:
            yield found
        elif len(block) < _SMALL or block.count(b"\n") < _PIECES:
            yield self._by_line(block, parts)
        else:
            for piece in pieces(block, _PIECES):
                yield from self._rows(piece, parts)

    def _at_once(self, block: bytes) -> Any | None:
        """The rows of a block in which every line is plainly a row; else None."""
        if not self._is_plain(block):
            return None
        direct = pa.schema([(c.name, _DIRECT[type(c.type)](c.type)) for c in self.schema])
        try:
            table = pajson.read_json(
                pa.py_buffer(block),
                pajson.ReadOptions(use_threads=False, block_size=len(block) + 1),
                pajson.ParseOptions(explicit_schema=direct, unexpected_field_behavior="ignore"),
            )
        except pa.ArrowInvalid:
            return None
        lines = block.count(b"\n") + (not block.endswith(b"\n"))
        starts = block.count(b"\n{") + block.startswith(b"{")
        if not table.num_rows == lines == starts:
            return None
        columns = []
        for column in self.schema:
            given = table[column.name].combine_chunks()
            values = given
            if isinstance(column.type, TimestampType):
                values = local_times(given, self.zone)
            if values.null_count != given.null_count:
                return None
            columns.append(values)
        return self.made(columns, pa.nulls(table.num_rows, pa.string()))

    def _is_plain(self, block: bytes) -> bool:
        """Whether names are written as they are declared, and Arrow knows all types."""
        names = [column.name for column in self.schema]
        if not all(type(c.type) in _DIRECT and c.name.isascii() for c in self.schema):
            return False
        if _LETTER.search(block):
            return False
        try:
            block.decode()
        except UnicodeDecodeError:
            return False
        folded = block.lower()
        return all(
            folded.count(f'"{name.lower()}"'.encode()) == block.count(f'"{name}"'.encode())
            for name in names
        )

    def _by_line(self, block: bytes, parts: Mapping[str, str | None]) -> Any:
        """The rows of any block; a line that is none is given as text."""
        rows: list[list[Any]] = []
        malformed: list[str | None] = []
        nothing = [None] * len(self.schema)
        above = self._above(parts)
        for line in lines_of(block):
            if not line.strip(b" \t"):
                continue
            try:
                rows.append(self._row(line, above))
                malformed.append(None)
            except ValueError:
                rows.append(nothing)
                malformed.append(line.decode(errors="replace"))
        columns = [
            pa.array([row[number] for row in rows], arrow_type(column.type))
            for number, column in enumerate(self.schema)
        ]
        return self.made(columns, pa.array(malformed, pa.string()))

    def _above(self, parts: Mapping[str, str | None]) -> dict[str, _Above]:
        """What the names of directories say of columns that a line has not."""
        named = [(c.name.casefold(), c.type) for c in self.schema if c.name.casefold() in parts]
        return {name: _Above.of(parts[name], type_, self.zone) for name, type_ in named}

    def _row(self, line: bytes, above: Mapping[str, _Above]) -> list[Any]:
        try:
            value = parsed(line)
        except RecursionError:
            # Arrow goes as deep as it has to, into what no column is named after.
            found = self._at_once(line)
            if found is None:
                raise ValueError("values in values, too many of them") from None
            if above:
                raise ValueError("values in values, below a directory with a value") from None
            return [column[0].as_py() for column in found.columns[:-1]]
        if not isinstance(value, JsonObject):
            raise ValueError("no object")
        given = value.by_name(list(self.schema.names))
        return [self._value(column, given, above) for column in self.schema]

    def _value(self, column: Column, given: Mapping[str, Any], above: Mapping[str, _Above]) -> Any:
        name = column.name.casefold()
        if name in above and name not in given:
            return above[name].checked
        return fitted(given.get(name), column.type, self.zone)


@dataclass(frozen=True, slots=True)
class _Above:
    """The value in the name of a directory above a file, and whether it fits its column."""

    value: Any
    fits: bool

    @staticmethod
    def of(text: str | None, type_: Type, zone: str) -> _Above:
        if text is None or not isinstance(type_, WRITTEN):
            return _Above(None, text is None)
        value = from_texts(pa.array([text]), type_, zone)[0].as_py()
        return _Above(value, value is not None)

    @property
    def checked(self) -> Any:
        """The value; ValueError if it does not fit."""
        if not self.fits:
            raise ValueError("the directory has no value of the column")
        return self.value


def _local_time(_: Type) -> pa.DataType:
    return pa.timestamp("us")


_DIRECT: dict[type[Type], Callable[[Type], pa.DataType]] = {
    BooleanType: arrow_type,
    IntegerType: arrow_type,
    DoubleType: arrow_type,
    StringType: arrow_type,
    TimestampType: _local_time,
}
"""The types that Arrow reads from JSON just as we do, or not at all."""
