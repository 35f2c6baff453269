"""Local times of zones, as columns: the offsets of Python's zones, gaps and overlaps included."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.columnar.calendar import instants_of, local_times
from ebbtide.core.time import DAY, from_datetime, to_datetime

ZONES = (
    *(
        "Europe/Berlin",
        "America/New_York",
        "Asia/Kolkata",
        "Australia/Lord_Howe",
        "Africa/Casablanca",
    ),
    *("America/Havana", "Pacific/Apia", "Europe/Dublin", "America/St_Johns"),
)
# A few days off both ends of the calendar.
INSTANTS = st.integers(-62_135_596_800 + 200_000, 253_402_300_800 - 200_000)
MODERN = st.integers(-3_000_000_000, 4_000_000_000)


@given(st.lists(MODERN | INSTANTS, min_size=1), st.sampled_from(ZONES))
def test_local_times_and_back(seconds: list[int], name: str) -> None:
    zone = ZoneInfo(name)
    instants = [second * 1_000_000 for second in seconds]
    local, failures = local_times(pa.array(instants, pa.int64()), zone)
    assert failures is None
    clocks = [to_datetime(t, zone).replace(tzinfo=None, fold=0) for t in instants]
    assert local.tolist() == [from_datetime(clock) for clock in clocks]
    again = instants_of(np.array(instants, np.int64), zone)
    assert again.tolist() == [
        from_datetime(to_datetime(t).replace(tzinfo=None), zone) for t in instants
    ]


@pytest.mark.parametrize(
    ("clock", "instant"),
    [
        ("2021-03-28 01:59:59", "2021-03-28 00:59:59"),
        ("2021-03-28 02:30:00", "2021-03-28 01:30:00"),
        ("2021-03-28 03:00:00", "2021-03-28 01:00:00"),
        ("2021-10-31 02:30:00", "2021-10-31 00:30:00"),
        ("2021-10-31 03:00:00", "2021-10-31 02:00:00"),
    ],
)
def test_both_sides_of_summer_time(clock: str, instant: str) -> None:
    given_ = np.array([from_datetime(datetime.fromisoformat(clock))], np.int64)
    expected = from_datetime(datetime.fromisoformat(instant))
    assert instants_of(given_, ZoneInfo("Europe/Berlin")).tolist() == [expected]


@pytest.mark.parametrize("zone", [UTC, timezone(timedelta(hours=2)), ZoneInfo("Europe/Berlin")])
def test_the_ends_of_the_calendar(zone) -> None:
    first = -62_135_596_800_000_000
    given_ = pa.array([first - 1, first + DAY, 253_402_300_800_000_000, None], pa.int64())
    _, failures = local_times(given_, zone)
    assert failures is not None
    assert failures.mask.tolist() == [True, False, True, False]
