"""``ebbtide bench``: how fast it is on this machine, beside others."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from ebbtide.bench.figures import Figure


@click.command("bench")
@click.argument(
    "suite",
    type=click.Choice(["all", "nexmark", "nile", "streamapas", "borealis", "structures"]),
    default="all",
)
@click.option(
    "--rows",
    default=2_000_000,
    show_default=True,
    type=click.IntRange(1000),
    help="Rows of each case.",
)
@click.option("--queries", metavar="NUMBERS", help="Only these of Nexmark's, such as 0,5,18.")
@click.option(
    "--repeats",
    default=3,
    show_default=True,
    type=click.IntRange(1),
    help="Runs; their median counts.",
)
@click.option("--flink", metavar="PYTHON", help="The Python of an environment that has PyFlink.")
@click.option(
    "--window", default=10, show_default=True, help="Seconds of a window in the papers' suites."
)
@click.option(
    "--paper", metavar="STEPS", type=click.IntRange(5), help="Paper 2's half hour, so many steps."
)
@click.option(
    "--scale",
    default=0.1,
    show_default=True,
    type=click.FloatRange(0.001, 1),
    help="Which part of paper 3's day.",
)
@click.option("--only", metavar="NAMES", help="Only these of paper 3's experiments.")
@click.option("--transport", default="local", show_default=True, help="Where those run.")
@click.option("--plots", metavar="DIR", help="Draw their figures into this directory.")
@click.option("--json", "json_path", metavar="PATH", help="Write the figures to this file, too.")
def command(
    suite: str,
    rows: int,
    queries: str | None,
    repeats: int,
    flink: str | None,
    window: int,
    paper: int | None,
    scale: float,
    only: str | None,
    transport: str,
    plots: str | None,
    json_path: str | None,
) -> None:
    """Measure Ebbtide beside Spark alone, and beside Flink where it is installed.

    SUITE is all that README's table has, or "nexmark": the 23 queries of that benchmark. Every
    answer is checked before a figure is taken. With two million rows it takes minutes.

    "nile" and "streamapas" are the experiments of papers 2 and 1: what expiry strategies and
    compression send, and how late answers are. With --paper the windows of the first are as long
    as the paper's: they are filled in a few large steps, and the steps after that are measured.

    "borealis" is those of paper 3: archives, replays, and what approximations miss. --scale 1 is
    the paper's size, 17.25 M rows that are archived and 1 M behind them; --only takes some of
    formats, buckets, techniques, overhead, growth and errors.

    "structures" is what the structure of stored rows saves that their class picks.
    """
    if suite in ("nile", "streamapas"):
        _paper(suite, window, paper, transport, plots, json_path)
        return
    if suite == "borealis":
        _borealis(scale, only, plots, json_path)
        return
    if suite == "structures":
        _structures(rows, json_path)
        return
    from ebbtide.bench import figures as plain
    from ebbtide.bench.nexmark import table
    from ebbtide.spark.session import start_spark

    numbers = _numbers(queries)
    peer = None if flink is None else Path(flink)
    measure = _nexmark(numbers) if suite == "nexmark" else _everything
    with TemporaryDirectory() as work:
        spark = start_spark(log=f"{work}/spark.log")
        try:
            figures = list(measure(spark, Path(work), rows, repeats, peer))
        finally:
            spark.stop()
    text = plain.as_json(figures)
    if json_path is not None:
        Path(json_path).write_text(text + "\n", encoding="utf-8")
    click.echo(table.as_table(text) if suite == "nexmark" else plain.as_table(text))


def _paper(
    suite: str,
    window: int,
    steps: int | None,
    transport: str,
    plots: str | None,
    json_path: str | None,
) -> None:
    """An experiment of a paper: a table, and if asked for its figures and all samples."""
    from ebbtide.bench import nile, streamapas
    from ebbtide.bench.sampled import as_json, as_table, draw

    if window < 1:
        raise click.BadParameter("a window has at least a second", param_hint="--window")
    setting = nile.Setting(window_s=window, seconds=2 * window, transport=transport)
    if steps is not None:
        setting = nile.paper(transport, steps)
    if suite == "nile":
        samples, charts = list(nile.measured(setting, _say)), nile.CHARTS
    else:
        samples, charts = list(streamapas.measured(transport, _say)), streamapas.CHARTS
    if plots is not None:
        for path in draw(samples, charts, Path(plots)):
            _say(f"drew {path}")
    if json_path is not None:
        about = {"suite": suite, "window_s": setting.window_s, "transport": transport}
        Path(json_path).write_text(as_json(samples, about) + "\n", encoding="utf-8")
    click.echo(as_table(samples))


def _borealis(scale: float, only: str | None, plots: str | None, json_path: str | None) -> None:
    """The experiments of paper 3."""
    from ebbtide.bench.borealis import EXPERIMENTS, PaperDay, as_json, as_table, draw, measured

    chosen = [name.strip() for name in only.split(",")] if only else []
    for name in chosen:
        if name not in EXPERIMENTS:
            raise click.BadParameter(
                f"{name!r} is none of {', '.join(EXPERIMENTS)}", param_hint="--only"
            )
    began = perf_counter()
    results = list(measured(PaperDay(scale), _say, chosen))
    seconds = perf_counter() - began
    if plots is not None:
        for path in draw(results, Path(plots)):
            _say(f"drew {path}")
    if json_path is not None:
        about = {"suite": "borealis", "scale": scale, "seconds": round(seconds, 1)}
        Path(json_path).write_text(as_json(results, about) + "\n", encoding="utf-8")
    click.echo(as_table(results))
    click.echo(f"\nin {seconds:,.0f} seconds, at {scale:g} of the paper's day")


def _structures(rows: int, json_path: str | None) -> None:
    """What is saved where the class of rows picks how they lie."""
    from ebbtide.bench import structures

    found = list(structures.measured(rows, _say))
    if json_path is not None:
        text = json.dumps([one.values for one in found], indent=1)
        Path(json_path).write_text(text + "\n", encoding="utf-8")
    click.echo(structures.as_table(found))


def _everything(
    spark: Any, work: Path, rows: int, repeats: int, flink: Path | None
) -> Iterator[Figure]:
    from ebbtide.bench import drift, pipelines, speed, steps

    yield from speed.measured(spark, work, rows, repeats, _say, flink)
    yield from pipelines.measured(spark, work, rows, repeats, _say)
    yield from steps.measured(spark, work, _say)
    yield from drift.measured(spark, work, rows, _say)


def _nexmark(numbers: Sequence[int]) -> Callable[..., Iterator[Figure]]:
    from ebbtide.bench.nexmark import suite

    def measure(
        spark: Any, work: Path, rows: int, repeats: int, flink: Path | None
    ) -> Iterator[Figure]:
        return suite.measured(spark, work, rows, repeats, _say, flink, numbers)

    return measure


def _numbers(text: str | None) -> Sequence[int]:
    """The numbers of queries, from a list of them."""
    from ebbtide.bench.nexmark.queries import NUMBERS

    if text is None:
        return NUMBERS
    parts = [part.strip().removeprefix("q") for part in text.split(",")]
    known = {str(number) for number in NUMBERS}
    wrong = [part for part in parts if part not in known]
    if wrong:
        raise click.BadParameter(
            f"{wrong[0]!r} is not the number of a query: they go from 0 to {NUMBERS[-1]}",
            param_hint="--queries",
        )
    return [int(part) for part in parts]


def _say(text: str) -> None:
    click.echo(text, err=True)
