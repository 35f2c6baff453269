"""Hashes of keys: 64 bits, the same in every process, run and cut into chunks.

Law: keys that SQL groups together have equal hashes.  The converse does not hold, so whoever
groups by hashes looks at the keys as well (``netting.codes``).
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
import pyarrow as pa

from ebbtide.state.arrays import Hashes, Ints
from ebbtide.state.columns import column, is_list, is_text, present, words

SEED = np.uint64(0x9E37_79B9_7F4A_7C15)
_ABSENT = np.uint64(0xD6E8_FEB8_6659_FD93)
_ITEM = np.uint64(0xA076_1D64_78BD_642F)
FIRST = np.uint64(0xBF58_476D_1CE4_E5B9)
SECOND = np.uint64(0x94D0_49BB_1331_11EB)
_LONG = 256
_SAMPLE = 1024


def key_hash(table: Any, columns: Sequence[int]) -> Hashes:
    """The hash of the given columns of every row; rows without columns all have the same."""
    result = np.full(table.num_rows, SEED, np.uint64)
    for index in columns:
        result = _joined(result, _hashed(column(table, index)))
    return result


def _joined(left: Hashes, right: Hashes) -> Hashes:
    return mixed(left * SEED + right)


def mixed(value: Hashes) -> Hashes:
    """A bijection of 64 bits that spreads every bit over all of them (splitmix64's last part)."""
    value = value ^ (value >> np.uint64(30))
    value = value * FIRST
    value ^= value >> np.uint64(27)
    value *= SECOND
    value ^= value >> np.uint64(31)
    return value


def _hashed(array: Any) -> Hashes:
    kind = array.type
    if is_text(kind):
        result = _text(array)
    elif is_list(kind):
        result = _lists(array)
    elif pa.types.is_struct(kind):
        result = np.full(len(array), SEED, np.uint64)
        for field in array.flatten():
            result = _joined(result, _hashed(field))
    else:
        return _plain(array)
    valid = present(array)
    return result if valid is None else np.where(valid, result, _ABSENT)


def _plain(array: Any) -> Hashes:
    valid = present(array)
    values = words(array)[valid is not None :]
    result = mixed(values[0].view(np.uint64))
    for word in values[1:]:
        result = _joined(result, word.view(np.uint64))
    return result if valid is None else np.where(valid, result, _ABSENT)


def _text(array: Any) -> Hashes:
    if not _repeats(array):
        return _distinct_text(array)
    encoded = array.dictionary_encode()
    indices = encoded.indices.fill_null(0) if encoded.indices.null_count else encoded.indices
    distinct = _distinct_text(encoded.dictionary)
    if not len(distinct):
        return np.full(len(array), _ABSENT, np.uint64)
    chosen: Hashes = distinct[indices.to_numpy(zero_copy_only=False)]
    return chosen


def _repeats(array: Any) -> bool:
    """Whether texts are there several times, so that it is worth while to find them first."""
    some = array.slice(0, _SAMPLE)
    return 2 * len(some.unique()) < len(some)


def _distinct_text(array: Any) -> Hashes:
    """Hashes of byte strings."""
    # A command that hashes nothing does not wait for a compiler.
    from ebbtide.state.text_hashing import hash_texts

    wide = pa.types.is_large_string(array.type) or pa.types.is_large_binary(array.type)
    _, offsets, data = array.buffers()
    stored = np.frombuffer(offsets, np.int64 if wide else np.int32)
    bounds: Ints = stored[array.offset : array.offset + len(array) + 1].astype(np.int64)
    text = np.frombuffer(data if data is not None and data.size else b"\0", np.uint8)
    result = np.empty(len(array), np.uint64)
    hash_texts(text, bounds, _LONG, result)
    for index in np.flatnonzero(np.diff(bounds) > _LONG).tolist():
        whole = text[bounds[index] : bounds[index + 1]].tobytes()
        result[index] = np.uint64(int.from_bytes(blake2b(whole, digest_size=8).digest(), "little"))
    return result


def _lists(array: Any) -> Hashes:
    bounds = np.asarray(array.offsets.to_numpy(zero_copy_only=False)).astype(np.int64)
    lengths = np.diff(bounds)
    items = _hashed(array.values) if len(array.values) else np.zeros(0, np.uint64)
    longest = int(lengths.max(initial=0))
    powers = np.cumprod(np.full(longest + 1, _ITEM, np.uint64))
    inside = np.arange(bounds[0], bounds[-1])
    weighted = items[inside] * powers[inside - np.repeat(bounds[:-1], lengths)]
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(weighted)])
    total = sums[bounds[1:] - bounds[0]] - sums[bounds[:-1] - bounds[0]]
    return mixed(total + lengths.view(np.uint64))
