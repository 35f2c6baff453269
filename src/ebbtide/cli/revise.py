"""``ebbtide revise``: have a program replay the rows that wait for it."""

from __future__ import annotations

import click

from ebbtide.cli.error_display import DONE
from ebbtide.cli.options import location_option
from ebbtide.cli.row_formats import console


@click.command("revise")
@click.argument("name")
@location_option
def command(name: str, location: str) -> int:
    """Replay the rows that wait in NAME, a program or a view.

    The program replays them in its next step; it may run meanwhile.
    """
    from ebbtide.engine.location import Location
    from ebbtide.store.program import root_of_program
    from ebbtide.store.revision_requests import RevisionRequests

    program = Location(location).program_name(name)
    RevisionRequests(root_of_program(location, program)).ask()
    console().print(f"{program} replays what waits in its next step")
    return DONE
