"""The progress of runs: as lines, and as tables on a terminal."""

from __future__ import annotations

import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from rich.console import Console

from ebbtide import Engine
from ebbtide.cli.display import StepLines, line, moment, picture, span
from ebbtide.cli.run_progress import QueryProgress, SourceProgress, Watch
from ebbtide.compile.lowering import lower
from ebbtide.core.time import NEG_INF, instant

BEGIN, END = instant("2026-01-01 00:00:00"), instant("2026-01-01 00:10:00")


def some_progress() -> QueryProgress:
    source = SourceProgress("traffic", 12_000, 3, BEGIN, END, instant("2026-01-01 00:05:00"))
    source.looks = [(0.0, 2_000), (5.0, 12_000)]
    return QueryProgress("means", [source], 7, END, 1_234, 2, 5_000, 45_300, 0.25)


def drawn(*queries: QueryProgress, width: int = 100) -> str:
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=False)
    console.print(picture(queries, "running", width))
    return out.getvalue()


def test_a_line_says_it_all() -> None:
    assert line(some_progress(), 12.34) == (
        "    12.3s  means: step 7  now 2026-01-01 00:10:00  in traffic 12,000 rows (2,000/s)"
        "  out 1,234 rows  state 5,000 rows 45 KB  step 0.25s  late 3  unused 2"
    )


def test_the_tables_have_every_figure() -> None:
    said = drawn(some_progress())
    source, query = (said.splitlines()[row] for row in (2, 6))
    assert source.split()[:3] == ["traffic", "12,000", "2,000"]
    assert "2026-01-01 00:00:00 .. 00:10:00" in source
    assert source.rstrip().endswith("00:05:00")
    assert query.split() == [
        *("means", "7", "2026-01-01", "00:10:00", "1,234"),
        *("5,000", "rows", "45", "KB", "0.25", "s", "3", "2"),
    ]
    assert said.splitlines()[-1] == "running"


def test_the_tables_fit_a_narrow_terminal() -> None:
    large = some_progress()
    large.name, large.emitted, large.rows_stored, large.bytes_stored = (
        "averages",
        10**8,
        10**7,
        10**8,
    )
    large.sources[0].rows = 10**9
    for queries in ([large], [large, large]):
        said = drawn(*queries, width=80)
        assert all(len(row) <= 80 for row in said.splitlines())
        assert "…" not in said
        assert "averages" in said


def test_sources_of_several_queries_are_told_apart() -> None:
    other = QueryProgress("other", [SourceProgress("traffic", looks=[(0.0, 0)])])
    rows = drawn(some_progress(), other).splitlines()
    assert [row.split()[:2] for row in rows[2:4]] == [["traffic", "means"], ["traffic", "other"]]


def test_before_anything_has_come() -> None:
    query = QueryProgress("means", [SourceProgress("traffic", looks=[(0.0, 0)])])
    assert "-inf" not in line(query, 0)
    assert "means" in drawn(query)
    assert moment(NEG_INF) == "-inf"
    assert span(END, BEGIN) == ""


def test_lines_come_with_steps_and_not_too_often(capsys: Any) -> None:
    lines, query = StepLines(), some_progress()
    for seconds in (0.0, 0.3, 0.6, 1.2, 5.0):
        query.version += seconds != 5.0
        lines.show([query], seconds, [True])
    lines.show([query], 6.0, [False], last=True)
    steps = [said.split("step ")[1].split()[0] for said in capsys.readouterr().err.splitlines()]
    assert steps == ["8", "11"]


def test_a_watch_takes_in_what_steps_have_committed(location: Path) -> None:
    engine = Engine(location)
    engine.execute(Path("highway.sql").read_text(encoding="utf-8"))
    query = engine.query("SELECT * FROM means", name="means")
    run: Any = SimpleNamespace(
        name="means",
        root=engine.root_of("means"),
        program=SimpleNamespace(lowered=lower({"means": query.analysis})),
        status=SimpleNamespace(errors={}),
    )
    watch = Watch(run)
    assert watch.look(0.0)
    assert not watch.look(1.0)
    seen = watch.seen
    assert (seen.version, seen.now, seen.emitted, seen.refused) == (1, END, 7, 1)
    assert seen.rows_stored > 0
    (source,) = seen.sources
    assert source.newest == END
    assert source.progress == END - 5_000_001
