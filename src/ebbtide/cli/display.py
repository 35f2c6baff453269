"""The progress of runs: a display that renews itself on a terminal, plain lines elsewhere.

Both go to the standard error, so that what a command answers can be piped.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from ebbtide.cli.row_formats import console, zone
from ebbtide.core.time import NEG_INF, Instant, format_instant, is_finite
from ebbtide.core.words import counted, size

if TYPE_CHECKING:
    from rich.console import Group
    from rich.live import Live
    from rich.table import Table

    from ebbtide.cli.run_progress import QueryProgress, SourceProgress

_EVERY = 1.0
"""Seconds between two lines about a run, at least."""

_WIDE = 100
_BAR, _NAME = 12, 6


class Display(Protocol):
    """Shows how runs do."""

    def say(self, text: str) -> None:
        """Says a sentence."""
        ...

    def show(
        self,
        queries: Sequence[QueryProgress],
        seconds: float,
        stepped: Sequence[bool],
        last: bool = False,
    ) -> None:
        """Shows the runs after so many seconds, and which of them have stepped."""
        ...


@contextmanager
def display() -> Iterator[Display]:
    """The display that fits: for a terminal only if the answer, too, goes to one."""
    if not (sys.stderr.isatty() and sys.stdout.isatty()):
        yield StepLines()
        return
    from rich.live import Live

    with Live(console=console(stderr=True), refresh_per_second=4) as live:
        yield Screen(live)


class StepLines:
    """A line about every step, or about several of them that come within a second."""

    def __init__(self) -> None:
        self.shown: dict[str, tuple[float, int]] = {}

    def say(self, text: str) -> None:
        """Says a sentence."""
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()

    def show(
        self,
        queries: Sequence[QueryProgress],
        seconds: float,
        stepped: Sequence[bool],
        last: bool = False,
    ) -> None:
        """Writes about the queries that have come on."""
        for query in queries:
            at, version = self.shown.get(query.name, (-_EVERY, -1))
            if query.version > version and (last or seconds >= at + _EVERY):
                self.shown[query.name] = seconds, query.version
                self.say(line(query, seconds))


class Screen:
    """Tables of sources and queries that renew themselves."""

    def __init__(self, live: Live) -> None:
        self.live = live
        self.said = ""

    def say(self, text: str) -> None:
        """Says a sentence below the tables."""
        self.said = text
        self.live.update(_saying(text))

    def show(
        self,
        queries: Sequence[QueryProgress],
        seconds: float,
        stepped: Sequence[bool],
        last: bool = False,
    ) -> None:
        """Renews the tables."""
        if last:
            self.said = f"ended after {elapsed(seconds)}"
        elif self.said.startswith(("Starting", "Compiling", "Waiting")) and _has_stepped(queries):
            self.said = ""
        said = self.said or f"running for {elapsed(seconds)}, {_waits(queries)}; Ctrl-C ends it"
        self.live.update(picture(queries, said, self.live.console.width), refresh=last)


def _has_stepped(queries: Sequence[QueryProgress]) -> bool:
    return any(query.version >= 0 for query in queries)


def _waits(queries: Sequence[QueryProgress]) -> str:
    """What the next step waits for."""
    if not _has_stepped(queries):
        return "waiting for the first rows"
    quiet = [s.name for query in queries for s in query.sources if not s.rate]
    busy = [s.name for query in queries for s in query.sources if s.rate]
    if busy or not quiet:
        return "at work"
    return f"waiting for rows of {', '.join(dict.fromkeys(quiet))}"


def line(query: QueryProgress, seconds: float) -> str:
    """How a query does, in one line."""
    sources = ", ".join(f"{s.name} {counted(s.rows, 'row')}{_per_second(s)}" for s in query.sources)
    parts = [
        f"{seconds:8.1f}s",
        f"{query.name}: step {query.version}",
        *([f"now {moment(query.now)}"] if query.now != NEG_INF else []),
        f"in {sources}",
        f"out {counted(query.emitted, 'row')}",
        f"state {counted(query.rows_stored, 'row')} {size(query.bytes_stored)}",
        *([f"step {query.seconds:.2f}s"] if query.seconds is not None else []),
        f"late {query.late:,}",
        f"unused {query.refused:,}",
        *([f"errors {query.errors:,}"] if query.errors else []),
    ]
    return "  ".join(parts)


def picture(queries: Sequence[QueryProgress], said: str, width: int = _WIDE) -> Group:
    """The tables of sources and queries; in a narrow one days and spans are left out."""
    from rich.console import Group

    wide = width >= _WIDE
    return Group(_sources(queries, wide), "", _queries(queries, wide), "", _saying(said))


def _sources(queries: Sequence[QueryProgress], wide: bool) -> Table:
    several = len(queries) > 1
    spans = wide or not several
    table = _empty(["source", *(["query"] if several else [])], ["rows", "rows/s"])
    if spans:
        table.add_column("span of the data", no_wrap=True)
    table.add_column("", width=_BAR if wide else _BAR // 2)
    table.add_column("progress", no_wrap=True)
    for query in queries:
        for source in query.sources:
            reached = moment(source.progress, source.oldest if wide else source.progress)
            table.add_row(
                source.name,
                *([query.name] if several else []),
                f"{source.rows:,}",
                "" if source.rate is None else f"{source.rate:,.0f}",
                *([span(source.oldest, source.newest, wide)] if spans else []),
                _bar(source),
                reached if is_finite(source.progress) else "",
            )
    return table


def _queries(queries: Sequence[QueryProgress], wide: bool) -> Table:
    table = _empty(["query"], ["step"])
    table.add_column("now", no_wrap=True)
    failing = any(query.errors for query in queries)
    names = ["rows out", "state", "", "step time" if wide else "time", "late", "unused"]
    for name in [*names, *(["errors"] if failing else [])]:
        table.add_column(name, justify="right", no_wrap=True)
    for query in queries:
        table.add_row(
            query.name,
            "" if query.version < 0 else str(query.version),
            moment(query.now, None if wide else query.now) if is_finite(query.now) else "",
            f"{query.emitted:,}",
            f"{query.rows_stored:,}{' rows' if wide else ''}",
            size(query.bytes_stored),
            "" if query.seconds is None else f"{query.seconds:.2f} s",
            f"{query.late:,}",
            f"{query.refused:,}",
            *([f"{query.errors:,}"] if failing else []),
        )
    return table


def _empty(texts: Sequence[str], numbers: Sequence[str]) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for name in texts:
        table.add_column(name, no_wrap=True, min_width=_NAME)
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _bar(source: SourceProgress) -> Any:
    from rich.progress_bar import ProgressBar

    share = source.share
    return "" if share is None else ProgressBar(total=1.0, completed=share, complete_style="cyan")


def _saying(text: str) -> Any:
    from rich.text import Text

    return Text(text, style="dim")


def _per_second(source: SourceProgress) -> str:
    return "" if source.rate is None else f" ({source.rate:,.0f}/s)"


def span(oldest: Instant, newest: Instant, days: bool = True) -> str:
    """From when to when, in whole seconds; a day is named once, or not at all."""
    if oldest > newest:
        return ""
    return f"{moment(oldest, None if days else oldest)} .. {moment(newest, oldest)}"


def moment(t: Instant, after: Instant | None = None) -> str:
    """An instant in whole seconds; without its day if that is the day of another one."""
    if not is_finite(t):
        return format_instant(t)
    text = format_instant(t, zone()).split(".")[0]
    day = None if after is None else format_instant(after, zone()).split(" ")[0]
    return text.removeprefix(f"{day} ")


def elapsed(seconds: float) -> str:
    """A length of time as on a stop watch.

    >>> elapsed(75), elapsed(3725)
    ('1:15', '1:02:05')
    """
    hours, rest = divmod(int(seconds), 3600)
    minutes = f"{rest // 60:02d}" if hours else str(rest // 60)
    return f"{hours}:{minutes}:{rest % 60:02d}" if hours else f"{minutes}:{rest % 60:02d}"
