"""The encodings of the papers, of Spark and of Flink, by the examples of the papers."""

import pytest

from ebbtide.core.change import Change, consolidate, snapshot_equal
from ebbtide.core.codec import flink, keyed, revision, signed, spark, temporal
from ebbtide.core.codec.flink import FlinkChange
from ebbtide.core.codec.keyed import Negative, Positive
from ebbtide.core.codec.revision import Revision, RevisionKind
from ebbtide.core.codec.signed import SignedTuple
from ebbtide.core.codec.spark import SparkChange
from ebbtide.core.codec.temporal import TemporalTuple
from ebbtide.core.interval import Interval
from ebbtide.core.time import INF, MINUTE, NEG_INF, instant
from ebbtide.errors import QueryError, SourceError

FIRST = (0,)

# Paper 1, figure 1: two phenomena, each seen through different stream models.  The processes of
# the first all last 4; those of the second end when they end.
#
#        1     2     3     4     5     6     7     8     9    10
#  1     ├───────────────────────┤
#  2                 ├───────────────────────┤
#  3                                   ├───────────────────────┤
EQUAL = (Change((1,), 1, 5), Change((2,), 3, 7), Change((3,), 6, 10))
#  1     ├─────────────────┤
#  2           ├───────────────────────────────────┤
#  3                             ├─────┤
UNEQUAL = (Change((1,), 1, 4), Change((2,), 2, 8), Change((3,), 5, 6))


def test_positive_and_negative_tuples_say_when_a_process_begins_and_ends() -> None:
    s1 = signed.encode(EQUAL)
    assert [(one.sign, one.row[0], one.at) for one in s1] == [
        (+1, 1, 1),
        (+1, 2, 3),
        (-1, 1, 5),
        (+1, 3, 6),
        (-1, 2, 7),
        (-1, 3, 10),
    ]
    s4 = signed.encode(UNEQUAL)
    assert [(one.sign, one.row[0], one.at) for one in s4] == [
        (+1, 1, 1),
        (+1, 2, 2),
        (-1, 1, 4),
        (+1, 3, 5),
        (-1, 3, 6),
        (-1, 2, 8),
    ]


def test_temporal_tuples_are_half_as_many() -> None:
    s2 = [one for one in signed.encode(EQUAL) if one.sign > 0]
    s3 = temporal.encode(EQUAL)
    assert s3 == tuple(TemporalTuple(one.row, Interval(one.at, one.at + 4)) for one in s2)
    s5 = temporal.encode(UNEQUAL)
    assert [one.interval for one in s5] == [Interval(1, 4), Interval(2, 8), Interval(5, 6)]


def test_upper_bounds_are_shortened_by_negative_tuples_of_the_same_key() -> None:
    s6 = keyed.encode(UNEQUAL, FIRST, lifetime_us=5)
    assert s6 == (
        Positive((1,), Interval(1, 6)),
        Positive((2,), Interval(2, 8)),
        Negative((1,), 4),
        Positive((3,), Interval(5, 10)),
        Negative((3,), 6),
    )
    assert keyed.decode(s6, FIRST) == UNEQUAL


def test_what_may_last_for_ever_has_infinity_for_a_bound() -> None:
    assert keyed.encode(UNEQUAL[:1], FIRST) == (
        Positive((1,), Interval(1, INF)),
        Negative((1,), 4),
    )


def test_all_models_tell_the_same_story() -> None:
    for relation in (EQUAL, UNEQUAL):
        assert signed.decode(signed.encode(relation)) == relation
        assert temporal.decode(temporal.encode(relation)) == relation
        assert keyed.decode(keyed.encode(relation, FIRST, 4), FIRST) == relation


def test_the_key_says_which_of_two_equal_tuples_ends() -> None:
    """Paper 1, section 3.4: two tuples of value 2 overlap, and one of them ends at 4."""
    key = (1,)
    sent = (Positive((2, "p"), Interval(2, 5)), Positive((2, "q"), Interval(3, 6)))
    p_ends = keyed.decode((*sent, Negative(("p",), 4)), key)
    q_ends = keyed.decode((*sent, Negative(("q",), 4)), key)
    assert p_ends == (Change((2, "p"), 2, 4), Change((2, "q"), 3, 6))
    assert q_ends == (Change((2, "p"), 2, 5), Change((2, "q"), 3, 4))


def test_a_window_of_five_expires_by_negative_tuples() -> None:
    """Paper 2, figure 4: 4 comes at T0 and 5 at T1; they leave at T5 and T6."""
    window = [Change((4,), 0, 5), Change((5,), 1, 6)]
    assert signed.encode(window) == (
        SignedTuple(+1, (4,), 0),
        SignedTuple(+1, (5,), 1),
        SignedTuple(-1, (4,), 5),
        SignedTuple(-1, (5,), 6),
    )


