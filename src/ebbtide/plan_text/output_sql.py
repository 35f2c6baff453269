"""How the changes of a query are written, how its rows expire and whether their lineage is kept, as
SQL."""

from __future__ import annotations

from ebbtide.algebra.identifiers import identifier
from ebbtide.core.codec.encoding import AS_EMITTED, OutputForm
from ebbtide.core.expiry import BY_INTERVAL, Expiry
from ebbtide.core.time import format_duration


def output_sql(output: OutputForm, expiry: Expiry = BY_INTERVAL, lineage: bool = False) -> str:
    """The clauses that say how changes are written, how rows expire and whether their lineage is
    kept, each after a space."""
    options = []
    if output.encoding is not AS_EMITTED.encoding:
        options.append(f"encoding = '{output.encoding.value}'")
    if output.key:
        options.append(f"key = ({', '.join(map(identifier, output.key))})")
    if output.coalesce:
        options.append("coalesce = TRUE")
    options += expiry.options
    if lineage:
        options.append("lineage = TRUE")
    listed = f" WITH ({', '.join(options)})" if options else ""
    every = output.split_us
    return f"{listed}{'' if every is None else f' SPLIT EVERY {format_duration(every)}'}"
