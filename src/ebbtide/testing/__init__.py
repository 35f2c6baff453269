"""What tests of continuous queries need: ours, and those of users.

    changes_from_text, changes_to_text, rows_to_text   changes and rows as tables of text
    assert_snapshot_equal, assert_snapshot             failures that show the instant and the rows
    answer                                             a plan over inputs, asked about instants
    Clock                                              time that the test moves
    check_aggregate                                    the laws of an aggregate of one's own

Nothing here needs a running engine.
"""

from ebbtide.testing.aggregates import check_aggregate
from ebbtide.testing.answer import Answer, Evaluator, answer, relation
from ebbtide.testing.assertions import assert_snapshot, assert_snapshot_equal
from ebbtide.testing.clock import Clock
from ebbtide.testing.tables import changes_from_text, changes_to_text, rows_to_text

__all__ = [
    "Answer",
    "Clock",
    "Evaluator",
    "answer",
    "assert_snapshot",
    "assert_snapshot_equal",
    "changes_from_text",
    "changes_to_text",
    "check_aggregate",
    "relation",
    "rows_to_text",
]
