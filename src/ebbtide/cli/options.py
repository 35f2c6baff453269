"""Options that several subcommands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from ebbtide.engine.location import Location

location_option: Callable[[Any], Any] = click.option(
    "--location",
    "-l",
    default="ebbtide",
    show_default=True,
    metavar="DIR",
    help="Where state and answers are kept.",
)


dry_run_option: Callable[[Any], Any] = click.option(
    "--dry-run", is_flag=True, help="Say what would be done, and change nothing."
)


def location_of(path: str) -> Location:
    """The location of a run that has been."""
    from ebbtide.engine.location import Location

    return Location(path)
