"""``ebbtide late``: the rows of a stream that were not used."""

from __future__ import annotations

import click

from ebbtide.cli.options import location_of, location_option
from ebbtide.cli.row_formats import COUNT, TEXT, ShownColumn, format_option, show
from ebbtide.core.admission import SHOWN_COLUMNS
from ebbtide.core.declaration import Declaration
from ebbtide.errors import BindError


@click.command("late")
@click.argument("stream")
@click.option("--pending", "waiting", is_flag=True, help="Operations that wait for their row.")
@location_option
@format_option
def command(stream: str, waiting: bool, location: str, format_: str) -> None:
    """Show the rows of STREAM that were not used, each with its reason.

    A row that comes too late to be accepted, that cannot be read, or that is stamped too far in
    the future is kept here, by query, and counts for nothing.  An operation that names a row which
    has not come yet may still count: --pending shows those.
    """
    from ebbtide.sql.catalog import Catalog, ViewEntry
    from ebbtide.store.readers import unused

    queries = location_of(location).queries()
    known = [query for query in queries if stream in query.catalog]
    if not known:
        raise (queries[0].catalog if queries else Catalog()).unknown(stream)
    entry = known[0].catalog.get(stream)
    if isinstance(entry, ViewEntry):
        raise BindError("not-a-source", f'"{entry.name}" is a view, which has no rows of its own')
    roots = sorted({query.program: query.root for query in known}.items())
    if waiting:
        _show_pending(entry.declaration, roots, format_)
        return
    columns = [ShownColumn(name, TEXT) for name in SHOWN_COLUMNS]
    rows = (
        (*row.shown, step, program) for program, root in roots for row, step in unused(root, stream)
    )
    show([*columns, ShownColumn("step", COUNT), ShownColumn("query", TEXT)], rows, format_)


def _show_pending(declaration: Declaration, roots: list[tuple[str, str]], format_: str) -> None:
    from ebbtide.engine.pending import PENDING_COLUMNS, pending

    columns = [ShownColumn(name, TEXT) for name in (*PENDING_COLUMNS, "query")]
    rows = ((*row, program) for program, root in roots for row in pending(root, declaration))
    show(columns, rows, format_)
