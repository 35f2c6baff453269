"""``ebbtide rollback``: back to the state after an earlier step."""

from __future__ import annotations

import click

from ebbtide.cli.error_display import DONE
from ebbtide.cli.options import dry_run_option, location_option
from ebbtide.cli.row_formats import console


@click.command("rollback")
@click.argument("name")
@click.option("--to", type=int, required=True, metavar="STEP", help="The step to go back to.")
@click.option(
    "--leave-unused",
    is_flag=True,
    help="Put what was fed by hand since among the unused rows; else it is read again.",
)
@dry_run_option
@location_option
def command(name: str, to: int, leave_unused: bool, dry_run: bool, location: str) -> int:
    """Go back to the state of NAME, a program or a view, after an earlier step.

    The program must not run.  What was said since is taken back, in a step of its own.
    """
    from ebbtide.engine.rollback import rollback

    done = rollback(location, name, to, leave_unused, dry_run)
    would = "would go" if dry_run else "goes"
    out = console()
    out.print(
        f"{done.program} {would} from step {done.latest} back to {done.to}, as step {done.step}"
    )
    for view, count in done.taken_back.items():
        out.print(f"  {view}: {count} changes taken back")
    if leave_unused:
        out.print(f"  {done.left_unused} rows that were fed left unused")
    else:
        out.print("  the input since then is read again")
    return DONE
