"""``ebbtide repair``: puts back what is damaged or lost, where it can be proved what it was."""

from __future__ import annotations

import click

from ebbtide.cli.error_display import DONE, FAILED
from ebbtide.cli.options import dry_run_option, location_option
from ebbtide.cli.row_formats import console


@click.command("repair")
@click.argument("name", required=False)
@dry_run_option
@location_option
def command(name: str | None, dry_run: bool, location: str) -> int:
    """Put back what is damaged or lost of the program of NAME, or of all.

    Programs must not run.  Nothing is removed, and nothing is put back without proof of what it
    was.  Exit code 1 if something is left.
    """
    from ebbtide.engine.repairing import repair

    out, done = console(), repair(location, name, dry_run)
    word = "would be made" if dry_run else "made"
    for file in done.files:
        told = f"not repaired: {file.why}" if file.made_of is None else f"{word} of {file.made_of}"
        out.print(f"{file.program}: {file.file}: {told}", soft_wrap=True)
    for error in () if dry_run else done.left:
        out.print(f"error[{error.code}]: {error.message}", soft_wrap=True)
        out.print(f"  -> {error.hint}", soft_wrap=True)
    missing = [file for file in done.files if file.made_of is None]
    if not done.files and not done.left:
        out.print("all is whole")
    return FAILED if missing or (done.left and not dry_run) else DONE
