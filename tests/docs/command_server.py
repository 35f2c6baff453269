"""One process for all the commands of a page, so that Spark's JVM starts once and not for each.

Law: a command says and answers what ``ebbtide`` would: it runs in the directory and with the
environment of whoever typed it, and writes to their standard output and error.  Between commands
nothing is left but the JVM: every run has a Spark of its own, which ends with it.

    server <socket>            answers commands until its standard input ends
    client <socket> <words>    hands a command over; what a page calls ``ebbtide``
"""

from __future__ import annotations

import array
import json
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_MOST = 1 << 20
_CLIENT = """\
import array, json, os, socket, sys
link = socket.socket(socket.AF_UNIX)
link.connect({path!r})
said = {{"words": sys.argv[1:], "directory": os.getcwd(), "environment": dict(os.environ)}}
files = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [1, 2]))]
link.sendmsg([json.dumps(said).encode()], files)
link.shutdown(socket.SHUT_WR)
sys.exit(int(link.recv(16)))
"""


@contextmanager
def commands_in_one_process(directory: Path, work: Path) -> Iterator[Path]:
    """A directory with a program ``ebbtide`` that hands commands over to one process, which works
    in a directory for all of them."""
    directory.mkdir()
    path, client = str(directory / "socket"), directory / "ebbtide"
    client.write_text(f"#!{sys.executable} -IS\n{_CLIENT.format(path=path)}", "utf-8")
    client.chmod(client.stat().st_mode | stat.S_IXUSR)
    server = subprocess.Popen(
        [sys.executable, __file__, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=work
    )
    try:
        assert server.stdout is not None
        assert server.stdout.readline() == b"ready\n"
        yield directory
    finally:
        server.communicate()


def serve(path: str) -> None:
    """Answers commands until the standard input ends."""
    import select

    from ebbtide.spark.session import start_spark

    # The JVM keeps the files and the directory that it starts with: those of no command.
    start_spark(log=os.devnull).stop()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen()
        print("ready", flush=True)  # noqa: T201
        while True:
            ready, _, _ = select.select([listening, sys.stdin], [], [])
            if sys.stdin in ready:
                return
            with listening.accept()[0] as link:
                link.send(str(answered(link)).encode())


def answered(link: socket.socket) -> int:
    """The exit code of a command, which has written to the files that came with it."""
    from ebbtide.cli.app import ebbtide
    from ebbtide.cli.error_display import told

    received, files = b"", array.array("i")
    while True:
        part, more, _, _ = link.recvmsg(_MOST, socket.CMSG_LEN(2 * files.itemsize))
        for _, _, passed in more:
            files.frombytes(passed)
        if not part:
            break
        received += part
    said = json.loads(received)
    os.chdir(said["directory"])
    os.environ.clear()
    os.environ.update(said["environment"])
    kept = [os.dup(1), os.dup(2)]
    try:
        for number, file in zip((1, 2), files, strict=True):
            os.dup2(file, number)
        return told(ebbtide, tuple(said["words"]))
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for number, file in zip((1, 2), kept, strict=True):
            os.dup2(file, number)
        for file in (*files, *kept):
            os.close(file)


if __name__ == "__main__":
    serve(sys.argv[1])
