"""``ebbtide approximate``: an answer as it would be with rows that came too late."""

from __future__ import annotations

import click

from ebbtide.cli.options import location_of, location_option
from ebbtide.cli.row_formats import columns_of, format_option, show, zone
from ebbtide.core.time import instant


@click.command("approximate")
@click.argument("view")
@click.option("--at", metavar="T", help="The instant, such as '2026-01-01 00:05:00'; without: now.")
@click.option("--level", default=0.95, show_default=True, help="The probability of intervals.")
@location_option
@format_option
def command(view: str, at: str | None, level: float, location: str, format_: str) -> None:
    """Show what VIEW would say at an instant if rows that came too late had counted.

    It is estimated from streams that are declared with ARCHIVE 30 DAYS SAMPLE 10 PERCENT or AS
    HISTOGRAM; the answer itself stays as it is. Sums, counts and means of a sample have the two
    ends of an interval beside them.
    """
    from ebbtide.engine.approximation import Approximating

    moment = None if at is None else instant(at, zone())
    query = location_of(location).query(view)
    asked = Approximating(query.view, location, query.bound.plan, zone())
    found = asked.answer(moment, level)
    show(columns_of(found.schema), found.rows, format_)
