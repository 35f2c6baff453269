"""``ebbtide why``: the inputs that a row of an answer comes from."""

from __future__ import annotations

import sys

import click

from ebbtide.cli.moments import AS_OF, step_of
from ebbtide.cli.options import location_of, location_option
from ebbtide.cli.row_formats import zone
from ebbtide.core.time import instant


@click.command("why")
@click.argument("view")
@click.option("--at", metavar="T", help="The instant, such as '2026-01-01 00:05:00'; without: now.")
@click.option("--where", metavar="CONDITION", help="Which row: a condition on the columns of VIEW.")
@click.option("--as-of", metavar=AS_OF, help="As it was said then: after a step, or by a time.")
@click.option("--before", is_flag=True, help="Also what was said until the row was said, and why.")
@location_option
def command(
    view: str, at: str | None, where: str | None, as_of: str | None, before: bool, location: str
) -> None:
    """Show what a row of VIEW comes from: the inputs by name, through every operator.

    For an aggregate these are all rows of its group; for what is there because something is not,
    the condition that nothing met.
    """
    from ebbtide.engine.explanation import Question

    moment = None if at is None else instant(at, zone())
    query = location_of(location).query(view)
    step = None if as_of is None else step_of(query.view, as_of)
    question = Question(query.view, location, query.bound.plan, query.key, zone())
    answer = question.answer(None, moment, step, where, before)
    sys.stdout.write(f"{answer}\n")
