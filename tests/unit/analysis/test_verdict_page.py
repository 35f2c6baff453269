"""The page about the verdict says what the compiler says."""

import re
from pathlib import Path

from analysed import World, rules
from ebbtide.errors import TemporalError

PAGE = Path(__file__).resolve().parents[3] / "docs" / "explanation" / "verdict.md"
BLOCK = re.compile(r"```(sql|text)[^\n]*\n(.*?)```", re.DOTALL)


def said(world: World, sql: str) -> list[str]:
    """What there is to say about a query: an error, or the head of EXPLAIN, rules, and stores."""
    try:
        analysis = world.checked(sql)
    except TemporalError as error:
        return [str(error)]
    head, _, nodes = world.explained(sql).theory.partition("\n\n")
    lines = [line.strip() for line in nodes.splitlines()]
    of_stores = ("stores", "finds", "held     f", "held     b")
    stored = [line for line in lines if line.startswith(of_stores)]
    kept = [rule.split(": ", 1)[1] for rule in rules(analysis)]
    return [head, "\n".join(kept), "\n".join(stored)]


def test_every_block_is_true() -> None:
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    declared = [block for block in blocks if block[1].startswith("CREATE")]
    world = World("\n".join(sql for _, sql in declared if "INSERT" not in sql))
    others = [block for block in blocks if block not in declared]
    pairs = list(zip(others[::2], others[1::2], strict=True))
    assert len(pairs) == 6
    for (language, sql), (_, text) in pairs:
        assert language == "sql"
        assert text.strip() in said(world, sql)
