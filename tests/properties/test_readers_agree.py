"""A reader that polls two views of a running program finds them in agreement at every step."""

from __future__ import annotations

from pathlib import Path
from threading import Event, Thread

from tests.balance import SCRIPT, transfers

from ebbtide import Engine
from ebbtide.config import Config

STEPS = {"quick": 20, "ci": 60, "long": 300}[Config.from_environment().profile]
PARTS = "SELECT giver, COUNT(*) AS n FROM transfers [RANGE 20 SECONDS] GROUP BY giver"
TOTAL = "SELECT COUNT(*) AS n FROM transfers [RANGE 20 SECONDS]"


def test_a_total_and_its_parts_agree_at_every_step(tmp_path: Path) -> None:
    engine = Engine(tmp_path, transport="local")
    engine.execute(SCRIPT)
    parts, total = engine.query(PARTS, "parts"), engine.query(TOTAL, "total")
    run = engine.start(parts, total, name="both")
    over, looks, wrong = Event(), [0], []

    def poll() -> None:
        while not over.is_set():
            shown = engine.snapshot(["parts", "total"])
            both = [sum(row["n"] for row in shown[name].to_pylist()) for name in shown]
            looks[0] += any(both)
            if both[0] != both[1]:
                wrong.append(both)

    reader = Thread(target=poll)
    reader.start()
    try:
        for rows in transfers(STEPS, seed=3):
            engine.feed("transfers", rows)
            engine.step()
    finally:
        over.set()
        reader.join()
    assert wrong == []
    assert looks[0] > 5
    # Each step by itself, as it was said then.
    for step in range(0, STEPS, 7):
        shown = [query.snapshot(step=step).to_pylist() for query in (parts, total)]
        assert sum(row["n"] for row in shown[0]) == sum(row["n"] for row in shown[1])
    run.stop()
