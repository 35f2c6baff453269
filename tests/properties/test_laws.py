"""The laws of the reference evaluator, over random relations, streams and plans.

| module | laws |
|---|---|
| `laws.sets` | multisets: filter, map, union, difference, duplicates; coalesce and split |
| `laws.joins` | products and joins; the derived operators (11) to (15) of paper 4 |
| `laws.groups` | grouping, top-n, frames |
| `laws.windows` | the rules of windows, and their definitions at every instant |
| `laws.streams` | ISTREAM, DSTREAM, RSTREAM |
| `laws.aggregates` | the five functions of every aggregate, and what each is |
| `laws.reducibility` | the snapshot of the output is the operator on the snapshots |
| `laws.judge` | DuckDB gives the same snapshots |
"""

import pytest

from laws import Law, aggregates, groups, joins, judge, prove, reducibility, sets, streams, windows

MODULES = (sets, joins, groups, windows, streams, aggregates, reducibility, judge)
LAWS = [law for module in MODULES for law in module.LAWS]


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_law(law: Law) -> None:
    prove(law)


def test_every_law_has_a_name_of_its_own() -> None:
    assert len({str(law) for law in LAWS}) == len(LAWS)
