"""Functions of regular expressions."""

from __future__ import annotations

from ebbtide.reference.functions.context import Evaluation, bad_argument, plain
from ebbtide.reference.functions.regex import compiled, expanded


def _extract(text: str, pattern: str, group: int = 1) -> str:
    match = compiled(pattern).search(text)
    if match is None:
        return ""
    if not 0 <= group <= match.re.groups:
        raise bad_argument(f"there is no group {group} in {pattern!r}")
    return match[group] or ""


def _replace(text: str, pattern: str, replacement: str, position: int = 1) -> str:
    if position < 1:
        raise bad_argument(f"a position is 1 or more, not {position}")
    start = min(position - 1, len(text))
    changed = compiled(pattern).sub(lambda match: expanded(replacement, match), text[start:])
    return text[:start] + changed


def _split(text: str, pattern: str, limit: int = -1) -> tuple[str, ...]:
    """Java's split: an empty match at the very beginning splits nothing off."""
    parts: list[str] = []
    start = 0
    for match in compiled(pattern).finditer(text):
        if limit > 0 and len(parts) == limit - 1:
            break
        if match.end() > 0 and not (pattern == "" and match.start() == len(text)):
            parts.append(text[start : match.start()])
            start = match.end()
    return (*parts, text[start:])


PATTERNS: dict[str, Evaluation] = {
    "RLIKE": plain(lambda text, pattern: compiled(pattern).search(text) is not None),
    "REGEXP_EXTRACT": plain(_extract),
    "REGEXP_REPLACE": plain(_replace),
    "SPLIT": plain(_split),
}
