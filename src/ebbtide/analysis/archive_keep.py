"""How long the archive of a source keeps its rows.

Law: a row is kept while one of its times is later than the progress of that time, less the length
of the archive.  What runs, what EXPLAIN prints and what the state shows is this one rule.
"""

from __future__ import annotations

from ebbtide.analysis.formula.conditions import After, Keep
from ebbtide.analysis.formula.progress import Progress
from ebbtide.analysis.formula.terms import Var
from ebbtide.analysis.temporal.sources import bound_of
from ebbtide.core.declaration import Declaration, StreamDeclaration


def archive_keep(declaration: Declaration) -> Keep | None:
    """The rule of a source's archive; None if it has none."""
    if not isinstance(declaration, StreamDeclaration) or declaration.archive_us is None:
        return None
    length = declaration.archive_us
    return Keep(
        tuple(
            (After(Var("", p.attribute), Progress(bound_of(declaration, p.attribute), -length)),)
            for p in declaration.promises
        )
    )
