"""A table that is fed by hand takes deletes, whether or not a column says what is done.

A delete that is on time reaches versions that begin up to RETAIN before it; an answer was final
before that, and was then taken back as if something late had come.
"""

from pathlib import Path

import pytest
from tests.final_law import held_to_finality
from tests.histories import Fed

from ebbtide import Engine
from ebbtide.algebra.emission import Emit
from ebbtide.algebra.relation import Map, Named
from ebbtide.algebra.window import Istream
from strategies.arrivals import PRICES_PROMISED

STEPS = [
    {"prices": Fed.of([("upsert", (0, 0.0, 4))])},
    {"prices": Fed.of([("upsert", (1, 3.0, 6))])},
    {"prices": Fed.of([("delete", (0, 2.0, 5))])},
    {"prices": Fed(advance=8)},
]


@pytest.mark.parametrize("emit", [Emit.FINAL, Emit.CHANGES_WITH_FINALITY])
def test_what_begins_waits_until_no_delete_can_reach_it(emit: Emit) -> None:
    prices = PRICES_PROMISED
    rows = Map(prices, (Named("k", prices.ref("auction")), Named("t", prices.ref("since"))))
    assert held_to_finality([(Istream(rows), emit)], STEPS, 2) == 1


@pytest.mark.parametrize(
    ("source", "waits"), [("", True), (" OP op", True), (" FROM FILES 'rates' FORMAT csv", False)]
)
def test_files_without_operations_are_final_by_progress_alone(
    source: str, waits: bool, tmp_path: Path
) -> None:
    engine = Engine(tmp_path, transport="local")
    op = "op STRING, " if "OP" in source else ""
    engine.execute(f"""
        CREATE TABLE rates (k BIGINT, v BIGINT, at TIMESTAMP NOT NULL, {op}PRIMARY KEY (k),
          PROGRESS FOR at AS at) TIME at{source} RETAIN 1 HOUR;
    """)
    told = engine.query("SELECT k, v FROM rates EMIT FINAL").explain()
    assert ("1 h after its end" in told) == waits
