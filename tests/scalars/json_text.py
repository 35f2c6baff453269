"""JSON in text: what Spark has too, and what it has not."""

from ebbtide.core.json_path import DEEPEST
from scalars import Fails, cases, col, f

ORDER = (
    '{"id": 7, "who": {"name": "Ada", "age": null}, "lines": [{"sku": "a", "n": 2}, '
    '{"sku": "b", "n": 1.50}], "ok": true, "a b": "x y"}'
)
JSON_OF_WHO = '{"name":"Ada","age":null}'
DEEP = "[" * DEEPEST + "]" * DEEPEST

JSON_OF_SPARK = cases(
    (f("GET_JSON_OBJECT", ORDER, "$.id"), "7"),
    (f("GET_JSON_OBJECT", ORDER, "$.who.name"), "Ada"),
    (f("GET_JSON_OBJECT", ORDER, "$['who']['name']"), "Ada"),
    (f("GET_JSON_OBJECT", ORDER, "$.who.age"), None),
    (f("GET_JSON_OBJECT", ORDER, "$.lines[0]"), '{"sku":"a","n":2}'),
    (f("GET_JSON_OBJECT", ORDER, "$.lines[1].sku"), "b"),
    (f("GET_JSON_OBJECT", ORDER, "$.lines[2].sku"), None),
    (f("GET_JSON_OBJECT", ORDER, "$.ok"), "true"),
    (f("GET_JSON_OBJECT", ORDER, "$.missing"), None),
    (f("GET_JSON_OBJECT", '{"a": "say \\"hi\\"\\n"}', "$.a"), 'say "hi"\n'),
    (f("GET_JSON_OBJECT", '{"a": ["\\u00e9\\t"]}', "$.a"), '["é\\t"]'),
    (f("GET_JSON_OBJECT", "{", "$.a"), None),
    (f("GET_JSON_OBJECT", "", "$.a"), None),
    (f("GET_JSON_OBJECT", None, "$.a"), None),
    (f("GET_JSON_OBJECT", col("s"), "$"), "5"),
)

JSON_TEXT = cases(
    (f("GET_JSON_OBJECT", '{"a": ["\\u00e9\\ud83d\\ude00\\t"]}', "$.a"), '["é😀\\t"]'),
    (f("GET_JSON_OBJECT", ORDER, "$.lines[1].n"), "1.50"),
    (f("GET_JSON_OBJECT", '{"a": 1, "a": 2}', "$.a"), "2"),
    (f("GET_JSON_OBJECT", ORDER, f("CONCAT", "lines", col("s"))), Fails("bad-argument")),
    (f("GET_JSON_OBJECT", ORDER, f("CONCAT", "$", col("s"))), Fails("bad-argument")),
    (f("JSON_GET", ORDER, "who"), '{"name":"Ada","age":null}'),
    (f("JSON_GET", f("JSON_GET", ORDER, "lines"), 0), '{"sku":"a","n":2}'),
    (f("JSON_GET", f("JSON_GET", ORDER, "lines"), -1), '{"sku":"b","n":1.50}'),
    (f("JSON_GET", f("JSON_GET", ORDER, "lines"), 2), None),
    (f("JSON_GET", f("JSON_GET", ORDER, "lines"), "sku"), None),
    (f("JSON_GET", ORDER, 0), None),
    (f("JSON_GET", ORDER, "a b"), '"x y"'),
    (f("JSON_GET", f("JSON_GET", ORDER, "who"), "age"), "null"),
    (f("JSON_GET", "[1, 2", 0), None),
    (f("JSON_GET", "[1, 2] 3", 0), None),
    (f("JSON_GET", "[01]", 0), None),
    (f("JSON_GET", "[NaN]", 0), None),
    (f("JSON_GET", "[1.]", 0), None),
    (f("JSON_GET", '["\t"]', 0), None),
    (f("JSON_GET", " [ 1e400 , -0 ]\n", 0), "1e400"),
    (f("JSON_GET", DEEP, 0), DEEP[1:-1]),
    (f("JSON_GET", f"[{DEEP}]", 0), None),
    (f("JSON_GET", f'["{DEEP}{DEEP}"]', 0), f'"{DEEP}{DEEP}"'),
    (f("JSON_GET", '["\\ud800"]', 0), None),
    (f("JSON_GET", '["\\u0001\\u007f/"]', 0), '"\\u0001\x7f/"'),
    (f("JSON_GET_TEXT", ORDER, "a b"), "x y"),
    (f("JSON_GET_TEXT", f("JSON_GET", ORDER, "who"), "age"), None),
    (f("JSON_GET_TEXT", ORDER, "who"), '{"name":"Ada","age":null}'),
    (f("JSON_GET_TEXT", col("s"), "a"), None),
    (f("JSON_GET_TEXT", '{"5": 6}', col("s")), "6"),
    (f("JSON_GET_TEXT", ORDER, None), None),
    (f("JSON_VALUE", ORDER, "$.lines[1].n"), "1.50"),
    (f("JSON_VALUE", ORDER, "$.ok"), "true"),
    (f("JSON_VALUE", ORDER, "$.who"), None),
    (f("JSON_VALUE", ORDER, "$.who.age"), None),
    (f("JSON_VALUE", "7", "$"), "7"),
    (f("JSON_VALUE", "x", "$"), None),
    (f("JSON_QUERY", ORDER, "$.who"), '{"name":"Ada","age":null}'),
    (f("JSON_QUERY", ORDER, "$.id"), None),
    (f("JSON_QUERY", ORDER, "$.none"), None),
    (f("JSON_EXISTS", ORDER, "$.who.age"), True),
    (f("JSON_EXISTS", ORDER, "$.who.size"), False),
    (f("JSON_EXISTS", "{", "$"), False),
    (f("JSON_EXISTS", ORDER, col("s")), Fails("bad-argument")),
    (f("JSON_ITEMS", '["a", 1, null, {"b": 2}]'), ('"a"', "1", "null", '{"b":2}')),
    (f("JSON_ITEMS", "[]"), ()),
    (f("JSON_ITEMS", "{}"), None),
    (f("JSON_ITEMS_TEXT", '["a", 1, null, {"b": 2}]'), ("a", "1", None, '{"b":2}')),
    (f("FROM_JSON", ORDER, "id INT, ok BOOLEAN, who STRING"), (7, True, JSON_OF_WHO)),
)

STRUCTS = cases(
    (f("FROM_JSON", ORDER, "who STRUCT<name: STRING, age: INT>"), (("Ada", None),)),
    (f("FROM_JSON", ORDER, "id STRUCT<x: INT>, none STRUCT<x: INT>"), (None, None)),
    (
        f("FROM_JSON", ORDER, "lines ARRAY<STRING>"),
        (('{"sku":"a","n":2}', '{"sku":"b","n":1.50}'),),
    ),
    (f("FROM_JSON", "[1, 2]", "ARRAY<INT>"), (1, 2)),
    (f("FROM_JSON", '[1, "x"]', "ARRAY<INT>"), None),
    (f("FROM_JSON", "{", "a INT"), (None,)),
    (f("FROM_JSON", None, "a INT"), None),
    (f("FROM_JSON", '{"a": "x", "b": null}', "a INT, b STRUCT<c: INT>"), (None, None)),
)
