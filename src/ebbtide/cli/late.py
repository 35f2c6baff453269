"""``ebbtide late``: the rows of a stream that were not used."""

from __future__ import annotations

import click

from ebbtide.cli.options import location_of, location_option
from ebbtide.cli.row_formats import COUNT, TEXT, ShownColumn, format_option, show
from ebbtide.core.admission import SHOWN_COLUMNS
from ebbtide.errors import BindError


@click.command("late")
@click.argument("stream")
@location_option
@format_option
def command(stream: str, location: str, format_: str) -> None:
    """Show the rows of STREAM that were not used, each with its reason.

    A row that comes too late to be accepted, that cannot be read, or that is stamped too far in
    the future is kept here, by query, and counts for nothing.
    """
    from ebbtide.sql.catalog import Catalog
    from ebbtide.store.readers import unused

    queries = location_of(location).queries()
    known = [query for query in queries if stream in query.catalog]
    if not known:
        raise (queries[0].catalog if queries else Catalog()).unknown(stream)
    entry = known[0].catalog.get(stream)
    if entry.kind == "VIEW":
        raise BindError("not-a-source", f'"{entry.name}" is a view, which has no rows of its own')
    columns = [ShownColumn(name, TEXT) for name in SHOWN_COLUMNS]
    rows = (
        (*row.shown, step, program)
        for program, root in sorted({query.program: query.root for query in known}.items())
        for row, step in unused(root, stream)
    )
    show([*columns, ShownColumn("step", COUNT), ShownColumn("query", TEXT)], rows, format_)
