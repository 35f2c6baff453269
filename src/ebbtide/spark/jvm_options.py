"""What the JVM of a session that we start is set to, unless the user has chosen otherwise.

Law: no answer depends on it.  The rows of a step are worked on by kernels; what the JVM does per
row is little, and what it does once, until the first answer, is much: it loads and compiles code
that hardly ever runs hot.  So it compiles quickly rather than well, and collects without threads
that watch beside (ADR 30).
"""

from __future__ import annotations

import re

__all__ = ["jvm_options"]

_OURS = {
    r"TieredStopAtLevel|TieredCompilation": "-XX:TieredStopAtLevel=1",
    r"Use\w+GC\b": "-XX:+UseParallelGC",
}
"""Options, each by what in the words of a user stands against it: of two collectors a JVM takes
neither, and does not start."""


def jvm_options(chosen: str) -> str:
    """Our options, but those about which the user has chosen something.

    >>> jvm_options("")
    '-XX:TieredStopAtLevel=1 -XX:+UseParallelGC'
    >>> jvm_options("-Xmx4g -XX:+UseZGC")
    '-XX:TieredStopAtLevel=1'
    """
    return " ".join(ours for theirs, ours in _OURS.items() if not re.search(theirs, chosen))
