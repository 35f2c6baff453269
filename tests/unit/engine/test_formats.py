"""Formats of files: each is a module, and what is none is refused when it is declared."""

from pathlib import Path

import pytest

from ebbtide import Engine
from ebbtide.errors import EbbtideError
from ebbtide.spark import sources
from ebbtide.spark.sources import formats, source_of


def test_a_module_is_a_format() -> None:
    assert formats() == ("csv", "json", "parquet", "text", "xml")
    for word in formats():
        assert source_of(word).word == word
        assert "maxFilesPerTrigger" in source_of(word).options


def test_a_new_file_is_a_new_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lines.py").write_text(
        "class Lines:\n    word = 'lines'\n    options = frozenset({'limit'})\n", encoding="utf-8"
    )
    monkeypatch.setattr(sources, "__path__", [*sources.__path__, str(tmp_path)])
    engine = Engine(tmp_path / "state")
    engine.execute("CREATE TABLE t (a INT) FROM FILES 'x' FORMAT lines OPTIONS (LIMIT '1')")
    with pytest.raises(EbbtideError, match=r"did you mean limit\?"):
        engine.execute("CREATE TABLE u (a INT) FROM FILES 'x' FORMAT lines OPTIONS (limits '1')")


@pytest.mark.parametrize(
    ("clause", "code", "span", "hint"),
    [
        ("FORMAT orc", "unknown-format", "orc", "the formats are csv, json, parquet, text, xml"),
        ("FORMAT sources", "unknown-format", "sources", None),
        (
            "FORMAT csv OPTIONS (headers 'true')",
            "unknown-option",
            "FROM FILES 'x' FORMAT csv OPTIONS (headers 'true')",
            "did you mean header?",
        ),
        ("FORMAT json OPTIONS (mode 'DROPMALFORMED')", "unknown-option", None, None),
    ],
)
def test_what_is_no_format_is_refused(
    tmp_path: Path, clause: str, code: str, span: str | None, hint: str | None
) -> None:
    engine = Engine(tmp_path)
    with pytest.raises(EbbtideError) as caught:
        engine.execute(f"CREATE STREAM s (a INT) FROM FILES 'x' {clause}")
    assert caught.value.code == code
    assert caught.value.span is not None
    assert span is None or caught.value.span.text == span
    assert hint is None or caught.value.hint == hint
    assert engine.execute("SHOW STREAMS") == [[]]
