"""The code blocks of the documentation, and how they are tried.

The info string after the fence says what a block is:

    python              runs; the blocks of a page share their names, in order
    python spark        the same, with `spark` at hand, where there is a JVM
    sql                 parses, binds and passes the compiler; the blocks of a page share a catalog
    ... error=code      is refused with that code
    sh run              runs in a shell, in the directory of its page, where there is a JVM
    ... exit=2          ends with that code
    text output         is what the last of these said: on its error stream if it was to fail
    text, sh, json      is shown, not tried; so is a block without an info string

A python block with prompts is a session: what it shows must be what comes out.  In what is shown,
white space is white space, and three dots stand for anything.
"""

import doctest
import re
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ebbtide.algebra.aggregates import AGGREGATES
from ebbtide.analysis import check
from ebbtide.core.declaration import StreamDeclaration
from ebbtide.core.time import instant
from ebbtide.errors import EbbtideError
from ebbtide.optimizer import prepared
from ebbtide.reference import evaluate
from ebbtide.sql import parse
from ebbtide.sql.binder import bind
from ebbtide.sql.binding.insertion import inserted
from ebbtide.sql.bound import BoundExplain, BoundInsert, BoundQuery, Declared
from ebbtide.sql.catalog import Catalog

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])

TRIED = {"python", "sql"}
SHOWN = {"", "text", "sh", "json"}

_FENCE = re.compile(r"^( *)```(?P<info>[^\n]*)\n(?P<text>.*?)^ *```$", re.MULTILINE | re.DOTALL)
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Block:
    """A block of code: where it stands, in which language, and what is to become of it."""

    page: Path
    line: int
    language: str
    text: str
    spark: bool = False
    error: str | None = None
    run: bool = False
    code: int = 0
    output: bool = False

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"


def blocks(page: Path) -> list[Block]:
    """The blocks of a page, in order."""
    source = page.read_text(encoding="utf-8")
    found = []
    for fence in _FENCE.finditer(source):
        language, *marks = fence["info"].split() or [""]
        values = dict(mark.partition("=")[::2] for mark in marks)
        line = source.count("\n", 0, fence.start()) + 1
        unknown = values.keys() - {"spark", "error", "run", "exit", "output"}
        assert not unknown, f"{page.name}:{line} is marked {unknown}"
        found.append(
            Block(
                page,
                line,
                language,
                fence["text"],
                spark="spark" in values,
                error=values.get("error"),
                run="run" in values,
                code=int(values.get("exit", 0)),
                output="output" in values,
            )
        )
    return found


def run_python(page: Path, names: dict[str, Any], *, spark: bool) -> None:
    """Runs the Python of a page; what needs Spark only where it is there.

    Aggregates that the page adds to the library are there for the page alone.
    """
    library = dict(AGGREGATES)
    try:
        for block in blocks(page):
            if block.language == "python" and (spark or not block.spark):
                with refusal(block):
                    _run(block, names)
    finally:
        for name in AGGREGATES.keys() - library.keys():
            del AGGREGATES[name]


def run_shell(page: Path, environment: dict[str, str]) -> None:
    """Runs the commands of a page, one block after the other, and compares what they say."""
    said = ""
    for block in blocks(page):
        if block.run:
            done = subprocess.run(
                ["bash", "-e", "-c", block.text],
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            told = f"{block} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
            assert done.returncode == block.code, told
            said = done.stderr if block.code else done.stdout
        elif block.output:
            same = doctest.OutputChecker().check_output(block.text, said, _FLAGS)
            assert same, f"{block} shows\n{block.text}\nbut it is\n{said}"


def bind_sql(page: Path) -> None:
    """Puts the SQL of a page through the compiler; what is to be refused changes nothing."""
    catalog = Catalog()
    for block in blocks(page):
        if block.language == "sql":
            with refusal(block):
                catalog = _bound(block, catalog)


class refusal:
    """Fails unless the block inside is refused with its code, or with none if it has none."""

    def __init__(self, block: Block) -> None:
        self.block = block

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> bool:
        code = error.code if isinstance(error, EbbtideError) else None
        if error is not None and code is None:
            return False
        assert code == self.block.error, f"{self.block}: {error or 'nothing was refused'}"
        return True


def sections(page: Path) -> dict[str, list[Block]]:
    """The blocks under each heading of the third level, whose text may be in backquotes."""
    found: dict[str, list[Block]] = {}
    lines = page.read_text(encoding="utf-8").splitlines()
    heads = [(n, line[4:].strip("` ")) for n, line in enumerate(lines, 1) if line[:4] == "### "]
    for (start, name), (end, _) in zip(heads, [*heads[1:], (len(lines) + 1, "")], strict=True):
        found[name] = [block for block in blocks(page) if start < block.line < end]
    return found


def _run(block: Block, names: dict[str, Any]) -> None:
    if ">>> " not in block.text:
        padded = "\n" * block.line + block.text
        exec(compile(padded, str(block.page), "exec"), names)
        return
    session = doctest.DocTestParser().get_doctest(
        block.text, names, str(block), str(block.page), block.line
    )
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=_FLAGS)
    runner.run(session, out=said.append, clear_globs=False)
    names.update(session.globs)
    assert not runner.failures, "".join(said)


def _bound(block: Block, catalog: Catalog) -> Catalog:
    for statement in parse(block.text):
        bound = bind(statement, catalog)
        if isinstance(bound, Declared):
            catalog = bound.catalog
        for query in _queries([bound]):
            runs = prepared(query.plan, query.on_error).plan
            check(runs, query.emit, query.allow_unbounded, expiry=query.expiry)
            if block.error is not None:
                # What only data can show: there are none but those that the query itself has.
                list(evaluate(query.plan, {}, instant(0), query.on_error))
        if isinstance(bound, BoundInsert) and isinstance(bound.target, StreamDeclaration):
            catalog = inserted(bound.target, bound.query, catalog)
    return catalog


def _queries(bound: Iterable[Any]) -> Iterator[BoundQuery]:
    for one in bound:
        if isinstance(one, BoundQuery):
            yield one
        elif isinstance(one, BoundInsert | BoundExplain):
            yield one.query
