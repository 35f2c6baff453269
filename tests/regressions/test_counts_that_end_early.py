"""Equal rows that are merged into counts are split where one begins; what ends then is let go.

+1 |---------)         +1 |---)
+1     |-----)    ->   +2     |-----)
       ^ the rule keeps what ends later
"""

import pyarrow as pa

from ebbtide.core.change import Change
from ebbtide.core.time import INF
from ebbtide.core.types import BIGINT
from ebbtide.state.batch import batch_schema, from_changes, key_hash, to_changes
from ebbtide.state.keep import After, Keep
from ebbtide.state.layout import Endless, Layout
from ebbtide.state.search import HASH
from ebbtide.state.segment import ENDS
from ebbtide.state.types import arrow_type
from ebbtide.state.writing import merged


def test_what_ends_where_a_count_changes_is_not_written_again() -> None:
    schema = batch_schema([arrow_type(BIGINT)])
    layout = Layout("input", schema, (0,), endless=Endless.COUNTED)
    rows = from_changes([Change((1,), 4, 7), Change((1,), 5, 7), Change((2,), 3, INF)], schema)
    stored = rows.append_column(HASH, pa.array(key_hash(rows, (0,))))
    keep = Keep(((After(ENDS, 5),),), begun=5)
    changes, _ = merged(layout, stored, keep, whole=True)
    assert sorted(to_changes(changes), key=str) == [Change((1,), 5, 7, 2), Change((2,), 5, INF)]
