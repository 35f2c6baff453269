"""The directory of a program: manifests, journal, archive, feed log, lock."""
