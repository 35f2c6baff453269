"""``ebbtide state`` and EXPLAIN name the same stores and operators, with the same rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from corpus import NEXMARK_SCRIPT, statements
from ebbtide.analysis import Analysis, analyse
from ebbtide.analysis.explain import explained
from ebbtide.compile.lowering import lower
from ebbtide.engine.state_report import INPUTS, areas_of, rule_text
from ebbtide.errors import UnsupportedError
from ebbtide.optimizer import prepared
from ebbtide.sql import parse
from ebbtide.sql.binder import bind
from ebbtide.sql.bound import BoundQuery, Declared
from ebbtide.sql.catalog import Catalog

SCRIPTS = [
    ("schema.sql", "statements.sql"),
    ("papers.sql",),
    ("plain.sql",),
    NEXMARK_SCRIPT,
]


def analyses() -> Iterator[Analysis]:
    """What is proved about the queries of the corpus."""
    for script in SCRIPTS:
        catalog = Catalog()
        for text in statements(*script):
            match bind(parse(text)[0], catalog):
                case Declared(catalog=later):
                    catalog = later
                case BoundQuery() as query:
                    yield analyse(prepared(query.plan, query.on_error).plan, query.emit)
                case _:
                    pass


def by_id(node: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What EXPLAIN says about every operator."""
    found = {node["id"]: node}
    for child in node["inputs"]:
        found |= by_id(child)
    return found


def test_state_says_what_explain_says() -> None:
    compared = set()
    for analysis in analyses():
        try:
            lowered = lower({"q": analysis})
        except UnsupportedError:
            continue
        said = by_id(explained(analysis).document["plan"])
        for operator in lowered.physical.operators:
            node = lowered.nodes.get(operator.name)
            for layout in areas_of(operator):
                text = rule_text(operator, node, layout.name, lowered.declarations)
                if node is None:
                    assert text.startswith("keep while"), text
                    continue
                stores = {s["input"]: s["keep"] for s in said[node.id]["stores"]}
                if layout.name in INPUTS:
                    assert text == stores.get(INPUTS[layout.name], "keep nothing")
                elif layout.name == "output":
                    assert text == said[node.id]["emitted"]
                compared.add(layout.name)
    assert {"left", "right", "input", "output", "facts", "accumulators"} <= compared
