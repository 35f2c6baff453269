"""Plans, drawn with what EXPLAIN says."""

from xml.etree import ElementTree

from analysed import World
from ebbtide.drawing import plan_svg

SVG = "{http://www.w3.org/2000/svg}"
WORLD = World(
    """
    CREATE STREAM bids (auction BIGINT, price DOUBLE, at TIMESTAMP NOT NULL,
      PROGRESS FOR at AS at - INTERVAL 5 SECONDS) RETAIN 1 DAY;
    CREATE STREAM auctions (id BIGINT, at TIMESTAMP NOT NULL, PRIMARY KEY (id),
      PROGRESS FOR at AS at) APPEND ONLY;
    """
)
JOIN = """
    SELECT b.auction, AVG(b.price) AS mean FROM bids [RANGE 15 MINUTES] b
    JOIN auctions [RANGE 1 HOUR] a ON a.id = b.auction GROUP BY b.auction
"""


def drawn(sql: str) -> ElementTree.Element:
    return ElementTree.fromstring(plan_svg(WORLD.explained(sql)))


def said(picture: ElementTree.Element) -> str:
    return " ".join(node.text or "" for node in picture.iter(f"{SVG}text"))


def rectangles(picture: ElementTree.Element) -> list[tuple[float, float, float, float]]:
    """The boxes of operators: left, top, right, bottom."""
    found = []
    for node in picture.iter(f"{SVG}rect"):
        if node.get("rx") == "6":
            x, y, w, h = (float(node.get(name, "0")) for name in ("x", "y", "width", "height"))
            found.append((x, y, x + w, y + h))
    return found


def test_every_operator_has_a_box_with_its_facts() -> None:
    picture = drawn(JOIN)
    operators = ["Map", "Aggregate", "Join", "Alias b", "Window [RANGE 1 HOUR]", "Stream auctions"]
    for operator in operators:
        assert operator in said(picture)
    assert len(rectangles(picture)) == 9
    assert "strict non-monotonic" in said(picture)
    assert 'rows of "bids"' in said(picture)
    assert "while to > progress(auctions.at)" in said(picture)
    assert "at once: bids only gets facts" in said(picture)


def test_the_verdict_stands_on_top() -> None:
    picture = drawn("SELECT auction, price FROM bids WHERE price > 5")
    assert said(picture).startswith("final at once")
    assert "state none" in said(picture)


def test_boxes_do_not_touch() -> None:
    boxes = rectangles(drawn(JOIN))
    for i, a in enumerate(boxes):
        for b in boxes[i + 1 :]:
            assert a[2] < b[0] or b[2] < a[0] or a[3] < b[1] or b[3] < a[1]


def test_everything_is_on_the_paper() -> None:
    picture = drawn(JOIN)
    width, height = float(picture.get("width", "0")), float(picture.get("height", "0"))
    assert all(
        left >= 0 and right <= width and top >= 0 and bottom <= height
        for left, top, right, bottom in rectangles(picture)
    )


def test_arrows_tell_where_rows_can_be_taken_back() -> None:
    tips = {shape.get("fill") for shape in drawn(JOIN).iter(f"{SVG}polygon")}
    assert len(tips) == 2
    (only,) = {s.get("fill") for s in drawn("SELECT price FROM bids").iter(f"{SVG}polygon")}
    assert only in tips


def test_long_operators_are_wrapped() -> None:
    columns = ", ".join(f"price + {i} AS a_rather_long_name_{i}" for i in range(20))
    picture = drawn(f"SELECT {columns} FROM bids")
    assert float(picture.get("width", "0")) < 800
    assert "a_rather_long_name_19" in said(picture)
