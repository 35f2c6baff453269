"""``ebbtide retry``: files that could not be read, once more."""

from __future__ import annotations

import click

from ebbtide.cli.error_display import DONE
from ebbtide.cli.options import dry_run_option, location_option
from ebbtide.cli.row_formats import console
from ebbtide.core.words import counted


@click.command("retry")
@click.argument("name", required=False)
@click.option("--source", metavar="NAME", help="Only the files of this stream or table.")
@dry_run_option
@location_option
def command(name: str | None, source: str | None, dry_run: bool, location: str) -> int:
    """Offer files again that could not be read, to the program of NAME or to all.

    Mend a file where it is; it is offered once, as another file beside it.  Programs may run.
    """
    from ebbtide.engine.retrying import retry

    out, count = console(), 0
    for one in retry(location, name, source=source, dry_run=dry_run):
        told = one.why if one.offered is None else f"as {one.offered}"
        out.print(f"{one.program}: {one.file} (step {one.step}): {told}", soft_wrap=True)
        count += one.offered is not None
    out.print(f"{counted(count, 'file')} {'would be offered' if dry_run else 'offered'} again")
    return DONE
