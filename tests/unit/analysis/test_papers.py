"""The examples of paper 5 (sections 2 and 5), worked by hand.

All streams promise ``PROGRESS FOR time AS time``.  ``p(x)`` in the comments is their progress.
"""

import pytest

from analysed import World, rules

WORLD = World(
    """
    CREATE STREAM TRaw (sid INT, time TIMESTAMP, temp DOUBLE, PROGRESS FOR time AS time);
    CREATE TABLE TLoc (sid INT, area INT);
    CREATE STREAM AFRaw (sid INT, time TIMESTAMP, speed DOUBLE, PROGRESS FOR time AS time);
    CREATE STREAM Smoke (time TIMESTAMP, area INT, conz DOUBLE, PROGRESS FOR time AS time);
    CREATE STREAM FireStart (fid INT, time TIMESTAMP, PROGRESS FOR time AS time);
    CREATE STREAM FireEnd (fid INT, time TIMESTAMP, PROGRESS FOR time AS time);
    CREATE STREAM detections (area INT, detected TIMESTAMP, PROGRESS FOR detected AS detected);
    CREATE STREAM reports (area INT, received TIMESTAMP, PROGRESS FOR received AS received);
    """
)


def test_a_stream_joined_with_static_data_is_final_at_once() -> None:
    query = WORLD.checked("SELECT t.sid, t.time, l.area FROM TRaw t, TLoc l WHERE t.sid = l.sid")
    assert str(query.verdict.finality) == "at once: TRaw only gets facts"
    # Only the table is stored: a row of the stream meets all of it when it comes.
    assert rules(query) == ["as much as a table holds: keep always"]
    # time is bounded by itself: it has come as far as the stream.
    edge = query.root.edge
    assert str(edge.bounds) == "bounded(time, TRaw.time)"


def test_tumbling_windows_of_20_seconds() -> None:
    query = WORLD.checked(
        "SELECT sid, CEIL(time TO 20 SECONDS) AS time, AVG(speed) AS speed FROM AFRaw "
        "GROUP BY sid, CEIL(time TO 20 SECONDS) EMIT FINAL"
    )
    # AFRaw.time <= CEIL(AFRaw.time), so the group at c is complete when p(AFRaw) reaches c.
    assert str(query.verdict.finality) == "when time <= progress(AFRaw.time)"
    # Rows of one group are less than 20 s apart: 20 s - 1 us at most.
    assert rules(query) == [
        "per window: keep while AFRaw.time > progress(AFRaw.time) - 20 s + 1 us"
    ]
    # Until then the group's row waits.
    assert [str(store.rule) for store in query.held] == ["keep while time > progress(AFRaw.time)"]


def test_sliding_windows_aligned_to_events() -> None:
    query = WORLD.checked(
        "SELECT s.area, f.time, AVG(s.conz) AS avgConz FROM Smoke s, FireStart f "
        "WHERE f.time - INTERVAL 10 SECONDS <= s.time AND s.time <= f.time "
        "GROUP BY s.area, f.time EMIT FINAL"
    )
    # s.time <= f.time: smoke up to the window's end has to be there, and the event itself.
    finality = "when time <= min(progress(FireStart.time), progress(Smoke.time))"
    assert str(query.verdict.finality) == finality
    # A fire to come lies up to 10 s after smoke that it needs; smoke to come before its fire.
    assert rules(query)[1:] == [
        "per window: keep while s.time > progress(FireStart.time) - 10 s",
        "per window: keep while f.time > progress(Smoke.time)",
    ]
    assert str(query.verdict.state.size) == "per window"


FRAMES = (
    "SELECT fs.time AS begin_, fe.time AS end_, s.area, MAX(s.conz) AS maxConz "
    "FROM FireStart fs, Smoke s, FireEnd fe "
    "WHERE fs.time <= s.time AND s.time <= fe.time "
    "AND fe.time - fs.time >= INTERVAL 1 MINUTE AND fs.fid = fe.fid "
    "GROUP BY fs.time, fe.time, s.area"
)


def test_frames_of_a_minute_are_final_by_progress_and_their_state_is_unbounded() -> None:
    query = WORLD.analysed(FRAMES)
    # fs.time <= fe.time - 1 min, s.time <= fe.time: the frame's end bounds all three streams.
    assert str(query.verdict.finality) == (
        "when end_ <= min(progress(FireStart.time) + 1 min, progress(FireEnd.time), "
        "progress(Smoke.time))"
    )
    assert str(query.verdict.state) == (
        'unbounded: join of "FireStart" and "Smoke" keeps every row of "FireStart"'
    )
    # Smoke waits for fires that began before it, the begin of a fire for its end for ever.
    assert rules(query)[-2:] == [
        "unbounded: keep always",
        "per window: keep while s.time > progress(FireStart.time)",
    ]


def test_absence_within_30_seconds() -> None:
    query = WORLD.checked(
        "SELECT m.sid, m.time + INTERVAL 10 SECONDS AS time FROM TRaw m WHERE NOT EXISTS "
        "(SELECT 1 FROM TRaw n WHERE n.sid = m.sid AND n.time > m.time "
        "AND n.time <= m.time + INTERVAL 30 SECONDS) EMIT FINAL"
    )
    # n.time <= m.time + 30 s = time + 20 s.
    assert str(query.verdict.finality) == "when time <= progress(TRaw.time) - 20 s"
    assert rules(query) == [
        "per window: keep while m.time > progress(TRaw.time) - 30 s",
        # It is read while a message that it follows can be followed by another: 30 s - 1 us.
        "per window: keep while n.time > progress(TRaw.time) - 30 s + 1 us",
    ]


def test_absence_within_2_minutes_on_two_time_lines() -> None:
    query = WORLD.checked(
        "SELECT d.area, d.detected AS time FROM detections d WHERE NOT EXISTS "
        "(SELECT 1 FROM reports r WHERE r.area = d.area "
        "AND r.received BETWEEN d.detected AND d.detected + INTERVAL 2 MINUTES) EMIT FINAL"
    )
    assert str(query.verdict.finality) == (
        "when time <= min(progress(detections.detected), progress(reports.received) - 2 min)"
    )
    assert rules(query) == [
        "per window: keep while d.detected > progress(reports.received) - 2 min",
        "per window: keep while r.received > progress(detections.detected) "
        "or r.received > progress(reports.received) - 2 min",
    ]


@pytest.mark.parametrize(
    ("predicate", "low", "high"),
    [
        ("r.received BETWEEN d.detected AND d.detected + INTERVAL 2 MINUTES", 0, 120),
        ("r.received > d.detected AND r.received - d.detected < INTERVAL 5 SECONDS", 0, 5),
        ("d.detected BETWEEN r.received - INTERVAL 7 SECONDS AND r.received", 0, 7),
    ],
)
def test_bounds_of_a_join_are_those_of_its_predicate(predicate: str, low: int, high: int) -> None:
    query = WORLD.analysed(f"SELECT 1 AS one FROM detections d JOIN reports r ON {predicate}")
    left, right = (rule.split("keep while ")[1] for rule in rules(query))
    reach = {120: "- 2 min", 5: "- 5 s + 1 us", 7: "- 7 s"}[high]
    assert left == f"d.detected > progress(reports.received) {reach}"
    strict = ">" not in predicate.replace("<=", "")
    bound = "progress(detections.detected)" + ("" if strict else " + 1 us")
    assert right == f"r.received > {bound}"