def test_what_expires_makes_room_before_something_comes() -> None:
    assert signed.encode([Change((9,), 0, 5), Change((1,), 5, 7)])[1:3] == (
        SignedTuple(-1, (9,), 5),
        SignedTuple(+1, (1,), 5),
    )


def test_equal_rows_are_repeated() -> None:
    twice = [Change((1,), 0, 5, 2), Change((1,), 3, 9)]
    ends = [one.interval.valid_to for one in temporal.encode(twice)]
    assert ends == [3, 3, 5, 5, 5, 9]
    assert [one.sign for one in signed.encode(twice)] == [1, 1, 1, -1, -1, -1]


def test_what_never_ends_has_no_negative_tuple() -> None:
    assert signed.encode([Change((1,), NEG_INF, INF)]) == (SignedTuple(+1, (1,), NEG_INF),)


def test_temporal_tuples_are_ordered_by_from_and_to() -> None:
    """Paper 4, section 2.4; a negative change shortens what is encoded."""
    changes = [Change((2,), 1, 9), Change((1,), 1, 9), Change((3,), 0, 20), Change((2,), 4, 9, -1)]
    assert [(one.row[0], one.interval) for one in temporal.encode(changes)] == [
        (3, Interval(0, 20)),
        (2, Interval(1, 4)),
        (1, Interval(1, 9)),
    ]


# Paper 3, figure 1: 75 was quoted at 2:00; at 2:30 the price changes, or the quote is corrected.

TWO, HALF_PAST, THREE = (
    instant(f"2026-01-01 {time}") for time in ("02:00:00", "02:30:00", "03:00:00")
)
ISSUED = (Change(("IBM", 75), TWO, THREE),)
UPDATED = (Change(("IBM", 75), TWO, HALF_PAST), Change(("IBM", 72), HALF_PAST, THREE))
REVISED = (Change(("IBM", 72), TWO, THREE),)


