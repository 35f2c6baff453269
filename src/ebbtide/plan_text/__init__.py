"""Plans as text: as SQL that is bound to the same plan again, and as a tree for people."""
