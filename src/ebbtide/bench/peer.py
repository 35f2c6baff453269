"""A peer beside us: a process of its own, asked line by line, one answer for each."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from ebbtide.errors import InternalError


class Peer:
    """A process that runs what it is asked to."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def ask(self, *request: Any) -> Any:
        """Its answer."""
        told, heard = self.process.stdin, self.process.stdout
        assert told is not None
        assert heard is not None
        told.write(json.dumps(request) + "\n")
        told.flush()
        answer = heard.readline()
        if not answer:
            raise InternalError("peer-ended", f"a peer has ended at {request[0]}")
        return json.loads(answer)


@contextmanager
def peer_of(command: list[str], log: TextIO) -> Iterator[Peer]:
    """The peer that a command starts; what it says otherwise goes to the log."""
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=log, text=True) as process:
        try:
            yield Peer(process)
        finally:
            if process.stdin is not None:
                process.stdin.close()
            process.wait(timeout=60)