def average(changes: tuple[Change, ...]) -> float:
    minutes = [(c.row[1], (c.valid_to - c.valid_from) // MINUTE) for c in changes]
    return sum(price * length for price, length in minutes) / sum(length for _, length in minutes)


def test_a_revision_is_a_replacement_over_the_same_interval() -> None:
    revisions = revision.encode(REVISED, FIRST, ISSUED)
    whole = Interval(TWO, THREE)
    assert revisions == (
        Revision(RevisionKind.REPLACEMENT, whole, old=("IBM", 75), new=("IBM", 72)),
    )
    assert average(revision.decode(revisions, FIRST, ISSUED)) == 72.00


def test_an_update_is_no_revision() -> None:
    revisions = revision.encode(UPDATED, FIRST, ISSUED)
    assert [(one.kind, one.interval) for one in revisions] == [
        (RevisionKind.INSERTION, Interval(TWO, HALF_PAST)),
        (RevisionKind.DELETION, Interval(TWO, THREE)),
        (RevisionKind.INSERTION, Interval(HALF_PAST, THREE)),
    ]
    assert average(revision.decode(revisions, FIRST, ISSUED)) == 73.50


def test_a_deletion_and_a_late_insertion() -> None:
    assert revision.encode((), FIRST, ISSUED) == (
        Revision(RevisionKind.DELETION, Interval(TWO, THREE), old=("IBM", 75)),
    )
    assert revision.encode(ISSUED, FIRST) == (
        Revision(RevisionKind.INSERTION, Interval(TWO, THREE), new=("IBM", 75)),
    )
    assert revision.encode(ISSUED, FIRST, ISSUED) == ()


@pytest.mark.parametrize(
    ("kind", "old", "new"),
    [
        (RevisionKind.INSERTION, (1,), (2,)),
        (RevisionKind.DELETION, None, (2,)),
        (RevisionKind.REPLACEMENT, None, (2,)),
    ],
)
def test_a_revision_has_the_rows_that_its_kind_needs(
    kind: RevisionKind, old: object, new: object
) -> None:
    with pytest.raises(ValueError, match=kind.value):
        Revision(kind, Interval(0, 1), old, new)  # type: ignore[arg-type]


# Spark and Flink

VERSIONS = (
    Change((1, "a"), 10, 20),
    Change((1, "b"), 20, 30),
    Change((2, "c"), 20, INF),
)


def test_sparks_change_feed() -> None:
    assert spark.encode(VERSIONS, FIRST) == (
        SparkChange((1, "a"), "insert", 0, 10),
        SparkChange((1, "a"), "update_preimage", 1, 20),
        SparkChange((1, "b"), "update_postimage", 1, 20),
        SparkChange((2, "c"), "insert", 1, 20),
        SparkChange((1, "b"), "delete", 2, 30),
    )


def test_without_a_key_nothing_is_an_update() -> None:
    feed = spark.encode(VERSIONS, first_version=7)
    assert [(one.change_type, one.commit_version) for one in feed] == [
        ("insert", 7),
        ("delete", 8),
        ("insert", 8),
        ("insert", 8),
        ("delete", 9),
    ]
    assert spark.decode(feed) == VERSIONS


def test_within_a_commit_the_order_does_not_matter() -> None:
    feed = spark.encode(VERSIONS, FIRST)
    assert spark.decode(reversed(feed)) == VERSIONS


def test_flinks_changelog() -> None:
    changelog = flink.encode(VERSIONS, FIRST)
    assert [(one.kind, one.row[1], one.at) for one in changelog] == [
        ("+I", "a", 10),
        ("-U", "a", 20),
        ("+U", "b", 20),
        ("+I", "c", 20),
        ("-D", "b", 30),
    ]
    assert flink.decode(changelog) == VERSIONS


# What cannot be encoded or decoded


@pytest.mark.parametrize("encode", [temporal.encode, signed.encode, spark.encode, flink.encode])
def test_a_negative_multiplicity_cannot_be_encoded(encode: object) -> None:
    with pytest.raises(QueryError, match="negative-multiplicity"):
        encode([Change((1,), 0, 5, -1)])  # type: ignore[operator]


@pytest.mark.parametrize(
    "encode",
    [keyed.encode, revision.encode, spark.encode, flink.encode],
    ids=lambda f: f.__module__,
)
def test_a_key_that_occurs_twice_cannot_be_encoded(encode: object) -> None:
    for overlapping in (
        [Change((1, "a"), 0, 5), Change((1, "b"), 4, 9)],
        [Change((1, "a"), 0, 5, 2)],
    ):
        with pytest.raises(QueryError, match="key-not-unique"):
            encode(overlapping, FIRST)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("decode", "sent", "code"),
    [
        (signed.decode, [SignedTuple(-1, (1,), 5)], "negative-without-positive"),
        (
            signed.decode,
            [SignedTuple(-1, (1,), 5), SignedTuple(+1, (1,), 5)],
            "negative-without-positive",
        ),
        (signed.decode, [SignedTuple(+1, (1,), 5), SignedTuple(+1, (2,), 4)], "out-of-order"),
        (spark.decode, [SparkChange((1,), "delete", 0, 5)], "negative-without-positive"),
        (spark.decode, [SparkChange((1,), "merge", 0, 5)], "unknown-change-type"),
        (
            spark.decode,
            [SparkChange((1,), "insert", 0, 5), SparkChange((2,), "insert", 1, 4)],
            "out-of-order",
        ),
        (flink.decode, [FlinkChange("-U", (1,), 5)], "negative-without-positive"),
        (flink.decode, [FlinkChange("+X", (1,), 5)], "unknown-row-kind"),
    ],
)
def test_what_nobody_could_have_encoded(decode: object, sent: object, code: str) -> None:
    with pytest.raises(SourceError, match=code):
        decode(sent)  # type: ignore[operator]


ONE = Positive((1, "a"), Interval(0, 10))


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        ([Negative((1,), 5)], "negative-without-positive"),
        ([ONE, Negative((1,), 10)], "negative-without-positive"),
        ([ONE, Negative((1,), 5), Negative((1,), 6)], "negative-without-positive"),
        ([ONE, Positive((1, "b"), Interval(9, 12))], "key-not-unique"),
        ([ONE, Negative((1,), 5), Positive((1, "b"), Interval(4, 12))], "out-of-order"),
    ],
)
def test_keyed_tuples_that_nobody_could_have_encoded(sent: object, code: str) -> None:
    with pytest.raises(SourceError, match=code):
        keyed.decode(sent, FIRST)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("revisions", "code"),
    [
        (
            [Revision(RevisionKind.DELETION, Interval(TWO, HALF_PAST), old=("IBM", 75))],
            "negative-without-positive",
        ),
        (
            [Revision(RevisionKind.REPLACEMENT, Interval(TWO, THREE), ("IBM", 74), ("IBM", 72))],
            "negative-without-positive",
        ),
        (
            [Revision(RevisionKind.INSERTION, Interval(HALF_PAST, THREE), new=("IBM", 72))],
            "key-not-unique",
        ),
    ],
)
def test_revisions_of_what_was_not_issued(revisions: list[Revision], code: str) -> None:
    with pytest.raises(SourceError, match=code):
        revision.decode(revisions, FIRST, ISSUED)


def test_a_message_can_name_an_instant_of_any_size() -> None:
    with pytest.raises(SourceError, match="leaves at"):
        signed.decode([SignedTuple(-1, (1,), INF - 1)])


def test_changes_that_are_no_maximal_intervals_are_encoded_as_what_they_mean() -> None:
    pieces = [Change((1,), 0, 5), Change((1,), 5, 9), Change((1,), 9, 12), Change((1,), 9, 12, -1)]
    assert snapshot_equal(temporal.decode(temporal.encode(pieces)), pieces)
    assert len(temporal.encode(pieces)) == len(consolidate(pieces)) == 1
