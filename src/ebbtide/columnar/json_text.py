"""Functions of JSON in text, by the decoder of Python's library.

A text is decoded once for each different value of a column (``each``); a value that occurs again
costs a look into a dictionary of Arrow's.  Numbers stay as they are written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import accumulate
from json.encoder import py_encode_basestring
from typing import Any, NoReturn

from ebbtide.columnar.signature import Implementation, bad_argument, by_value
from ebbtide.core.json_path import DEEPEST, Steps, steps_of
from ebbtide.core.values import Value


class _Written(str):
    """A number, as it is written."""

    __slots__ = ()


def _refused(word: str) -> NoReturn:
    raise ValueError(word)


_DECODER = json.JSONDecoder(parse_float=_Written, parse_int=_Written, parse_constant=_refused)
_ABSENT = object()
_SURROGATE = re.compile("[\ud800-\udfff]")
_STRUCTURE = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[{]|[\]}]', re.DOTALL)
_TURNS = {"[": 1, "{": 1, "]": -1, "}": -1}


def _decoded(text: str) -> Any:
    """The value of a text; `_ABSENT` if it is not JSON."""
    if text.count("[") + text.count("{") > DEEPEST and _depth(text) > DEEPEST:
        return _ABSENT
    try:
        return _DECODER.decode(text)
    except ValueError:
        return _ABSENT


def _depth(text: str) -> int:
    turns = (_TURNS.get(token, 0) for token in _STRUCTURE.findall(text))
    return max(accumulate(turns), default=0)


def _at(value: Any, steps: Steps) -> Any:
    for step in steps:
        if isinstance(step, str):
            value = value.get(step, _ABSENT) if isinstance(value, dict) else _ABSENT
        elif isinstance(value, list) and -len(value) <= step < len(value):
            value = value[step]
        else:
            return _ABSENT
    return value


def _json(value: Any) -> str:
    match value:
        case None:
            return "null"
        case True:
            return "true"
        case False:
            return "false"
        case _Written():
            return str(value)
        case str():
            return py_encode_basestring(value)
        case list():
            return "[" + ",".join([_json(item) for item in value]) + "]"
        case _:
            parts = [f"{py_encode_basestring(name)}:{_json(item)}" for name, item in value.items()]
            return "{" + ",".join(parts) + "}"


def _text(value: Any) -> str | None:
    return str(value) if isinstance(value, str) else None if value is None else _json(value)


def _shown(text: str | None) -> str | None:
    return None if text is None or _SURROGATE.search(text) else text


def _steps(path: str) -> Steps:
    try:
        return steps_of(path)
    except ValueError:
        raise bad_argument(f"{path!r} is not a path like '$.name[0]'") from None


def _by_key(written: Callable[[Any], str | None]) -> Implementation:
    def compute(text: str, key: str | int) -> Value:
        value = _at(_decoded(text), (key,))
        return None if value is _ABSENT else _shown(written(value))

    return by_value(compute)


def _by_path(written: Callable[[Any], str | None], *kinds: type) -> Implementation:
    """The value at a path if it is of one of the kinds; of any, if none is given."""

    def compute(text: str, path: str) -> Value:
        value = _at(_decoded(text), _steps(path))
        if value is _ABSENT or (kinds and not isinstance(value, kinds)):
            return None
        return _shown(written(value))

    return by_value(compute)


def _exists(text: str, path: str) -> bool:
    steps = _steps(path)
    return _at(_decoded(text), steps) is not _ABSENT


def _items(written: Callable[[Any], str | None]) -> Implementation:
    def compute(text: str) -> Value:
        value = _decoded(text)
        return tuple(_shown(written(item)) for item in value) if isinstance(value, list) else None

    return by_value(compute)


JSON_TEXT: dict[str, Implementation] = {
    "JSON_GET": _by_key(_json),
    "JSON_GET_TEXT": _by_key(_text),
    "GET_JSON_OBJECT": _by_path(_text),
    "JSON_VALUE": _by_path(_text, str, bool),
    "JSON_QUERY": _by_path(_json, list, dict),
    "JSON_EXISTS": by_value(_exists),
    "JSON_ITEMS": _items(_json),
    "JSON_ITEMS_TEXT": _items(_text),
}
