"""The imports of Spark's Python workers, done while Spark starts.

Law: nothing depends on it.  What comes out is a process that Spark could have started itself, with
the same standard streams, environment, paths and arguments.

    driver ──starts──> nursery             imports what workers need, and waits
    JVM ─────starts──> worker_daemon ───>  the nursery forks a child, which takes its place
    JVM <═══════════════════════════════>  the child forks workers, as Spark asks for them

Imports take longer than all else that workers do until the first answer, and Spark asks for workers
in its first job.  So the driver begins with them when it begins to start Spark.  A nursery that is
gone, has failed, or differs in what a Python reads when it starts is not missed: then the daemon
imports by itself.  A nursery ends with its driver.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from functools import cache

from ebbtide.config import environment, replace_environment

__all__ = ["fork_with_imports", "hand_over", "start_nursery"]

_STREAMS = (0, 1, 2)
_LENGTH = struct.Struct("!Q")
_TAKEN = b"+"

_AS_SPARK_SETS = {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"}
"""What Spark sets for workers, and a process reads once, when it starts or imports."""


def start_nursery(python: str, more: Mapping[str, str]) -> str | None:
    """Starts a nursery of a Python, with more in its environment, and gives its address.

    This process has one of each kind.  None if none can be started.
    """
    return _start(python, tuple(sorted(more.items())))


@cache
def _start(python: str, more: tuple[tuple[str, str], ...]) -> str | None:
    directory = None
    try:
        directory = tempfile.mkdtemp(prefix="ebbtide-")  # nobody else can look into it
        address = os.path.join(directory, "workers")
        nursery = _launched(python, more, address)
    except OSError:
        if directory is not None:
            shutil.rmtree(directory, ignore_errors=True)
        return None
    atexit.register(_end, nursery, directory, os.getpid())
    return address


def _launched(
    python: str, more: tuple[tuple[str, str], ...], address: str
) -> subprocess.Popen[bytes]:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()  # who comes before the nursery is ready waits for it
        return subprocess.Popen(
            [python, "-m", __name__, os.path.dirname(address), str(listener.fileno())],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**_AS_SPARK_SETS, **environment(), **dict(more)},
            pass_fds=(listener.fileno(),),
            start_new_session=True,
        )


def _end(nursery: subprocess.Popen[bytes], directory: str, driver: int) -> None:
    if os.getpid() == driver:  # and no child that was forked from it
        nursery.kill()
        nursery.communicate()
        shutil.rmtree(directory, ignore_errors=True)


def hand_over(address: str) -> bool:
    """Has a nursery go on in the place of this process, and waits for the end of that; whether
    there was one that did."""
    told = {
        "environment": environment(),
        "path": sys.path,
        "arguments": sys.argv,
        "directory": os.getcwd(),
        "kind": _kind(),
    }
    text = json.dumps(told).encode()
    with suppress(OSError), socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address)
        socket.send_fds(connection, [_LENGTH.pack(len(text))], _STREAMS)
        connection.sendall(text)
        if connection.recv(1) == _TAKEN:
            with suppress(OSError):
                connection.recv(1)  # nothing comes: it returns when the other end is closed
            return True
    return False


def fork_with_imports() -> None:
    """Forks workers from this process, once it has imported what they need."""
    from ebbtide.spark.private import fork_workers

    _import()
    fork_workers()


def _import() -> None:
    import ebbtide.spark.worker_imports  # noqa: F401 - for the workers

    gc.collect()
    gc.freeze()  # what is here stays, so no worker has to copy it to find that out


def _kind() -> list[str | None]:
    """What must be equal of two processes for one to take the place of the other."""
    return [sys.version, sys.prefix, *map(environment().get, _AS_SPARK_SETS)]


def main(directory: str, listening: int) -> None:
    """Imports, and forks a child for each process that hands over, until the driver ends."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the children
    with socket.socket(fileno=listening) as listener:
        _import()
        while True:
            ready, _, _ = select.select([sys.stdin, listener], [], [])
            if sys.stdin in ready:  # nothing is ever said there: the driver has ended
                shutil.rmtree(directory, ignore_errors=True)
                return
            connection, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                _take_over(connection)
                return
            connection.close()


def _take_over(connection: socket.socket) -> None:
    """Goes on in the place of the process at the other end, which learns whether it does."""
    from ebbtide.spark.private import fork_workers

    head, streams, _, _ = socket.recv_fds(connection, _LENGTH.size, len(_STREAMS))
    with connection.makefile("rb") as file:
        told = json.loads(file.read(*_LENGTH.unpack(head)))
    if told["kind"] != _kind():
        return
    for stream, given in zip(_STREAMS, streams, strict=True):
        os.dup2(given, stream)
        os.close(given)
    replace_environment(told["environment"])
    sys.path[:], sys.argv[:] = told["path"], told["arguments"]
    os.chdir(told["directory"])
    connection.sendall(_TAKEN)
    fork_workers()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
