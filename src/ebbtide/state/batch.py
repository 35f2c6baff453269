"""Batches of changes: their shape, their hashes, their exact groups and their canonical form."""

from __future__ import annotations

from ebbtide.state.hashing import key_hash
from ebbtide.state.netting import Codes, cancel, codes, consolidate, minus, negated, net
from ebbtide.state.table import (
    DIFF,
    FROM,
    TIMES,
    TO,
    batch_schema,
    concat,
    empty,
    from_changes,
    last_end,
    payload,
    row_types,
    to_changes,
    where,
    width,
    with_times,
)

__all__ = [
    "DIFF",
    "FROM",
    "TIMES",
    "TO",
    "Codes",
    "batch_schema",
    "cancel",
    "codes",
    "concat",
    "consolidate",
    "empty",
    "from_changes",
    "key_hash",
    "last_end",
    "minus",
    "negated",
    "net",
    "payload",
    "row_types",
    "to_changes",
    "where",
    "width",
    "with_times",
]
