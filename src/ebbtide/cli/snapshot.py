"""``ebbtide snapshot``: the rows that are valid at an instant."""

from __future__ import annotations

import click

from ebbtide.cli.moments import AS_OF, step_of
from ebbtide.cli.options import location_of, location_option
from ebbtide.cli.row_formats import columns_of, format_option, show, zone
from ebbtide.core.time import instant


@click.command("snapshot")
@click.argument("view")
@click.option("--at", metavar="T", help="The instant, such as '2026-01-01 00:05:00'; without: now.")
@click.option("--as-of", metavar=AS_OF, help="As it was said then: after a step, or by a time.")
@click.option("--lineage", is_flag=True, help="With the times of the inputs of each row.")
@location_option
@format_option
def command(
    view: str, at: str | None, as_of: str | None, lineage: bool, location: str, format_: str
) -> None:
    """Show the rows of VIEW that are valid at an instant.

    VIEW is the name of a view or of a query that ebbtide run has run.  A query with
    WITH (lineage = TRUE) also knows from when to when the inputs of each row came.
    """
    moment = None if at is None else instant(at, zone())
    query = location_of(location).query(view)
    step = None if as_of is None else step_of(query.view, as_of)
    shown = query.lineage if lineage else query.view
    show(columns_of(shown.schema), shown.snapshot(moment, step), format_)
