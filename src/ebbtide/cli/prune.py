"""``ebbtide prune``: removes what no program of a location needs."""

from __future__ import annotations

import click

from ebbtide.cli.error_display import DONE
from ebbtide.cli.options import dry_run_option, location_option
from ebbtide.cli.row_formats import console
from ebbtide.core.words import counted, size


@click.command("prune")
@dry_run_option
@location_option
def command(dry_run: bool, location: str) -> int:
    """Remove what no program of a location needs any more.

    That is programs that others of their names have replaced, and what crashes have left.
    """
    from ebbtide.engine.pruning import prune

    found = prune(location, dry_run)
    word = "would be removed" if dry_run else "removed"
    for one in found:
        told = f"{counted(one.files, 'file')} of {size(one.bytes)} {word}"
        console().print(f"{one.path}: {one.what}, {told}")
    if not found:
        console().print("there is nothing to remove")
    return DONE
