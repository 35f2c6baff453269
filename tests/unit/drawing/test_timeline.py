"""Rows over time, drawn: what is there, and that it can be read."""

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.core.time import DAY, HOUR, INF, MINUTE, NEG_INF, SECOND, instant
from ebbtide.drawing import Bar, timeline_svg
from ebbtide.drawing.axis import MOST_TICKS, axis_over
from ebbtide.drawing.lanes import Mark, Piece, lanes_of
from ebbtide.drawing.svg import text_width

NOON = instant("2026-01-01 12:00:00")
SVG = "{http://www.w3.org/2000/svg}"


def read(drawn: str) -> ElementTree.Element:
    return ElementTree.fromstring(drawn)


def texts(drawn: str) -> list[str]:
    return [node.text or "" for node in read(drawn).iter(f"{SVG}text")]


def bars(drawn: str) -> list[str]:
    return [node.text or "" for node in read(drawn).iterfind(f".//{SVG}polygon/{SVG}title")]


def boxes(drawn: str) -> list[tuple[float, float, float, float, str]]:
    """Where each text is, by estimate: left, top, right, bottom."""
    found = []
    for node in read(drawn).iter(f"{SVG}text"):
        said, size = node.text or "", float(node.get("font-size", "0"))
        mono = "mono" in (node.get("font-family") or "").split(",")[-1]
        width = text_width(said, size, mono=mono, bold=node.get("font-weight") is not None)
        x, y = float(node.get("x", "0")), float(node.get("y", "0"))
        share = {"start": 0.0, "middle": 0.5, "end": 1.0}[node.get("text-anchor", "start")]
        found.append((x - width * share, y - size * 0.75, x + width * (1 - share), y, said))
    return found


def clashes(drawn: str) -> list[tuple[str, str]]:
    """Texts that lie on each other."""
    placed = boxes(drawn)
    return [
        (a[4], b[4])
        for i, a in enumerate(placed)
        for b in placed[i + 1 :]
        if a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
    ]


def outside(drawn: str) -> list[str]:
    root = read(drawn)
    width, height = float(root.get("width", "0")), float(root.get("height", "0"))
    return [
        said
        for left, top, right, bottom, said in boxes(drawn)
        if left < 0 or top < 0 or right > width or bottom > height
    ]


def test_equal_labels_share_a_line() -> None:
    lanes = lanes_of([("a", 0, 5, 1), ("b", 2, 9, 1), ("a", 7, 9, 1)])
    assert [(lane.label, lane.pieces) for lane in lanes] == [
        ("a", (Piece(0, 5, 1), Piece(7, 9, 1))),
        ("b", (Piece(2, 9, 1),)),
    ]


def test_what_is_taken_back_is_told_from_what_holds() -> None:
    (lane,) = lanes_of([("a", 0, 15, 1), ("a", 10, 15, -1)])
    assert lane.pieces == (Piece(0, 10, 1), Piece(10, 15, 0))


def test_what_is_said_again_was_not_taken_back() -> None:
    (lane,) = lanes_of([("a", 0, 15, 1), ("a", 0, 15, -1), ("a", 5, 8, 1)])
    assert lane.pieces == (Piece(0, 5, 0), Piece(5, 8, 1), Piece(8, 15, 0))


def test_a_row_that_is_there_twice_says_so() -> None:
    drawn = timeline_svg([("a", 0, 15, 1), ("a", 5, 15, 1)])
    assert "2×" in texts(drawn)


def test_a_bar_without_length_is_a_mark() -> None:
    (lane,) = lanes_of([("a", 5, 5, 1), ("a", 9, 9, 1), ("a", 9, 9, -1)])
    assert lane.marks == (Mark(5, 1), Mark(9, 0))
    assert lane.pieces == ()


def test_bars_carry_their_interval_for_who_points_at_them() -> None:
    drawn = timeline_svg([("a", NOON, NOON + MINUTE, 1), ("b", NOON, INF, 1), ("b", NOON, INF, -1)])
    assert bars(drawn) == [
        "a [2026-01-01 12:00:00, 2026-01-01 12:01:00)",
        "b [2026-01-01 12:00:00, inf), taken back",
    ]


