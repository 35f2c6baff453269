"""The site of the documentation builds, and nothing in it is broken."""

import os
import subprocess
import sys
from pathlib import Path

from docs import PAGES, ROOT


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    pages = [page.relative_to(ROOT / "docs") for page in PAGES if ROOT / "docs" in page.parents]
    assert [p for p in pages if not (tmp_path / p.with_suffix(".html")).exists()] == []
    fetched = [
        path.name
        for path in tmp_path.rglob("*.html")
        if "fonts.googleapis" in path.read_text(encoding="utf-8")
    ]
    assert fetched == []
