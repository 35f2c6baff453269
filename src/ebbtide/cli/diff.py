"""``ebbtide diff``: what a query says otherwise than at an earlier moment."""

from __future__ import annotations

import click

from ebbtide.algebra.kind import Kind, kind
from ebbtide.cli.moments import AS_OF, step_of
from ebbtide.cli.options import location_of, location_option
from ebbtide.cli.row_formats import COUNT, INSTANT, ShownColumn, columns_of, format_option, show


@click.command("diff")
@click.argument("view")
@click.option(
    "--between",
    nargs=2,
    required=True,
    metavar=f"{AS_OF} {AS_OF}",
    help="The two moments: each a step, or a time.",
)
@click.option("--later", is_flag=True, help="Also instants of which nothing had been said yet.")
@location_option
@format_option
def command(view: str, between: tuple[str, str], later: bool, location: str, format_: str) -> None:
    """Show what VIEW said at the second moment and not at the first: +1, and -1 turned around.

    It is about the instants up to now of the earlier moment: what has been corrected since.
    """
    from ebbtide.store.time_travel import diff

    query = location_of(location).query(view)
    first, last = (step_of(query.view, moment) for moment in between)
    everything = later or kind(query.bound.plan) is Kind.FACT
    changes = diff(query.view, first, last, everything)
    times = [ShownColumn("valid_from", INSTANT), ShownColumn("valid_to", INSTANT)]
    columns = [*columns_of(query.bound.schema), *times, ShownColumn("diff", COUNT)]
    rows = ((*c.row, c.valid_from, c.valid_to, c.diff) for c in changes)
    show(columns, rows, format_)
