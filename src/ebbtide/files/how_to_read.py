"""Which reader reads the files of a source, and with which options."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from ebbtide.config import Limits
from ebbtide.core.codec.debezium import envelope_schema
from ebbtide.core.schema import Schema
from ebbtide.files.csv import CsvReader
from ebbtide.files.envelopes import EnvelopeReader, row_of
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
    enveloped: bool = False
    unpacked: int = Limits().unpacked

    @property
    def text(self) -> str:
        """This, written out."""
        told = [self.format, self.zone, self.options, self.enveloped, self.unpacked]
        return json.dumps(told)

    @staticmethod
    def of(text: str) -> HowToRead:
        """What was written out."""
        format_, zone, options, enveloped, unpacked = json.loads(text)
        named = tuple((name, value) for name, value in options)
        return HowToRead(format_, zone, named, enveloped, unpacked)

    def reader(self, schema: Schema) -> FileReader | EnvelopeReader:
        """The reader of such files."""
        options = {name.casefold(): value for name, value in self.options}
        kind = _READERS[self.format]
        if not self.enveloped:
            return kind(schema, self.zone, options, self.unpacked)
        inner = kind(envelope_schema(row_of(schema)), self.zone, options, self.unpacked)
        return EnvelopeReader(schema, inner)


def reads(format_: str, schema: Schema, options: Mapping[str, str], enveloped: bool) -> bool:
    """Whether files of a format are read here: there is a reader that knows types and options."""
    if format_ not in _READERS:
        return False
    folded = {name.casefold(): value for name, value in options.items()}
    wanted = envelope_schema(row_of(schema)) if enveloped else schema
    return _READERS[format_].knows(wanted, folded)
