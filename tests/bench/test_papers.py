"""The experiments of papers 1 and 2, at their smallest: right answers, and the shapes that hold."""

from __future__ import annotations

from pathlib import Path

from ebbtide.bench import structures
from ebbtide.bench.nile import Setting, measured, paper
from ebbtide.bench.sampled import Chart, Sample, as_table, draw


def by_strategy(samples: list[Sample], x: float) -> dict[str, Sample]:
    return {sample.strategy: sample for sample in samples if sample.x == x}


def test_nile_at_its_smallest() -> None:
    """Answers are compared inside; here it is who sends what (figures 11b, 13a, 15b)."""
    setting = Setting(window_s=1, seconds=2)
    said: list[str] = []
    samples = list(measured(setting, said.append, ["Q2 multiplicity"]))
    assert said == ["Q2 multiplicity 1", "Q2 multiplicity 3", "Q2 multiplicity 5"]
    for x in (1, 3, 5):
        found = by_strategy(samples, x)
        assert found["input"].negatives <= found["join message"].negatives
        assert found["join message"].negatives < found["negative"].negatives


def test_samples_as_table_and_plots(tmp_path: Path) -> None:
    samples = [Sample("e", x, "s", 1.0, 2.0, 4, 2, 0.5) for x in (0.0, 1.0)]
    assert "| e | 1 | s | 1.0 | 2 | 6 | 0.50 | 0.50 |" in as_table(samples)
    charts = [Chart("a", "A", "e", "x", "rows", "rows"), Chart("b", "B", "f", "x", "rows", "rows")]
    (path,) = draw(samples, charts, tmp_path)
    assert path.read_text().count("<line") > 2


def test_the_window_of_the_paper_is_filled_in_a_few_steps() -> None:
    setting = paper("local", 10)
    assert setting.window_s == 1800
    assert setting.filling == 4
    assert len(setting.ends) == 14
    assert setting.ends[setting.filling] - setting.ends[setting.filling - 1] == 200_000
    assert Setting(window_s=1, seconds=2).filling == 6


def test_structures_at_their_smallest() -> None:
    """Answers are compared inside; here it is who needs an index beside the rows."""
    found = list(structures.measured(4000, lambda text: None, keys=3, steps=4))
    assert [(one.picked, one.held) for one in found] == [
        ("first in, first out", "first in, first out"),
        ("first in, first out", "by key"),
        ("by end", "by end"),
        ("by end", "by key"),
    ]
    for chosen, general in (found[:2], found[2:]):
        assert chosen.rows == general.rows > 3000
        assert chosen.index_bytes == 0 < general.index_bytes
    assert structures.as_table(found).count("\n") == 5
