"""``ebbtide rescale``: another number of shards for a program's state."""

from __future__ import annotations

import click

from ebbtide.cli.error_display import DONE
from ebbtide.cli.options import dry_run_option, location_option
from ebbtide.cli.row_formats import console
from ebbtide.core.words import size


@click.command("rescale")
@click.argument("name")
@click.option("--shards", type=int, required=True, metavar="N", help="The number of shards.")
@dry_run_option
@location_option
def command(name: str, shards: int, dry_run: bool, location: str) -> int:
    """Cut the state of NAME, a program or a view, into N shards.

    The program must not run.  Its answers do not change.
    """
    from ebbtide.engine.rescaling import rescale

    done = rescale(location, name, shards, dry_run)
    would = "would go" if dry_run else "goes"
    told = f"{done.program} {would} from {done.before} shards to {done.shards}"
    if done.step is not None:
        told += f", as step {done.step}: {done.rows} stored changes of {size(done.bytes)}"
    console().print(told)
    return DONE
