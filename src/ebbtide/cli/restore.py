"""``ebbtide restore``: a savepoint put where it is to go on."""

from __future__ import annotations

import click

from ebbtide.cli.error_display import DONE
from ebbtide.cli.options import dry_run_option, location_option
from ebbtide.cli.row_formats import console
from ebbtide.core.words import size


@click.command("restore")
@click.argument("savepoint", metavar="SAVEPOINT")
@dry_run_option
@location_option
def command(savepoint: str, dry_run: bool, location: str) -> int:
    """Put a copy of SAVEPOINT where nothing is yet, at --location.

    Everything in it is verified first.  Programs go on from there when they are started.
    """
    from ebbtide.engine import savepoint as copies

    for one in copies.restore(savepoint, location, dry_run):
        word = "would be restored" if dry_run else "restored"
        step = "before its first step" if one.step is None else f"step {one.step}"
        console().print(f"{one.name}: {step}, {one.files} files of {size(one.bytes)} {word}")
    return DONE
