"""An instant that has no ISO text is written in microseconds, and has to be read back."""

import pytest

from ebbtide.core.time import format_instant, instant


@pytest.mark.parametrize("t", [-62135596800000001, -62135596800000000, 2**62, 0])
def test_what_is_written_is_read(t: int) -> None:
    assert instant(format_instant(t)) == t
