"""The experiments of paper 3 at their smallest: right rows, right answers, and shapes that hold."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ebbtide.bench.borealis import Measurement, PaperDay, as_json, as_table, draw, measured
from ebbtide.bench.borealis.archive_formats import formats, rows_of
from ebbtide.bench.borealis.quotes import MIXES, Quotes
from ebbtide.bench.borealis.revising import Revising, minimal, streamed
from ebbtide.bench.borealis.suite import WAYS, archived

SMALL = Quotes(0.002, archive_s=2400, stocks=3)


def test_every_format_of_an_archive_gives_the_same_rows(tmp_path: Path) -> None:
    prices = SMALL.prices
    for name, archive in formats(tmp_path, "50K").items():
        for first in range(0, 1000, 100):
            archive.insert(rows_of(first, prices[first : first + 100]))
        archive.age(199)
        found = archive.replay(1, 350, 620)
        assert np.array_equal(found["price"], prices[350:620, 1]), name
        assert np.array_equal(found["at"], np.arange(350, 620)), name


def test_revisions_are_about_the_last_23_hours() -> None:
    quotes = Quotes(0.01)
    for mix, count in MIXES.items():
        revisions = quotes.revisions(mix)
        assert len(revisions) == count
        for revision in revisions:
            now = quotes.archived_s + revision.after_s
            assert now - quotes.archived_s * 23 / 24 <= revision.second < quotes.archived_s


def test_the_minimal_replay_sequence_has_the_rows_of_all_windows_of_a_row() -> None:
    revision = SMALL.revisions("LOW")[0]
    assert minimal("Q1", revision, 10_000) == 300
    assert minimal("Q2", revision, 10_000) == 540
    assert minimal("Q3", revision, 10_000) == 540


@pytest.mark.parametrize(("name", "ways"), [("Q1", tuple(WAYS)), ("Q2", ("RM",)), ("Q3", ("RM",))])
def test_answers_are_right_whichever_way_revisions_are_replayed(
    tmp_path: Path, name: str, ways: tuple[str, ...]
) -> None:
    """They are compared inside; what is counted is how many rows run again."""
    replayed = {}
    for way in ways:
        filled = Revising(name, SMALL, archived(SMALL, WAYS[way]), tmp_path / way).filled()
        found = streamed(filled, SMALL.revisions("LOW"), 500_000)
        assert found.rtp > 0
        replayed[way] = found.replayed
        if way == "RM":
            assert 0 < found.replayed <= 2 * found.least
    assert replayed["RM"] <= replayed.get("RA", replayed["RM"])


def test_errors_fall_with_size_and_are_drawn(tmp_path: Path) -> None:
    said: list[str] = []
    results = list(measured(PaperDay(0.001), said.append, ["errors"]))
    assert len(said) == len(results) == 36
    sampled = [r for r in results if (r.experiment, r.way) == ("error of sums", "sample")]
    assert sampled[-1].error < sampled[0].error / 3
    results.append(Measurement("figure 6", "LOW", "UT-1", 1.0, 2.0, 1))
    assert "| figure 6 | LOW | UT-1 | 1.00 | 2.000 | 3.00 | 1 |  |  |" in as_table(results)
    assert '"scale": 0.001' in as_json(results, {"scale": 0.001})
    names = {path.name for path in draw(results, tmp_path)}
    assert {"borealis-error.svg", "borealis-error-sums.svg", "borealis-6-rtp.svg"} <= names
