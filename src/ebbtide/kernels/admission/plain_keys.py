"""Keys whose operations need no ledger, all of them at once.

Law: for the keys that are chosen here, what is emitted and what is kept is what the ledgers of
``ebbtide.core.admission`` would say.  They are those with nothing to be resolved:

- of a stream, keys with one operation, an insert: it is a fact, and stays open until the horizon
  has passed it;
- of a table, keys with upserts and ends alone, in which every end follows the upsert of a version
  that is still valid; of a bag none.

    upsert a, upsert b, end       a ├────┤
                                  b      ├────────┤
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ebbtide.core.admission import Op
from ebbtide.core.declaration import Declaration, TableDeclaration
from ebbtide.core.frontier import InputFrontier
from ebbtide.core.time import INF, NEG_INF
from ebbtide.state.arrays import Hashes, Ints, Mask, differs
from ebbtide.state.batch import DIFF, batch_schema, codes, net, row_types
from ebbtide.state.columns import all_ranks, column, fixed, ints


@dataclass(frozen=True, slots=True)
class Plain:
    """Which operations belong to plain keys, which of those are kept, and what they emit.

    The masks are over the stored operations and then the new ones; ``emitted`` has the columns of
    the declared rows.
    """

    chosen: Mask
    kept: Mask
    emitted: Any


def plain_keys(
    declaration: Declaration,
    operations: Any,
    stored: int,
    after: InputFrontier,
    hashes: Hashes | None = None,
) -> Plain:
    """What becomes of the plain keys; the first ``stored`` operations were there before.

    ``hashes`` are those of the keys, where they are known.
    """
    new: Mask = np.arange(operations.num_rows) >= stored
    schema = declaration.schema
    keys = [schema.position(name) for name in declaration.key]
    rows = _Rows(declaration, operations, codes(operations, keys, hashes).ids)
    if isinstance(declaration, TableDeclaration) and declaration.bag:
        nobody = np.zeros(operations.num_rows, np.bool_)
        return Plain(nobody, nobody, rows.told(*_NOTHING))
    if isinstance(declaration, TableDeclaration) and not declaration.static:
        return _versions(declaration, rows, new, after)
    return _facts(rows, new, after)


_NOTHING = tuple(np.zeros(0, np.int64) for _ in range(4))


def ends_by_itself(declaration: Declaration) -> TypeGuard[TableDeclaration]:
    """Whether versions have ends of their own, so that what is stored of them goes by itself."""
    bounded = declaration.lifetime_us is not None or declaration.until is not None
    return isinstance(declaration, TableDeclaration) and bounded


def stored_times(
    declaration: Declaration, operations: Any, frontier: InputFrontier
) -> tuple[Ints, Ints]:
    """From when until when operations are stored: until the horizon passes them; a version that
    ends by itself from then until its end, so that both are noticed."""
    settled: Ints = np.full(operations.num_rows, INF, np.int64)
    for line in frontier.settling:
        place = declaration.schema.position(line.attribute)
        settled = np.minimum(settled, fixed(column(operations, place)))
    begins: Ints = np.full(len(settled), NEG_INF, np.int64)
    if not ends_by_itself(declaration) or declaration.time is None:
        return begins, settled
    rows = _Rows(declaration, operations, begins)
    limits = _limits(declaration, rows, rows.times(declaration.time))
    bounded = rows.are(Op.UPSERT) & (settled < INF)
    ends = np.maximum(limits, np.minimum(settled, INF - 1) + 1)
    return np.where(bounded, settled, begins), np.where(bounded, ends, settled)


@dataclass(frozen=True, slots=True)
class _Rows:
    declaration: Declaration
    operations: Any
    ids: Ints

    def times(self, attribute: str) -> Ints:
        return fixed(column(self.operations, self.declaration.schema.position(attribute)))

    def bounds(self, attribute: str) -> Ints:
        """Times of which one that is not there is no bound."""
        times = column(self.operations, self.declaration.schema.position(attribute))
        return fixed(pc.fill_null(times, INF))

    def are(self, op: Op) -> Mask:
        words = column(self.operations, len(self.declaration.schema))
        return np.asarray(pc.equal(words, op.value).to_numpy(zero_copy_only=False), np.bool_)

    def without(self, odd: Mask) -> Mask:
        """The rows of keys that have no odd one; a row that counts twice is odd, too."""
        odd = odd | (ints(self.operations, DIFF) != 1)
        spoilt = np.zeros(int(self.ids.max(initial=-1)) + 1, np.bool_)
        spoilt[self.ids[odd]] = True
        return ~spoilt[self.ids]

    def told(self, places: Ints, valid_from: Ints, valid_to: Ints, diff: Ints) -> Any:
        """The declared rows of some operations, as changes."""
        schema = self.declaration.schema
        chosen = [schema.index(c) for c in self.declaration.row_schema]
        types = row_types(self.operations.schema)
        taken = [column(self.operations, i).take(pa.array(places)) for i in chosen]
        times = [pa.array(values) for values in (valid_from, valid_to, diff)]
        return pa.Table.from_arrays(
            [*taken, *times], schema=batch_schema([types[i] for i in chosen])
        )


def _facts(rows: _Rows, new: Mask, after: InputFrontier) -> Plain:
    alone = np.bincount(rows.ids)[rows.ids] == 1 if len(rows.ids) else new
    chosen = rows.without(~(alone & rows.are(Op.INSERT)))
    kept = chosen.copy()
    for line in after.settling:
        kept &= rows.times(line.attribute) > line.horizon
    places = np.flatnonzero(chosen & new)
    always = (np.full(len(places), t, np.int64) for t in (NEG_INF, INF, 1))
    return Plain(chosen, kept, rows.told(places, *always))


def _versions(declaration: TableDeclaration, rows: _Rows, new: Mask, after: InputFrontier) -> Plain:
    assert declaration.time is not None
    at = rows.times(declaration.time)
    limit = _limits(declaration, rows, at)
    story = _Story(rows.ids, at, limit, rows.are(Op.UPSERT), rows.are(Op.END))
    order = _in_order(declaration, rows, at, new)
    old = order[~new[order]]
    chosen = rows.without(story.odd(order))
    order, old = order[chosen[order]], old[chosen[old]]
    parts = [
        rows.told(places, at[places], ends, np.full(len(places), diff, np.int64))
        for told, diff in ((order, 1), (old, -1))
        for places, ends in [story.versions(told)]
    ]
    line = after[declaration.time]
    kept = story.needed(order, line.horizon) if line.progresses else chosen
    return Plain(chosen, kept, net(pa.concat_tables(parts)))


def _limits(declaration: TableDeclaration, rows: _Rows, at: Ints) -> Ints:
    """Where versions that begin at some instants end by themselves."""
    limit: Ints = np.full(len(at), INF, np.int64)
    if declaration.lifetime_us is not None:
        limit = np.minimum(at, INF - declaration.lifetime_us) + declaration.lifetime_us
    if declaration.until is not None:
        limit = np.minimum(limit, rows.bounds(declaration.until))
    return limit


def _in_order(declaration: TableDeclaration, rows: _Rows, at: Ints, new: Mask) -> Ints:
    """The operations key by key, as they are replayed: by time, SEQUENCE and place."""
    schema = declaration.schema
    sequence = [] if declaration.sequence is None else [schema.position(declaration.sequence)]
    offset = column(rows.operations, len(schema) + 1)
    later = [~rows.are(Op.END)] if declaration.ends_first else []
    major = [rows.ids, at, *all_ranks(rows.operations, sequence), *later, fixed(offset), new]
    return np.lexsort(tuple(reversed(major)))


@dataclass(frozen=True, slots=True)
class _Story:
    """Upserts and ends of many keys; ``limit`` is where a version ends by its LIFETIME."""

    ids: Ints
    at: Ints
    limit: Ints
    upserts: Mask
    ends: Mask

    def odd(self, order: Ints) -> Mask:
        """The operations that need a ledger, given some in order."""
        before = np.roll(order, 1)
        follows = self.ends[order] & self.upserts[before] & (self.at[order] < self.limit[before])
        follows &= ~differs([self.ids[order]])
        odd = np.zeros(len(self.ids), np.bool_)
        odd[order] = ~(self.upserts[order] | follows)
        return odd

    def versions(self, order: Ints) -> tuple[Ints, Ints]:
        """The upserts whose versions are there at all, and where these end."""
        until = np.where(self._closes(order), INF, np.roll(self.at[order], -1))
        until = np.minimum(until, self.limit[order])
        there = self.upserts[order] & (self.at[order] < until)
        return order[there], until[there]

    def needed(self, order: Ints, horizon: int) -> Mask:
        """The operations above the horizon, and those that made the versions valid there."""
        passed = self.at[order] <= horizon
        last = self._closes(order) | ~np.roll(passed, -1)
        stands = passed & last & self.upserts[order] & (self.limit[order] > horizon)
        needed = np.zeros(len(self.ids), np.bool_)
        needed[order] = ~passed | stands
        return needed

    def _closes(self, order: Ints) -> Mask:
        """Which operations are the last of their keys."""
        return np.roll(differs([self.ids[order]]), -1)
