"""The statements of this directory, for the tests that go through all of them."""

import re
from dataclasses import dataclass
from pathlib import Path

from ebbtide.bench.nexmark import queries

ROOT = Path(__file__).resolve().parent
NEXMARK_QUERIES = tuple(sorted(f"nexmark/q{number}.sql" for number in queries.NUMBERS))
NEXMARK_SCRIPT = ("nexmark/schema.sql", *NEXMARK_QUERIES)
"""The files of Nexmark, which are part of the benchmark."""

_FIELD = re.compile(r"-- (code|span|hint):(?: (.*))?")


@dataclass(frozen=True)
class BadStatement:
    """A statement that is refused, and how."""

    text: str
    code: str
    span: str
    hint: str | None

    def __str__(self) -> str:
        return self.text


def statements(*names: str) -> list[str]:
    """The statements of some files, without comments between them and semicolons."""
    return [
        statement
        for name in names
        for block in _path(name).read_text(encoding="utf-8").split("\n\n")
        if (statement := _without_remarks(block).removesuffix(";"))
    ]


def good_statements() -> list[str]:
    """Every statement that has to be accepted."""
    return statements("schema.sql", "statements.sql", "papers.sql", "plain.sql", *NEXMARK_SCRIPT)


def bad_statements(name: str) -> list[BadStatement]:
    """The statements of a file of refused ones."""
    blocks = (ROOT / "bad_statements" / name).read_text(encoding="utf-8").strip().split("\n\n")
    found = []
    for block in blocks:
        lines = block.split("\n")
        fields = {m[1]: m[2] or "" for line in lines if (m := _FIELD.fullmatch(line))}
        if fields:
            text = "\n".join(line for line in lines if not _FIELD.fullmatch(line))
            found.append(
                BadStatement(
                    text.removesuffix(";"), fields["code"], fields["span"], fields.get("hint")
                )
            )
    return found


def _path(name: str) -> Path:
    folder, _, file = name.rpartition("/")
    return queries.HERE / "sql" / file if folder == "nexmark" else ROOT / name


def _without_remarks(block: str) -> str:
    return "\n".join(line for line in block.split("\n") if not line.startswith("--")).strip()
