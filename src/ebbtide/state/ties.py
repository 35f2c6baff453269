"""The order of rows that agree in what they are sorted by.

Law: it depends on the rows alone, not on the order in which they came.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from ebbtide.state.arrays import Ints, Mask, differs, order_by
from ebbtide.state.columns import is_text
from ebbtide.state.hashing import key_hash

_SPARED = 44
"""So many of a hash's bits do without the first comparison of rows."""


def broken(changes: Any, order: Ints, begins: Mask) -> Ints:
    """The order, with rows that agree by a hash of all of them; ``begins`` says which differ from
    the one before, and both are used up.

    Texts take longest and seldom decide, so what else there is in the rows comes first, with few
    bits, which sort faster.
    """
    whole = range(changes.num_columns)
    brief = [i for i in whole if not is_text(changes.schema.field(i).type)]
    for columns, spared in ((brief, _SPARED), (whole, 0)):
        tied = ~begins
        tied[:-1] |= ~begins[1:]
        places = np.flatnonzero(tied)
        if not len(places):
            break
        rows = changes.select(columns).take(pa.array(order[places]))
        rest = (key_hash(rows, range(len(columns))) >> np.uint64(spared)).view(np.int64)
        runs = np.cumsum(begins, dtype=np.int64)[places]
        inside = order_by(runs, rest)
        order[places] = order[places][inside]
        begins[places] = differs([runs, rest[inside]])
    return order
