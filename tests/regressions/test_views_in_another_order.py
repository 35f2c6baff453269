"""A program whose views were started in another order had their answers exchanged.

The script in its directory has the order of the last start, and ``program.json`` had that of the
first: who read a view from the directory alone read it by the plan of another.
"""

from __future__ import annotations

from pathlib import Path

from ebbtide import Engine
from ebbtide.engine.location import Location


def test_the_script_and_the_names_go_together(tmp_path: Path) -> None:
    for names in (("a", "b"), ("b", "a")):
        engine = Engine(tmp_path, transport="local")
        engine.execute("CREATE STREAM s (k BIGINT, at TIMESTAMP, PROGRESS FOR at AS at)")
        texts = {"a": "SELECT k FROM s [NOW]", "b": "SELECT at FROM s [NOW]"}
        engine.start(*(engine.query(texts[name], name) for name in names), name="p")
        engine.stop()
        for name, column in (("a", "k"), ("b", "at")):
            assert Location(str(tmp_path)).query(name).bound.schema.names == (column,)
