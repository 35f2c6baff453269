"""Functions of JSON in text, by a reader of JSON that follows its grammar rule by rule.

A value is None, a bool, a ``str``, a ``JsonNumber``, a list or a dict.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ebbtide.core.json_path import DEEPEST, Steps, steps_of
from ebbtide.core.values import Value
from ebbtide.reference.functions.context import Evaluation, bad_argument, plain


@dataclass(frozen=True, slots=True)
class JsonNumber:
    """A number, as it is written."""

    text: str


class _NotJson(Exception):
    """The text is not JSON."""


_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_PLAIN = re.compile(r'[^"\\\x00-\x1f]*')
_WORDS = {"null": None, "true": True, "false": False}
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_WRITTEN = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n"}
_WRITTEN |= {"\r": "\\r", "\t": "\\t"}


class _Reader:
    """Reads one value from a text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0

    def whole(self) -> Any:
        value = self.value(0)
        if self.position < len(self.text):
            raise _NotJson
        return value

    def value(self, depth: int) -> Any:
        self.skip()
        value = self.bare_value(depth)
        self.skip()
        return value

    def bare_value(self, depth: int) -> Any:
        match self.text[self.position : self.position + 1]:
            case "{" | "[" if depth == DEEPEST:
                raise _NotJson
            case "{":
                return self.members(depth + 1)
            case "[":
                return self.items(depth + 1)
            case '"':
                return self.string()
            case _:
                return self.word_or_number()

    def word_or_number(self) -> Any:
        for word, value in _WORDS.items():
            if self.took(word):
                return value
        return JsonNumber(self.matched(_NUMBER))

    def members(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}

        def member() -> None:
            self.skip()
            name = self.string()
            self.skip()
            self.need(":")
            found[name] = self.value(depth)

        self.listed("{", member, "}")
        return found

    def items(self, depth: int) -> list[Any]:
        found: list[Any] = []
        self.listed("[", lambda: found.append(self.value(depth)), "]")
        return found

    def listed(self, opening: str, read: Callable[[], None], closing: str) -> None:
        self.need(opening)
        self.skip()
        if self.took(closing):
            return
        read()
        while self.took(","):
            read()
        self.need(closing)

    def string(self) -> str:
        self.need('"')
        parts = [self.matched(_PLAIN)]
        while self.took("\\"):
            parts += [self.escaped(), self.matched(_PLAIN)]
        self.need('"')
        return "".join(parts)

    def escaped(self) -> str:
        letter = self.text[self.position : self.position + 1]
        if letter in _ESCAPES:
            self.position += 1
            return _ESCAPES[letter]
        first = self.code_unit()
        if 0xD800 <= first < 0xDC00 and self.text.startswith("\\u", self.position):
            before = self.position
            self.position += 1
            second = self.code_unit()
            if 0xDC00 <= second < 0xE000:
                return chr(0x10000 + ((first - 0xD800) << 10) + second - 0xDC00)
            self.position = before
        return chr(first)

    def code_unit(self) -> int:
        return int(self.matched(re.compile("u[0-9a-fA-F]{4}"))[1:], 16)

    def matched(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.text, self.position)
        if match is None:
            raise _NotJson
        self.position = match.end()
        return match[0]

    def skip(self) -> None:
        self.matched(_SPACE)

    def took(self, sign: str) -> bool:
        there = self.text.startswith(sign, self.position)
        self.position += len(sign) if there else 0
        return there

    def need(self, sign: str) -> None:
        if not self.took(sign):
            raise _NotJson


def _json(value: Any) -> str:
    """A value as JSON, without spaces."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case JsonNumber(text):
            return text
        case str():
            return f'"{"".join(map(_character, value))}"'
        case list():
            return f"[{','.join(map(_json, value))}]"
        case _:
            return f"{{{','.join(f'{_json(name)}:{_json(item)}' for name, item in value.items())}}}"


def _character(character: str) -> str:
    if character in _WRITTEN:
        return _WRITTEN[character]
    return f"\\u{ord(character):04x}" if character < " " else character


def _text(value: Any) -> str | None:
    """A value as text."""
    return value if value is None or isinstance(value, str) else _json(value)


def _shown(text: str | None) -> str | None:
    """The text, unless half of a pair of surrogates is in it, which no text can hold."""
    return None if text is None or any("\ud800" <= each <= "\udfff" for each in text) else text


def _found(text: str, steps: Steps) -> list[Any]:
    """The value at the end of the steps; nothing if they lead nowhere."""
    try:
        value = _Reader(text).whole()
    except _NotJson:
        return []
    for step in steps:
        if isinstance(step, str) and isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(step, int) and isinstance(value, list):
            if not -len(value) <= step < len(value):
                return []
            value = value[step]
        else:
            return []
    return [value]


def _steps(path: str) -> Steps:
    try:
        return steps_of(path)
    except ValueError:
        raise bad_argument(f"{path!r} is not a path like '$.name[0]'") from None


def _get(text: str, key: str | int) -> Value:
    return next((_shown(_json(value)) for value in _found(text, (key,))), None)


def _get_text(text: str, key: str | int) -> Value:
    return next((_shown(_text(value)) for value in _found(text, (key,))), None)


def _get_json_object(text: str, path: str) -> Value:
    return next((_shown(_text(value)) for value in _found(text, _steps(path))), None)


def _value(text: str, path: str) -> Value:
    found = _found(text, _steps(path))
    return next((_shown(_text(it)) for it in found if not isinstance(it, list | dict)), None)


def _query(text: str, path: str) -> Value:
    found = _found(text, _steps(path))
    return next((_shown(_json(it)) for it in found if isinstance(it, list | dict)), None)


def _items(written: Callable[[Any], str | None]) -> Callable[[str], Value]:
    def items(text: str) -> Value:
        for value in _found(text, ()):
            if isinstance(value, list):
                return tuple(_shown(written(item)) for item in value)
        return None

    return items


JSON_TEXT: dict[str, Evaluation] = {
    "JSON_GET": plain(_get),
    "JSON_GET_TEXT": plain(_get_text),
    "GET_JSON_OBJECT": plain(_get_json_object),
    "JSON_VALUE": plain(_value),
    "JSON_QUERY": plain(_query),
    "JSON_EXISTS": plain(lambda text, path: bool(_found(text, _steps(path)))),
    "JSON_ITEMS": plain(_items(_json)),
    "JSON_ITEMS_TEXT": plain(_items(_text)),
}
