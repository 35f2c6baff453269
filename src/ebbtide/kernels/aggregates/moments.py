"""From columns to the values that accumulators add up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from ebbtide.kernels.aggregates.accumulation import Kind, Moment, Values
from ebbtide.kernels.aggregates.call import is_true
from ebbtide.state.columns import column, decimal_words, fixed, present


def values_of(table: Any, moments: tuple[Moment, ...]) -> Values:
    """The values of all rows for each moment."""
    shape = (len(moments), table.num_rows)
    result = Values(
        np.ones(shape, np.bool_),
        np.zeros(shape, np.uint64),
        np.zeros(shape, np.uint64),
        np.zeros(shape, np.float64),
    )
    for place, moment in enumerate(moments):
        for index in moment.arguments:
            valid = present(column(table, index))
            if valid is not None:
                result.present[place] &= valid
        if moment.filter is not None:
            result.present[place] &= is_true(column(table, moment.filter))
        if moment.kind is Kind.COUNT:
            continue
        array = column(table, moment.arguments[0])
        if moment.kind is Kind.REAL:
            result.real[place] = fixed(array)
        elif pa.types.is_decimal128(array.type):
            high, low = decimal_words(array)
            result.low[place], result.high[place] = low.view(np.uint64), high.view(np.uint64)
        else:
            numbers = fixed(array).astype(np.int64)
            result.low[place] = numbers.view(np.uint64)
            result.high[place] = (numbers >> 63).view(np.uint64)
    return result
