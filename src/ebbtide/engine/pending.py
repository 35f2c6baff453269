"""What waits: operations whose version or fact has not come yet, and rows that are to be replayed.

Law: what is shown is what ``core.admission`` holds to be pending of the operations that the latest
manifest of a program has stored, by the frontier that their source has come to.
"""

from __future__ import annotations

from ebbtide.compile.arrival import arrival_schema
from ebbtide.compile.physical import waiting_name
from ebbtide.core.admission import Op
from ebbtide.core.declaration import Declaration
from ebbtide.core.row_text import row_text
from ebbtide.kernels.admission.kernel import Admission
from ebbtide.kernels.operators.waiting import WaitingRows
from ebbtide.state.area import SweepArea
from ebbtide.state.batch import batch_schema, net, to_changes
from ebbtide.state.store import DirectoryStore, WriteScope
from ebbtide.state.types import arrow_type
from ebbtide.store.frontiers import restored
from ebbtide.store.journal import Journal

PENDING_COLUMNS = ("op", "row")


def pending(root: str, declaration: Declaration) -> list[tuple[str, str]]:
    """The negatives of a source that wait in a program: what each is to do, and its row, in the
    order of their places in the source."""
    latest = Journal(root).latest()
    shards = () if latest is None else latest.areas.get(f"admission.{declaration.name}", ())
    if not shards:
        return []
    replayed = frozenset() if latest is None else latest.replayed
    (frontier,) = restored(latest, (declaration,), replayed)
    kernel = Admission(declaration, 0)
    types = [arrow_type(column.type) for column in arrival_schema(declaration)]
    (layout,) = kernel.areas((batch_schema(types),))
    scope = WriteScope(DirectoryStore(f"{root}/state"))
    waiting = [
        arrival
        for (described,) in shards
        for arrival in kernel.pending(
            net(SweepArea.restore(layout, described, scope).query(None)), frontier
        )
    ]
    return [
        ("" if arrival.op is None else arrival.op.value, row_text(declaration.schema, arrival.row))
        for arrival in sorted(waiting, key=lambda arrival: arrival.offset)
    ]


def waiting(root: str, declaration: Declaration) -> list[tuple[str, str]]:
    """The rows of a source that wait in a program to be replayed: what each is to do, and itself,
    in the order of their places in the source."""
    latest = Journal(root).latest()
    shards = () if latest is None else latest.areas.get(waiting_name(declaration.name), ())
    types = [arrow_type(column.type) for column in arrival_schema(declaration)]
    (layout,) = WaitingRows(declaration, 0).areas((batch_schema(types),))
    scope, width = WriteScope(DirectoryStore(f"{root}/state")), len(declaration.schema)
    rows = [
        (change.row[width + 1], change.row[width], change.row[:width])
        for (described,) in shards
        for change in to_changes(net(SweepArea.restore(layout, described, scope).query(None)))
        for _ in range(change.diff)
    ]
    ordered = sorted(rows, key=lambda row: (row[0] or 0, str(row[2])))
    return [
        (op or Op.INSERT.value, row_text(declaration.schema, values)) for _, op, values in ordered
    ]
