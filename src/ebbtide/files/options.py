"""The options about files of any format: whoever finds the files looks at them."""

from __future__ import annotations

from collections.abc import Mapping

FILE_OPTIONS = frozenset(
    {
        "basePath",
        "cleanSource",
        "discardCachedInputRatio",
        "fileNameOnly",
        "ignoreCorruptFiles",
        "ignoreMissingFiles",
        "latestFirst",
        "maxBytesPerTrigger",
        "maxCachedFiles",
        "maxFileAge",
        "maxFilesPerTrigger",
        "modifiedAfter",
        "modifiedBefore",
        "pathGlobFilter",
        "recursiveFileLookup",
        "sourceArchiveDir",
    }
)

FOLDED_FILE_OPTIONS = frozenset(name.casefold() for name in FILE_OPTIONS)
"""The same, as they are compared: case does not matter."""

ENCODING = frozenset({"encoding", "charset"})
"""The options that say how text is encoded."""


def is_utf_8(options: Mapping[str, str]) -> bool:
    """Whether text is encoded as we read it."""
    return {options.get(name, "utf-8").casefold() for name in ENCODING} <= {"utf-8", "utf8"}
