"""``ebbtide demo``: the highway, on Spark; or the metro station, in this process."""

from __future__ import annotations

import click


@click.command("demo")
@click.argument("which", type=click.Choice(["highway", "metro"]), default="highway")
@click.option(
    "--files",
    metavar="DIR",
    help="Of the metro: write the hour as files and a script to DIR, and run nothing.",
)
def command(which: str, files: str | None) -> None:
    """Show what Ebbtide is about, on a highway or in a metro station: it takes half a minute.

    The highway runs on Spark; the metro in this process, without Java.
    """
    if which == "metro":
        from ebbtide.metro import story
        from ebbtide.metro.day import day

        if files is None:
            click.echo("\n".join(story.lines()))
        else:
            click.echo(f"wrote {story.write_files(day(), files)}")
        return
    if files is not None:
        raise click.UsageError("--files is of the metro: ebbtide demo metro --files DIR")
    from ebbtide import demo

    demo.main()
