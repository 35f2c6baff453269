"""``ebbtide savepoint``: a copy of a location, made while its programs run."""

from __future__ import annotations

import click

from ebbtide.cli.error_display import DONE
from ebbtide.cli.options import dry_run_option, location_option
from ebbtide.cli.row_formats import console
from ebbtide.core.words import size


@click.command("savepoint")
@click.argument("to", metavar="TO")
@dry_run_option
@location_option
def command(to: str, dry_run: bool, location: str) -> int:
    """Copy a location to TO, while its programs may run.

    Of each program the copy has the latest step, whole, with its history and what was fed; it is a
    location itself.  TO appears when all of it is there.
    """
    from ebbtide.engine import savepoint as copies

    for one in copies.savepoint(location, to, dry_run):
        word = "would be copied" if dry_run else "copied"
        step = "before its first step" if one.step is None else f"step {one.step}"
        console().print(f"{one.name}: {step}, {one.files} files of {size(one.bytes)} {word}")
    return DONE
