"""``ebbtide files``: the answer of now as files of Parquet."""

from __future__ import annotations

import click

from ebbtide.cli.options import location_of, location_option


@click.command("files")
@click.argument("view")
@location_option
def command(view: str, location: str) -> None:
    """Print the paths of Parquet files that have the answer of VIEW, one on a line.

    Together they are the rows that are valid now, after the last step; they are written if need
    be, also while another process runs the query.  They stay for ten minutes after they were last
    asked for.
    """
    from ebbtide.store.answer_files import files

    for path in files(location_of(location).query(view).view):
        click.echo(path)
