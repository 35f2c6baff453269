"""``ebbtide run``: runs a script."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from ebbtide.cli import scripts
from ebbtide.cli.error_display import DONE, USERS
from ebbtide.cli.options import location_option
from ebbtide.core.time import INF, SECOND, Instant, duration, instant, is_finite
from ebbtide.core.words import counted
from ebbtide.errors import EbbtideError

if TYPE_CHECKING:
    from ebbtide.engine.query import Query

_FEW = 20
"""An answer of so many rows is shown at the end of a run."""


def seconds(text: str) -> float:
    """A length of time as people type it, in seconds.

    >>> seconds("30s"), seconds("1500ms"), seconds("2 minutes")
    (30.0, 1.5, 120.0)
    """
    return duration(text) / SECOND


@click.command("run")
@click.argument("file", type=scripts.SCRIPT)
@location_option
@click.option("--until-caught-up", is_flag=True, help="End when all that is there has been read.")
@click.option(
    "--finish", is_flag=True, help="Then promise that no more rows come, so that all is final."
)
@click.option(
    "--finish-at", metavar="TIME", help="Then promise that no more rows come before this time."
)
@click.option("--for", "for_", metavar="TIME", help="End after so long, such as 30s, 5m or 1h.")
@click.option(
    "--view", "views", multiple=True, metavar="NAME", help="Run this view alone; may be repeated."
)
@click.option(
    "--to", metavar="DIR", help="Write the changes of each view to files, below DIR/view."
)
@click.option(
    "--format", "format_", default="parquet", show_default=True, help="Of the files: parquet, json."
)
@click.option(
    "--encoding", metavar="NAME", help="How changes are written: changes, upsert, debezium ..."
)
@click.option("--heartbeat", metavar="TIME", help="Let now follow the clock, in steps of so long.")
@click.option("--live", is_flag=True, help="Keep the answer of each view in a Parquet file.")
@click.option("--strict", is_flag=True, help="Run nothing if one of the statements is refused.")
def command(
    file: str,
    location: str,
    until_caught_up: bool,
    finish: bool,
    finish_at: str | None,
    for_: str | None,
    views: tuple[str, ...],
    to: str | None,
    format_: str,
    encoding: str | None,
    heartbeat: str | None,
    live: bool,
    strict: bool,
) -> int:
    """Run the script FILE: its queries, and the views that nothing else in it reads.

    They run as one program: all of them show the same step.

    It goes on where it stopped before. Without --until-caught-up or --for it runs until Ctrl-C,
    which lets the step at work finish; a second Ctrl-C does not wait.

    With --finish it ends when all that is there has been read, and answers that wait to be final
    are final: rows that come after all are late. --finish-at does so up to a time.

    A view that is refused is reported and left out, and the others run; the exit code is then 2.
    With --strict nothing runs.

    Paths in the script are those of the working directory.
    """
    if finish and finish_at is not None:
        raise click.UsageError("--finish and --finish-at exclude each other")
    end = _end(finish, finish_at)
    if for_ is not None and (until_caught_up or end is not None):
        ends = "--until-caught-up" if end is None else "--finish" if finish else "--finish-at"
        raise click.UsageError(f"{ends} and --for exclude each other")
    if encoding is not None and to is None:
        raise click.UsageError("--encoding says how changes are written, and --to where")
    limit = None if for_ is None else seconds(for_)
    beat = None if heartbeat is None else f"{round(seconds(heartbeat) * 1000)} milliseconds"
    script = scripts.read(file)
    from ebbtide.cli.query_selection import check_location, check_sources, chosen
    from ebbtide.cli.script_run import ChangeFiles, ScriptRun
    from ebbtide.engine.engine import Engine

    engine = Engine(location, log=os.path.join(location, "spark.log"))
    with script.placed():
        refused: list[EbbtideError] = []
        queries, texts = chosen(engine, script, views, None if strict else refused)
        if refused and not queries:
            script.tell(refused[:-1], engine.catalog.names())
            raise refused[-1]
        script.tell(refused, engine.catalog.names())
        check_sources(engine, queries, script)
        check_location(engine.location)
        for text in texts:
            click.echo(text)
        name = program_name(file, queries)
        written = None if to is None else ChangeFiles(to, format_, encoding)
        caught_up = until_caught_up or end is not None
        code = ScriptRun(engine, queries, name, caught_up, limit, beat, written, end, live).run()
    _results(queries, location)
    return code or (USERS if refused else DONE)


def _end(finish: bool, finish_at: str | None) -> Instant | None:
    """Up to when nothing comes any more, if that is promised."""
    if finish_at is None:
        return INF if finish else None
    from ebbtide.cli.row_formats import zone

    return instant(finish_at, zone())


def program_name(file: str, queries: Sequence[Query]) -> str:
    """The name of the program that a script is: its one query's, or that of its file."""
    if len(queries) == 1:
        return queries[0].name
    stem = re.sub(r"[^A-Za-z0-9_.-]+", "_", os.path.splitext(os.path.basename(file))[0])
    return stem.lstrip(".-") or "script"


def _results(queries: Sequence[Query], location: str) -> None:
    """Shows small answers, and says where the others are."""
    from ebbtide.cli.display import moment
    from ebbtide.cli.row_formats import columns_of, show

    for query in queries:
        now = query.view.now()
        rows = query.view.snapshot(now)
        click.echo(f"\n{query.name}{f' at {moment(now)}' if is_finite(now) else ''}:")
        if len(rows) <= _FEW:
            show(columns_of(query.schema), rows, "table")
            if not rows and now == INF:
                click.echo(f"all rows have ended; to see them: ebbtide changes {query.name}")
        else:
            where = "" if location == "ebbtide" else f" --location {location}"
            click.echo(
                f"{counted(len(rows), 'row')}; to see them: ebbtide snapshot {query.name}{where}"
            )
