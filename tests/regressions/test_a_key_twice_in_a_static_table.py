"""A static table in which a key stands twice: the first row counts, the other is unused."""

from pathlib import Path

from ebbtide import Engine


def test_the_second_row_of_a_key_is_unused(tmp_path: Path) -> None:
    engine = Engine(tmp_path, transport="local")
    engine.execute("CREATE TABLE shops (id BIGINT, name STRING, PRIMARY KEY (id))")
    query = engine.query("SELECT id, name FROM shops", "q")
    run = query.start()
    engine.feed("shops", [(1, "first"), (1, "second"), (2, "other")])
    engine.step()
    assert sorted(query.snapshot().to_pylist(), key=str) == [
        {"id": 1, "name": "first"},
        {"id": 2, "name": "other"},
    ]
    run.stop()
