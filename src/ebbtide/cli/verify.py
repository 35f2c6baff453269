"""``ebbtide verify``: whether everything that is stored is what was written."""

from __future__ import annotations

import click

from ebbtide.cli.error_display import DONE, FAILED
from ebbtide.cli.options import location_option
from ebbtide.cli.row_formats import console


@click.command("verify")
@click.argument("name", required=False)
@location_option
def command(name: str | None, location: str) -> int:
    """Read everything in a location, or in the program of NAME, and say what is whole.

    Nothing is changed, and a run may be at work.  Exit code 1 if something is damaged or lost.
    """
    from rich.text import Text

    from ebbtide.engine.verification import verify

    out = console()
    count = 0
    for part in verify(location, name):
        style, word = ("bold red", "FAIL") if part.wrong else ("green", "ok  ")
        files = f"{part.files} file{'' if part.files == 1 else 's'}"
        whose = f"{part.program}: " if part.program else ""
        out.print(Text(word, style=style) + f"  {whose}{part.name}, {files}")
        for error in part.wrong:
            out.print(f"      error[{error.code}]: {error.message}", soft_wrap=True)
            if error.detail:
                out.print(f"      detail: {error.detail}", soft_wrap=True)
            out.print(f"      -> {error.hint}", soft_wrap=True)
        count += len(part.wrong)
    out.print(f"{count} damaged or lost" if count else "all is whole")
    return FAILED if count else DONE
