"""Long runs that can be ended early, by Ctrl-C or a signal, and then say what they have found."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def until_ended() -> Iterator[None]:
    """Ends what is inside at an interruption, in silence; what it has counted so far stays."""
    before = {
        number: signal.signal(number, signal.default_int_handler)
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        with suppress(KeyboardInterrupt):
            yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