def test_a_bar_without_end_has_a_point() -> None:
    closed = read(timeline_svg([("a", 0, 10, 1), ("b", 0, 20, 1)])).iter(f"{SVG}polygon")
    open_ = read(timeline_svg([("a", NEG_INF, INF, 1), ("b", 0, 20, 1)])).iter(f"{SVG}polygon")
    assert [len((shape.get("points") or "").split()) for shape in closed] == [4, 4]
    assert [len((shape.get("points") or "").split()) for shape in open_] == [6, 4]


def test_frontiers_are_named() -> None:
    drawn = timeline_svg([("a", NOON, NOON + HOUR, 1)], now=NOON + MINUTE, progress=NOON)
    assert "now 12:01:00" in texts(drawn)
    assert "progress 12:00:00" in texts(drawn)
    assert not [t for t in texts(timeline_svg([], now=INF, progress=None)) if "now" in t]


def test_too_many_rows_are_counted() -> None:
    many = [(f"row {i}", i * SECOND, i * SECOND + DAY, 1) for i in range(100)]
    drawn = timeline_svg(many, most=30)
    assert "70 earlier rows are not drawn" in texts(drawn)
    assert len(bars(drawn)) == 30
    assert bars(drawn)[-1].startswith("row 99 ")


def test_a_row_with_too_many_bars_is_cut() -> None:
    drawn = timeline_svg([("a", 2 * i, 2 * i + 1, 1) for i in range(1000)])
    assert "600 earlier bars are not drawn" in texts(drawn)


def test_the_day_is_said_where_it_begins() -> None:
    drawn = texts(timeline_svg([("a", NOON, NOON + DAY, 1)]))
    assert drawn.count("2026-01-01") == 1
    assert drawn.count("2026-01-02") == 1


def test_groups_have_their_names() -> None:
    drawn = timeline_svg([Bar("1", 0, 9, group="left"), Bar("1", 5, 9, group="out")])
    assert [said for said in texts(drawn) if said in ("left", "out")] == ["left", "out"]


@pytest.mark.parametrize("span", [1, 7, 1_500, SECOND, 61 * SECOND, HOUR, 5 * DAY, 9_999 * DAY])
def test_labels_are_few_enough_and_there(span: int) -> None:
    axis = axis_over([NOON, NOON + span], 0, 800)
    assert 1 <= len(axis.ticks) <= MOST_TICKS + 1
    drawn = timeline_svg([("a", NOON, NOON + span, 1)], now=NOON + span, progress=NOON, title="T")
    assert clashes(drawn) == []
    assert outside(drawn) == []


TIMES = st.sampled_from([NEG_INF, *(NOON + k * MINUTE for k in range(0, 90, 7)), INF])


@st.composite
def some_bars(draw: st.DrawFn) -> list[tuple[str, int, int, int]]:
    labels = st.text(max_size=60)
    found = []
    for _ in range(draw(st.integers(0, 8))):
        start, end = sorted((draw(TIMES), draw(TIMES)))
        if start < end or NEG_INF < start < INF:
            found.append((draw(labels), start, end, draw(st.sampled_from([1, 1, -1, 2]))))
    return found


@given(some_bars(), st.none() | TIMES, st.none() | TIMES)
def test_everything_can_be_drawn_and_read(
    given_bars: list[tuple[str, int, int, int]], now: int | None, progress: int | None
) -> None:
    drawn = timeline_svg(given_bars, now=now, progress=progress, title="All")
    assert clashes(drawn) == []
    assert outside(drawn) == []
    assert drawn == timeline_svg(given_bars, now=now, progress=progress, title="All")


def test_a_clash_is_recognised() -> None:
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="50" height="50">'
    text = '<text x="{}" y="20" font-size="10">abc</text>'
    assert clashes(svg + text.format(0) + text.format(5) + "</svg>") == [("abc", "abc")]
    assert outside(svg + text.format(45) + "</svg>") == ["abc"]
