"""The page about the verdict says what the compiler says."""

import re
from pathlib import Path

from analysed import World, rules
from ebbtide.errors import TemporalError

PAGE = Path(__file__).resolve().parents[3] / "docs" / "explanation" / "verdict.md"
BLOCK = re.compile(r"```(sql|text)[^\n]*\n(.*?)```", re.DOTALL)


def said(world: World, sql: str) -> list[str]:
    """What there is to say about a query: an error, the head of EXPLAIN, and the rules."""
    try:
        analysis = world.checked(sql)
    except TemporalError as error:
        return [str(error)]
    head, _, _ = world.explained(sql).text.partition("\n\n")
    return [head, "\n".join(rule.split(": ", 1)[1] for rule in rules(analysis))]


def test_every_block_is_true() -> None:
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    world = World(blocks[0][1])
    pairs = list(zip(blocks[1::2], blocks[2::2], strict=True))
    assert len(pairs) == 4
    for (language, sql), (_, text) in pairs:
        assert language == "sql"
        assert text.strip() in said(world, sql)
