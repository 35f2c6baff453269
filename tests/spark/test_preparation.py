"""``ebbtide doctor --prepare`` stores classes, and the next Spark takes them from there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from ebbtide.spark.class_archive import is_archive

PATIENCE = 600
"""Seconds for one command; it needs a tenth of them."""

START = "from ebbtide.spark.session import start_spark; start_spark(1, log={log!r}).stop()"
STORED = "source: shared objects file (top)"


def said(environment: dict[str, str], *arguments: str) -> str:
    """What a Python has to say that ends well, in time."""
    done = subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_spark_starts_from_the_classes_that_were_stored(tmp_path: Path) -> None:
    cache, loaded, log = tmp_path / "cache", tmp_path / "loaded", tmp_path / "log"
    place = {"EBBTIDE_CACHE": str(cache)}
    shown = said(place, "-m", "ebbtide.cli", "doctor", "--prepare")
    (archive,) = cache.iterdir()
    assert is_archive(str(archive))
    assert f"stored in {archive}" in shown
    tell = {"_JAVA_OPTIONS": f"-Xlog:class+load:file={loaded}"}
    said({**place, **tell}, "-c", START.format(log=str(log)))
    sources = loaded.read_text(encoding="utf-8").splitlines()
    stored = sum(STORED in line for line in sources)
    assert stored > len(sources) / 2
