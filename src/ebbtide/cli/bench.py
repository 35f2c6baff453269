"""``ebbtide bench``: how fast it is on this machine, beside others."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import click


@click.command("bench")
@click.option("--rows", default=2_000_000, show_default=True, help="Rows of each case.")
@click.option("--repeats", default=3, show_default=True, help="Runs; their median counts.")
@click.option("--flink", metavar="PYTHON", help="The Python of an environment that has PyFlink.")
@click.option("--json", "json_path", metavar="PATH", help="Write the figures to this file, too.")
def command(rows: int, repeats: int, flink: str | None, json_path: str | None) -> None:
    """Measure Ebbtide beside Spark alone, and beside Flink where it is installed.

    Every answer is checked before a figure is taken. With two million rows it takes minutes.
    """
    from ebbtide.bench import drift, pipelines, speed, steps
    from ebbtide.bench.figures import as_json, as_table
    from ebbtide.spark.session import start_spark

    peer = None if flink is None else Path(flink)
    with TemporaryDirectory() as work:
        spark = start_spark(log=f"{work}/spark.log")
        try:
            figures = [
                *speed.measured(spark, Path(work), rows, repeats, _say, peer),
                *pipelines.measured(spark, Path(work), rows, repeats, _say),
                *steps.measured(spark, Path(work), _say),
                *drift.measured(spark, Path(work), rows, _say),
            ]
        finally:
            spark.stop()
    text = as_json(figures)
    if json_path is not None:
        Path(json_path).write_text(text + "\n", encoding="utf-8")
    click.echo(as_table(text))


def _say(text: str) -> None:
    click.echo(text, err=True)
