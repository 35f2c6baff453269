"""Which reader reads the files of a source, and what it is told."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from ebbtide.core.schema import Schema
from ebbtide.files.csv import CsvReader
from ebbtide.files.json import JsonReader
from ebbtide.files.parquet import ParquetReader
from ebbtide.files.reader import FileReader

_READERS: dict[str, type[FileReader]] = {
    "csv": CsvReader,
    "json": JsonReader,
    "parquet": ParquetReader,
}


@dataclass(frozen=True, slots=True)
class HowToRead:
    """How files are read, besides their columns: it travels as text beside their paths."""

    format: str
    zone: str
    options: tuple[tuple[str, str], ...] = ()

    @property
    def text(self) -> str:
        """This, written out."""
        return json.dumps([self.format, self.zone, self.options])

    @staticmethod
    def of(text: str) -> HowToRead:
        """What was written out."""
        format_, zone, options = json.loads(text)
        return HowToRead(format_, zone, tuple((name, value) for name, value in options))

    def reader(self, schema: Schema) -> FileReader:
        """The reader of such files."""
        options = {name.casefold(): value for name, value in self.options}
        return _READERS[self.format](schema, self.zone, options)


def reads(format_: str, schema: Schema, options: Mapping[str, str]) -> bool:
    """Whether files of a format are read here: there is a reader that knows types and options."""
    if format_ not in _READERS:
        return False
    folded = {name.casefold(): value for name, value in options.items()}
    return _READERS[format_].knows(schema, folded)
