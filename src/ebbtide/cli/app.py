"""The command and its subcommands."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

import click

from ebbtide.cli.error_display import told
from ebbtide.cli.version import version_text

_COMMANDS = (
    "run",
    "explain",
    "snapshot",
    "files",
    "changes",
    "diff",
    "why",
    "approximate",
    "late",
    "errors",
    "timeline",
    "state",
    "verify",
    "savepoint",
    "restore",
    "rollback",
    "revise",
    "rescale",
    "evolve",
    "retry",
    "repair",
    "prune",
    "demo",
    "bench",
    "doctor",
)


class Commands(click.Group):
    """A group whose commands are modules of this package, each with a ``command``."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order in which people need them."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name."""
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = import_module(f"ebbtide.cli.{cmd_name}").command
        return command


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(message="%(version)s", version=version_text())
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.pass_context
def ebbtide(context: click.Context, debug: bool) -> None:
    """Continuous SQL over streams, on Apache Spark.

    Every answer is right for a stated time, expires when its inputs expire, and is corrected when
    its inputs are corrected.

    Exit codes: 0 done, 1 the run failed, 2 something that you can put right.
    """
    context.obj = debug


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs the command and ends the process."""
    sys.exit(told(ebbtide, sys.argv[1:] if arguments is None else arguments))
