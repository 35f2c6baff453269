"""Every encoding gives back the relation that it was given, up to snapshot equivalence."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ebbtide.core.change import Change, consolidate, in_order
from ebbtide.core.codec import flink, keyed, revision, signed, spark, temporal
from ebbtide.core.codec.keyed import Negative
from ebbtide.core.time import INF, NEG_INF

KEY = (0,)
instants = st.sampled_from([NEG_INF, INF, *range(12)])


@st.composite
def relations(draw: st.DrawFn) -> list[Change]:
    """A bag of rows, in pieces and partly taken away again."""
    changes: list[Change] = []
    for row in draw(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1)), max_size=8)):
        start, *middle, end = sorted(draw(st.sets(instants, min_size=2, max_size=4)))
        count = draw(st.integers(1, 2))
        changes.append(Change(row, start, end, count))
        if middle:
            changes.append(Change(row, middle[0], end, -draw(st.integers(1, count))))
    return draw(st.permutations(changes))


@st.composite
def keyed_relations(draw: st.DrawFn) -> list[Change]:
    """A relation in which every key occurs at most once in each snapshot."""
    changes: list[Change] = []
    for key in draw(st.sets(st.integers(0, 2))):
        for start, end in pairwise(sorted(draw(st.sets(instants, min_size=2, max_size=5)))):
            if draw(st.booleans()):
                changes.append(Change((key, draw(st.integers(0, 2))), start, end))
    return draw(st.permutations(changes))


@given(relations())
def test_temporal_tuples(changes: list[Change]) -> None:
    tuples = temporal.encode(changes)
    assert temporal.decode(tuples) == consolidate(changes)
    decoded = [Change(one.row, one.interval.valid_from, one.interval.valid_to) for one in tuples]
    assert tuple(decoded) == in_order(decoded)


@given(relations())
def test_positive_and_negative_tuples(changes: list[Change]) -> None:
    tuples = signed.encode(changes)
    assert signed.decode(tuples) == consolidate(changes)
    assert [one.at for one in tuples] == sorted(one.at for one in tuples)


@given(keyed_relations(), st.none() | st.integers(1, 15))
def test_keyed_tuples(changes: list[Change], lifetime_us: int | None) -> None:
    tuples = keyed.encode(changes, KEY, lifetime_us)
    assert keyed.decode(tuples, KEY) == consolidate(changes)
    spans = [
        (one.at, one.at)
        if isinstance(one, Negative)
        else (one.interval.valid_from, one.interval.valid_to)
        for one in tuples
    ]
    assert spans == sorted(spans)


@given(keyed_relations(), keyed_relations())
def test_revisions(issued: list[Change], corrected: list[Change]) -> None:
    revisions = revision.encode(corrected, KEY, issued)
    assert revision.decode(revisions, KEY, issued) == consolidate(corrected)
    intervals = [one.interval for one in revisions]
    assert intervals == sorted(intervals)


@given(keyed_relations(), st.sampled_from([None, KEY]))
def test_sparks_change_feed_with_and_without_a_key(
    changes: list[Change], key: tuple[int, ...] | None
) -> None:
    assert spark.decode(spark.encode(changes, key)) == consolidate(changes)
    assert flink.decode(flink.encode(changes, key)) == consolidate(changes)


@given(relations())
def test_sparks_and_flinks_feeds_of_a_bag(changes: list[Change]) -> None:
    assert spark.decode(spark.encode(changes)) == consolidate(changes)
    assert flink.decode(flink.encode(changes)) == consolidate(changes)


@given(relations(), st.randoms())
def test_the_order_within_a_commit_does_not_matter(changes: list[Change], random: object) -> None:
    feed = list(spark.encode(changes))
    random.shuffle(feed)  # type: ignore[attr-defined]
    assert spark.decode(feed) == consolidate(changes)
