"""The site of the documentation builds, and nothing in it is broken."""

import os
import subprocess
import sys
from pathlib import Path

from docs import PAGES, ROOT
from docs.scripts import script


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
    home = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert 'data-md-color-scheme="slate"' in home
    assert 'src="explanation/drawings/home.svg"' in home
    language = (tmp_path / "reference/language.html").read_text(encoding="utf-8")
    assert '<span class="k">PROGRESS</span>' in language


def test_the_words_of_the_language_are_coloured() -> None:
    lexer = script("site_hooks").EbbtideLexer()
    text = "CREATE STREAM s (at TIMESTAMP, PROGRESS FOR at AS at) RETAIN 1 DAY"
    words = {value: str(token) for token, value in lexer.get_tokens(text)}
    for word in ("STREAM", "PROGRESS", "RETAIN", "DAY"):
        assert words[word] == "Token.Keyword"
    assert words["TIMESTAMP"] == "Token.Keyword.Type"
    assert words["at"] == "Token.Name"
