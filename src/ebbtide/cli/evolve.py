"""``ebbtide evolve``: another script for a program that has state."""

from __future__ import annotations

import click

from ebbtide.cli import scripts
from ebbtide.cli.error_display import DONE
from ebbtide.cli.options import dry_run_option, location_option
from ebbtide.cli.row_formats import console

_PARTS = (
    ("carried", "state carried over"),
    ("begun", "begins without state"),
    ("rebuilt", "rebuilt from what was fed"),
    ("added", "view added"),
    ("changed", "view changed"),
    ("removed", "view removed"),
    ("sources", "source declared otherwise"),
)


@click.command("evolve")
@click.argument("file", type=scripts.SCRIPT)
@click.option("--name", metavar="NAME", help="The program; else it is named as by run.")
@click.option(
    "--view", "views", multiple=True, metavar="NAME", help="This view alone; may be repeated."
)
@dry_run_option
@location_option
def command(
    file: str, name: str | None, views: tuple[str, ...], dry_run: bool, location: str
) -> int:
    """Let the program that ran an older FILE go on with this one.

    The program must not run.  State is carried over where its parts are equal; what cannot be
    carried over or made of what is there is refused, with the reason.
    """
    script = scripts.read(file)
    from ebbtide.cli.query_selection import chosen
    from ebbtide.cli.run import program_name
    from ebbtide.engine.engine import Engine

    engine = Engine(location)
    with script.placed():
        queries, _ = chosen(engine, script, views)
        done = engine.evolve(*queries, name=name or program_name(file, queries), dry_run=dry_run)
    would = "would evolve" if dry_run else "evolves"
    out = console()
    out.print(f"{done.program} {would}" + ("" if done.step is None else f", as step {done.step}"))
    for part, said in _PARTS:
        for one in getattr(done, part):
            out.print(f"  {one}: {said}")
    return DONE
