"""The parser, the binder and the reference against DuckDB, on random SQL text over static tables.

Law: that of `duckdb_judge`.  Not too many queries may be refused, or have no rows, or the
comparison would be blind.  The plan of what is accepted prints as SQL of the same plan.
"""

from random import Random

from tests.differential.duckdb_judge import Figures, bound
from tests.differential.sql_text import Writer

from ebbtide.config import Config
from ebbtide.errors import QueryError, UnsupportedError

QUERIES = {"quick": 100, "ci": 120, "long": 20_000}
SHARE_REFUSED = 0.12
SHARE_UNJUDGED = 0.02
SHARE_WITH_ROWS = 0.4


def test_what_is_accepted_means_what_it_means_to_duckdb() -> None:
    count = QUERIES[Config.from_environment().profile]
    figures = Figures()
    for seed in range(count):
        figures.judge(seed)
        assert figures.wrong == []
    assert figures.refused.total() <= SHARE_REFUSED * count, figures.refused
    assert figures.unjudged.total() <= SHARE_UNJUDGED * count, figures.unjudged
    assert figures.with_rows >= SHARE_WITH_ROWS * count


def test_what_is_accepted_prints_as_sql_of_the_same_plan() -> None:
    for seed in range(QUERIES[Config.from_environment().profile] // 5):
        text = Writer(Random(seed)).text()
        try:
            query = bound(text)
        except (QueryError, UnsupportedError):
            continue
        assert bound(query.sql) == query, f"seed {seed}\n{text}"


def test_a_text_depends_on_its_seed_alone() -> None:
    texts = [Writer(Random(seed)).text() for seed in range(20)]
    assert texts == [Writer(Random(seed)).text() for seed in range(20)]
    assert len(set(texts)) == len(texts)
