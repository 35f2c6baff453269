"""The one declaration of what is said about rows that count for nothing."""

import ast
import json
from pathlib import Path

import pytest

from ebbtide.core.admission import SHOWN_COLUMNS, UNUSED_COLUMNS, UnusedRow

SOURCES = Path(__file__).resolve().parents[3] / "src/ebbtide"
READERS = ("store/readers.py", "spark/answers.py", "local/host.py", "cli/late.py")


def test_values_stand_in_the_order_of_the_columns() -> None:
    row = UnusedRow(source="s", reason="late", row="{}", op=None)
    assert dict(zip(UNUSED_COLUMNS, row.values, strict=True)) == {
        "source": "s",
        "reason": "late",
        "row": "{}",
        "op": None,
    }
    assert json.loads(row.json) == ["s", "late", "{}", None]
    assert dict(zip(SHOWN_COLUMNS, row.shown, strict=True)) == {
        "reason": "late",
        "row": "{}",
        "op": None,
    }


@pytest.mark.parametrize("path", READERS)
def test_a_reader_names_no_column_of_its_own(path: str) -> None:
    tree = ast.parse((SOURCES / path).read_text(encoding="utf-8"))
    texts = {str(node.value) for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    assert not texts & {"reason", "op"}
