"""How many rows a second the sources of a program have brought, by what its steps committed.

Law: a rate is a number of rows over the span of event time from the oldest to the newest of them;
where there is no span there is no rate.
"""

from __future__ import annotations

import os

from ebbtide.core.time import INF, NEG_INF, SECOND, is_finite
from ebbtide.errors import EbbtideError

__all__ = ["measured_rates"]


def measured_rates(root: str) -> dict[str, float]:
    """Rows a second of event time, by source; nothing where nothing has run, or can be read."""
    if not os.path.isdir(root):
        return {}
    from ebbtide.store.journal import Journal

    rows: dict[str, int] = {}
    oldest: dict[str, int] = {}
    newest: dict[str, int] = {}
    try:
        for record in Journal(root).entries():
            for name, came in record.came.items():
                rows[name] = rows.get(name, 0) + came.rows
                if came.oldest is not None:
                    oldest[name] = min(oldest.get(name, INF), came.oldest)
                    newest[name] = max(newest.get(name, NEG_INF), record.now)
    except EbbtideError:
        return {}  # an explanation needs no rates; running or verifying reports damage
    spans = {name: newest[name] - oldest[name] for name in oldest if is_finite(newest[name])}
    return {name: rows[name] * SECOND / span for name, span in spans.items() if span > 0}
