"""The statements of this directory, for the tests that go through all of them."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent

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
        for block in (ROOT / name).read_text(encoding="utf-8").split("\n\n")
        if (statement := _without_remarks(block).removesuffix(";"))
    ]


def good_statements() -> list[str]:
    """Every statement that has to be accepted."""
    nexmark = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("nexmark/*.sql"))
    return statements("schema.sql", "statements.sql", "papers.sql", "plain.sql", *nexmark)


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


def _without_remarks(block: str) -> str:
    return "\n".join(line for line in block.split("\n") if not line.startswith("--")).strip()
