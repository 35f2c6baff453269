"""Every code block of the documentation does what its page says."""

import os
from pathlib import Path

import pytest

from docs import PAGES, ROOT, SHOWN, TRIED, Block, bind_sql, blocks, refusal, run_python, run_shell
from ebbtide.errors import BindError


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def with_blocks_of(language: str) -> list[Path]:
    return [page for page in PAGES if any(block.language == language for block in blocks(page))]


@pytest.mark.parametrize("page", with_blocks_of("python"), ids=name)
def test_python_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_python(page, {}, spark=False)


@pytest.mark.parametrize("page", with_blocks_of("sql"), ids=name)
def test_sql_is_understood(page: Path) -> None:
    bind_sql(page)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_block_says_what_it_is(page: Path) -> None:
    assert [str(b) for b in blocks(page) if b.language not in TRIED | SHOWN] == []


def test_a_block_that_should_fail_and_does_not_is_found() -> None:
    block = Block(ROOT / "x.md", 1, "sql", "", error="unknown-name")
    with pytest.raises(AssertionError, match="nothing was refused"), refusal(block):
        pass
    with refusal(block):
        raise BindError("unknown-name", "there is no x")
    with pytest.raises(AssertionError, match="other"), refusal(block):
        raise BindError("other", "it is something else")


def test_sessions_are_compared(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python\n>>> 1 + 1\n3\n```\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="Expected"):
        run_python(page, {}, spark=False)


def test_shells_are_compared(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```sh run\necho one\n```\n```text output\ntwo\n```\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="but it is\none"):
        run_shell(page, {"PATH": os.environ["PATH"]})
    page.write_text("```sh run\nfalse\n```\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="ended with 1"):
        run_shell(page, {"PATH": os.environ["PATH"]})
    page.write_text("```sh run exit=1\necho no >&2; false\n```\n```text output\nno\n```\n", "utf-8")
    run_shell(page, {"PATH": os.environ["PATH"]})
