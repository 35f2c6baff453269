"""``ebbtide changes``: all that a query has said, and taken back."""

from __future__ import annotations

import click

from ebbtide.algebra.emission import REVISION
from ebbtide.cli.options import location_of, location_option
from ebbtide.cli.row_formats import (
    COUNT,
    INSTANT,
    TEXT,
    ShownColumn,
    columns_of,
    format_option,
    show,
)
from ebbtide.core.types import BOOLEAN


@click.command("changes")
@click.argument("view")
@click.option("--since", type=int, metavar="STEP", help="Only the changes of later steps.")
@location_option
@format_option
def command(view: str, since: int | None, location: str, format_: str) -> None:
    """Show the changes of VIEW: rows, when each is valid, and +1 or -1.

    A negative change takes back what an earlier one said of the same interval.  The reason of each
    is input, expiry or revision.  Of a query that asks for finality, each says whether it is a
    revision: a change, by a late row, of what was final.
    """
    from ebbtide.store.time_travel import check_since, explained

    query = location_of(location).query(view)
    schema = query.bound.schema
    times = [ShownColumn("valid_from", INSTANT), ShownColumn("valid_to", INSTANT)]
    counts = [ShownColumn("diff", COUNT), ShownColumn("step", COUNT)]
    marks = [ShownColumn(REVISION, BOOLEAN)] if query.view.marked else []
    rows = (
        (*c.row, c.valid_from, c.valid_to, c.diff, step, *marked[: len(marks)], reason)
        for step, c, *marked, reason in explained(query.view, check_since(query.view, since))
    )
    columns = [*columns_of(schema), *times, *counts, *marks, ShownColumn("reason", TEXT)]
    show(columns, rows, format_)
