"""``ebbtide errors``: the rows that a query has left out because an expression fails on them."""

from __future__ import annotations

import click

from ebbtide.algebra.quarantine import ERRORS
from ebbtide.cli.options import location_of, location_option
from ebbtide.cli.row_formats import (
    COUNT,
    INSTANT,
    ShownColumn,
    columns_of,
    format_option,
    show,
    zone,
)
from ebbtide.core.time import instant


@click.command("errors")
@click.argument("view")
@click.option("--at", metavar="T", help="The instant, such as '2026-01-01 00:05:00'; without: now.")
@location_option
@format_option
def command(view: str, at: str | None, location: str, format_: str) -> None:
    """Show the rows that VIEW leaves out because an expression fails on them.

    Each has the operator, the first of its expressions that fails, the row, the error, and from
    when to when that is so.  The rows of a query with ON ERROR FAIL are not left out: its step
    fails.
    """
    moment = None if at is None else instant(at, zone())
    found = location_of(location).query(view).left_out.valid(moment)
    times = [ShownColumn("valid_from", INSTANT), ShownColumn("valid_to", INSTANT)]
    rows = ((*c.row, c.valid_from, c.valid_to, c.diff) for c in found)
    show([*columns_of(ERRORS), *times, ShownColumn("rows", COUNT)], rows, format_)
