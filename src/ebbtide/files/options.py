"""The options about files of any format: whoever finds the files looks at them."""

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
