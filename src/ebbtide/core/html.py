"""Small tables as HTML, for notebooks.

Law: every text is escaped, so that nothing of a query or of its data is taken for markup.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["facts_html", "table_html"]

_STYLE = "text-align: left; vertical-align: top; padding: 2px 10px 2px 0"


def table_html(names: Sequence[str], rows: Iterable[Sequence[object]], title: str = "") -> str:
    """A table with a line of names above its rows.

    >>> "&lt;b&gt;</td>" in table_html(["a"], [["<b>"]])
    True
    """
    head = "".join(f'<th style="{_STYLE}">{escape(name)}</th>' for name in names)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    above = f"<caption>{escape(title)}</caption>" if title else ""
    return f"<table>{above}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def facts_html(title: str, facts: Iterable[tuple[str, object]]) -> str:
    """What something is, a line for each fact."""
    body = "".join(
        f'<tr><th style="{_STYLE}">{escape(name)}</th>{_cell(value)}</tr>' for name, value in facts
    )
    return f"<table><caption>{escape(title)}</caption><tbody>{body}</tbody></table>"


def _cell(value: object) -> str:
    shown = "".join(f"{escape(line)}<br>" for line in str(value).splitlines())
    return f'<td style="{_STYLE}">{shown.removesuffix("<br>")}</td>'
