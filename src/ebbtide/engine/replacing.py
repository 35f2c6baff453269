"""Making room for a query in the place of another one of its name.

Law: nothing is deleted.  A directory that belongs to another program is moved as a whole, to
`replaced` in the location, while nobody runs it; the same program keeps its own and goes on.
"""

from __future__ import annotations

import os
from itertools import count

from ebbtide.program.run import Program
from ebbtide.state.files import make_directory, sync_directory
from ebbtide.store.lock import Claim
from ebbtide.store.program import Identity

__all__ = ["set_aside"]

REPLACED = "replaced"


def set_aside(location: str, program: Program) -> str | None:
    """Moves what another program of that name has stored; gives where to, if it did."""
    known = Identity.read(program.root) if os.path.isdir(program.root) else None
    if known is None or known == program.identity:
        return None
    claim = Claim(program.root, program.name)
    try:
        below = os.path.join(location, REPLACED)
        make_directory(below)
        stem = os.path.join(below, os.path.basename(program.root))
        free = next(f"{stem}-{n}" for n in count(1) if not os.path.lexists(f"{stem}-{n}"))
        os.rename(program.root, free)
        # Where it is now has to be durable before its place is another's.
        for directory in (below, os.path.dirname(program.root)):
            sync_directory(directory)
        return free
    finally:
        claim.release()
