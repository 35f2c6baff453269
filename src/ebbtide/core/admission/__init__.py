"""Admission: which of the rows that arrive make up the accepted input.

Law: every arrival is, at every moment, exactly one of *accepted* (it counts), *pending* (a
negative whose positive has not come) and *unused* (with its reason); and two inputs that keep
their promises and hold the same arrivals have the same accepted relation, in whatever order and
steps the arrivals came.

Law: a step changes nothing at or below the horizon as it stood before the step: no fact with such
a time comes or goes, and no snapshot of a table at such an instant is altered.  Collection of
state rests on this.

Deliberately naive: everything that arrived is kept, and replayed.  This says what is right, for
an engine that keeps little to agree with.

| module | holds |
|---|---|
| ``arrival`` | operations, the words for them, steps, reasons |
| ``refusal`` | what one arrival and the frontier decide |
| ``unused_row`` | what is said about an arrival that counts for nothing |
| ``operation`` | arrivals that were admitted, and what becomes of them |
| ``facts`` | streams: facts by key |
| ``versions`` | changing tables: versions by key |
| ``sums`` | tables of changes: versions by what is added up |
| ``state`` | the state of an input, and ``admit`` |
"""

from ebbtide.core.admission.arrival import (
    FILE,
    KNOWN_WORDS,
    Arrival,
    Op,
    Reason,
    Step,
    Unused,
    allowed_ops,
    default_op,
    read_op,
)
from ebbtide.core.admission.state import Admission, admit, begin, replay
from ebbtide.core.admission.unused_row import SHOWN_COLUMNS, UNUSED_COLUMNS, UnusedRow

__all__ = [
    "FILE",
    "KNOWN_WORDS",
    "SHOWN_COLUMNS",
    "UNUSED_COLUMNS",
    "Admission",
    "Arrival",
    "Op",
    "Reason",
    "Step",
    "Unused",
    "UnusedRow",
    "admit",
    "allowed_ops",
    "begin",
    "default_op",
    "read_op",
    "replay",
]
