"""A sink that gets changes in an encoding of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from ebbtide.core.codec.encoding import OutputForm, encoding_of
from ebbtide.core.time import duration


@dataclass(frozen=True, slots=True)
class Encoded:
    """Another sink, which gets changes in an encoding: ``Encoded(Files("out"), "upsert")``.

    ``key`` names the columns by which rows are told apart; without it, it is the query's.
    """

    sink: Any
    encoding: str
    key: str | Sequence[str] = ()
    coalesce: bool = False
    split: str | int | timedelta | None = None

    @property
    def output(self) -> OutputForm:
        """How the changes are written."""
        key = (self.key,) if isinstance(self.key, str) else tuple(self.key)
        split_us = None if self.split is None else duration(self.split)
        return OutputForm(encoding_of(self.encoding), key, self.coalesce, split_us)
