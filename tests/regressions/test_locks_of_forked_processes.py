"""A process that was forked during a run held its program for as long as it lived."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest

from ebbtide.errors import StateError
from ebbtide.store.lock import Claim


def test_the_lock_is_of_the_process_that_took_it(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    claim, done, dropped = Claim(str(tmp_path), "p"), context.Event(), context.Event()

    def lives_on() -> None:
        claim.release()
        dropped.set()
        done.wait(60)

    forked = context.Process(target=lives_on)
    waiting = context.Process(target=done.wait, args=(60,))
    forked.start()
    waiting.start()
    try:
        assert dropped.wait(60)
        with pytest.raises(StateError) as caught:
            Claim(str(tmp_path), "p")
        assert caught.value.code == "state-in-use"
        claim.release()
        Claim(str(tmp_path), "p").release()
    finally:
        done.set()
        forked.join()
        waiting.join()
