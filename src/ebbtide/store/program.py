"""What a program's directory belongs to: its views, its sources and how its state is cut.

Law: a directory is one program's for good.  What identifies it is written as text that has a
format: SQL for views, and JSON for the declarations of sources, with a checksum.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from dataclasses import replace as replace_fields
from enum import Enum
from typing import Any

from ebbtide.core.declaration import Declaration
from ebbtide.core.file_name import file_name
from ebbtide.core.types import Type
from ebbtide.errors import StateError
from ebbtide.state.files import content_of
from ebbtide.store.files import read_sealed, replace, sealed

FORMAT = 7
FILE = "program.json"

DEFINITION = "; CREATE VIEW "
"""Where the definition of a view that a query reads begins, behind the query."""


@dataclass(frozen=True, slots=True)
class Identity:
    """A program as its directory knows it: views by name as SQL, declarations of sources by name,
    the number of shards, and whether it has a heartbeat."""

    views: Mapping[str, str]
    sources: Mapping[str, Any]
    shards: int
    heartbeat: bool = False

    @staticmethod
    def of(
        views: Mapping[str, str], declarations: Iterable[Declaration], shards: int, beats: bool
    ) -> Identity:
        """The identity of a program that is to run."""
        sources = {declaration.name: described(declaration) for declaration in declarations}
        return Identity(dict(views), sources, shards, beats)

    def without_definitions(self) -> Identity:
        """The same as older releases wrote it, which left the definitions of views out."""
        views = {name: text.partition(DEFINITION)[0] for name, text in self.views.items()}
        return replace_fields(self, views=views)

    @property
    def text(self) -> str:
        """What the file of a directory says of its program."""
        told = {"format": FORMAT, **{f.name: getattr(self, f.name) for f in fields(self)}}
        return sealed(told, indent=1)

    def write(self, root: str) -> None:
        """Makes a directory this program's."""
        replace(f"{root}/{FILE}", self.text)

    @staticmethod
    def read(root: str) -> Identity | None:
        """The program that a directory belongs to, if it belongs to one."""
        path = f"{root}/{FILE}"

        def damaged(why: str) -> StateError:
            return StateError(
                "damaged-program",
                f'"{path}" cannot be read',
                detail=why,
                hint="restore the directory, or start under another name",
            )

        older = _format_without_checksum(path)
        told: dict[str, Any] | None = {"format": older} if older else read_sealed(path, damaged)
        if told is None:
            return None
        if told.get("format") == FORMAT:
            try:
                return Identity(*(told[f.name] for f in fields(Identity)))
            except (KeyError, TypeError) as error:
                raise damaged(repr(error)) from error
        if not isinstance(told.get("format"), int):
            raise damaged("it has no format")
        raise StateError(
            "other-format",
            f'"{root}" is of format {told["format"]}, and this is format {FORMAT}',
            hint="go on with the release that wrote it, or start under another name",
        )


def _format_without_checksum(path: str) -> int | None:
    """The format of a file that an older release wrote, which had no checksums."""
    try:
        told = json.loads(content_of(path))
    except (FileNotFoundError, ValueError, RecursionError):
        return None
    if not isinstance(told, dict) or "checksum" in told or told.get("format") not in (1, 2):
        return None
    return int(told["format"])


def described(value: Any) -> Any:
    """A declaration, or a part of one, as JSON has it."""
    match value:
        case Type():
            return value.sql
        case Enum():
            return value.name
        case tuple() | list():
            return [described(item) for item in value]
        case _ if is_dataclass(value):
            said = ((f, getattr(value, f.name)) for f in fields(value))
            # What came later and says nothing is left out: the description is that of before.
            told = ((f, v) for f, v in said if not (f.metadata.get("later") and v == f.default))
            return {f.name: described(v) for f, v in told}
        case _:
            return value


def program_names(location: str) -> list[str]:
    """The names of the programs that have run in a location."""
    programs = os.path.join(location, "programs")
    found = os.listdir(programs) if os.path.isdir(programs) else []
    return sorted(name for name in found if os.path.lexists(f"{programs}/{name}/{FILE}"))


def root_of_program(location: str, name: str) -> str:
    """The directory of a program."""
    return os.path.join(location, "programs", file_name(name))
