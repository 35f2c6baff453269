"""Whether rows that operators have forgotten can be replayed.

Law (the rule of replay): a row below the horizon of the operators counts iff every input that it
can meet is archived, or static and so kept whole.  What runs and what EXPLAIN says is this one
rule.

A recursion is not replayed: how far it comes in a step depends on where it begins.  Neither is what
learns of expiries in another way than by the ends of rows: what it says depends on its steps.
"""

from __future__ import annotations

from collections.abc import Iterable

from ebbtide.core.declaration import Declaration, StreamDeclaration, TableDeclaration
from ebbtide.core.expiry import Expiry, Strategy


def reaches_back(declaration: Declaration) -> bool:
    """Whether the archive of a source holds more than its operators keep."""
    if not isinstance(declaration, StreamDeclaration) or declaration.archive_us is None:
        return False
    return declaration.summary is None and declaration.archive_us > declaration.kept_us


def approximates(declaration: Declaration) -> bool:
    """Whether rows that operators have forgotten come into approximations."""
    if not isinstance(declaration, StreamDeclaration):
        return False
    return declaration.approximate_us > declaration.kept_us


def hindrance(met: Iterable[Declaration], recursive: bool, expiry: Expiry) -> str | None:
    """Why rows that meet such sources, in one query, cannot be replayed; None if they can."""
    if recursive:
        return "a recursion reads it"
    if expiry.strategy is not Strategy.INTERVAL:
        return f"it is read under expiry {expiry.strategy.value}"
    for declaration in met:
        if not is_static(declaration) and not _is_archived(declaration):
            part = isinstance(declaration, StreamDeclaration) and declaration.summary is not None
            what = "of which only a summary is archived" if part else "which is not archived"
            return f'it meets "{declaration.name}", {what}'
    return None


def is_static(declaration: Declaration) -> bool:
    """Whether a source is all there from the start."""
    return isinstance(declaration, TableDeclaration) and declaration.static


def _is_archived(declaration: Declaration) -> bool:
    if not isinstance(declaration, StreamDeclaration):
        return False
    return declaration.archive_us is not None and declaration.summary is None
