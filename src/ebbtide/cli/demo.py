"""``ebbtide demo``: the highway, on Spark."""

from __future__ import annotations

import click


@click.command("demo")
def command() -> None:
    """Show what Ebbtide is about, on a highway: it takes half a minute."""
    from ebbtide import demo

    demo.main()
