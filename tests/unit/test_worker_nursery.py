"""A daemon of workers whose place a child of the nursery takes, and one that has to go without."""

import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ebbtide.config import NURSERY
from ebbtide.spark.worker_nursery import start_nursery

SPARKS = {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"}
PATIENCE = 120


@pytest.fixture(scope="module")
def address() -> str:
    found = start_nursery(sys.executable, SPARKS)
    assert found is not None
    return found


@contextmanager
def daemon(address: str, **more: str) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A daemon as Spark starts one, and the socket at which it forks workers."""
    with tempfile.TemporaryDirectory() as sockets:
        process = subprocess.Popen(
            [sys.executable, "-m", "ebbtide.spark.worker_daemon", "pyspark.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={
                **os.environ,
                **SPARKS,
                NURSERY: address,
                "PYTHON_UNIX_DOMAIN_ENABLED": "true",
                "PYTHON_WORKER_FACTORY_SOCK_DIR": sockets,
                **more,
            },
        )
        assert process.stdout is not None
        try:
            (length,) = struct.unpack("!i", process.stdout.read(4))
            path = process.stdout.read(length).decode()
            assert os.path.dirname(path) == sockets
            yield process, path
            process.communicate(timeout=PATIENCE)  # so Spark has it end
            assert not os.path.exists(path)
        finally:
            process.kill()
            process.communicate()


def parent_of_worker(path: str) -> str:
    """The command that a worker was forked from."""
    with socket.socket(socket.AF_UNIX) as asked:
        asked.connect(path)
        (worker,) = struct.unpack("!i", asked.recv(4))
        (parent,) = (
            line.split()[1]
            for line in Path(f"/proc/{worker}/status").read_text("utf-8").splitlines()
            if line.startswith("PPid:")
        )
        command = Path(f"/proc/{parent}/cmdline").read_bytes()
    return command.replace(b"\0", b" ").decode()


def test_a_child_of_the_nursery_takes_the_daemons_place(address: str) -> None:
    with daemon(address) as (process, path):
        command = parent_of_worker(path)
        assert "-m ebbtide.spark.worker_nursery" in command
        assert process.poll() is None  # Spark looks whether it is still there


def test_one_nursery_serves_several_daemons(address: str) -> None:
    assert start_nursery(sys.executable, SPARKS) == address
    with daemon(address) as (_, first), daemon(address) as (_, second):
        for path in (first, second):
            command = parent_of_worker(path)
            assert "-m ebbtide.spark.worker_nursery" in command


@pytest.mark.parametrize("seed", ["0", "7"])
def test_a_daemon_without_a_nursery_of_its_kind_imports_by_itself(address: str, seed: str) -> None:
    where = address if seed == "7" else f"{address}-is-not-there"
    with daemon(where, PYTHONHASHSEED=seed) as (_, path):
        command = parent_of_worker(path)
        assert "-m ebbtide.spark.worker_daemon pyspark.worker" in command


def test_a_nursery_ends_with_its_driver_and_not_with_a_child_of_it() -> None:
    text = f"""
import os, sys
from ebbtide.spark.worker_nursery import start_nursery
address = start_nursery(sys.executable, {SPARKS})
if os.fork() == 0:
    sys.exit()
os.wait()
print(address, flush=True)
sys.stdin.read()
"""
    driver = subprocess.Popen(
        [sys.executable, "-c", text], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert driver.stdout is not None
    address = driver.stdout.readline().strip()
    with daemon(address) as (_, path):
        assert "-m ebbtide.spark.worker_nursery" in parent_of_worker(path)
    driver.send_signal(signal.SIGKILL)
    driver.communicate()
    deadline = time.monotonic() + PATIENCE
    while os.path.exists(os.path.dirname(address)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not os.path.exists(os.path.dirname(address))


def test_without_a_place_for_its_socket_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / ("deep" * 30)  # a socket's path has at most a hundred letters or so
    deep.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    assert start_nursery(sys.executable, {"NAME": "another nursery"}) is None
    assert not list(deep.iterdir())
    assert start_nursery(str(tmp_path / "no-python"), {}) is None
