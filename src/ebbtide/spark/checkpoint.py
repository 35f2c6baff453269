"""Which sources Spark's checkpoint of a program knows: by their names, or by their order.

Law: a source that goes on finds its own offsets, and no other source does.  Where all sources have
names, Spark keeps offsets by name: sources may change places, and others may come.  Where some
DataFrame has none, or two share one, it keeps them by their order: the order of the first start
stays, and the set of sources is frozen.  A checkpoint cannot change from one to the other.

Files and the heartbeat are named here; who gives DataFrames names them with Spark's own ``name``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import count

from ebbtide.errors import StateError
from ebbtide.store.files import read_sealed, replace, sealed

HEARTBEAT_NAME = "heartbeat_x_"
"""No source has this name: an escape has a number behind its x."""

_FILE = "sources.json"
_OTHER = re.compile(r"[^a-z0-9_]|_(?=x)")

Names = tuple[str | None, ...]
"""The names of the streams that one source is made of; None for one without."""


def source_name(name: str) -> str:
    """A name for Spark, which takes ASCII letters, digits and underscores: different for different
    sources, and the same in upper and lower case.

    >>> source_name("Road_traffic")
    'road_traffic'
    >>> source_name("a b"), source_name("a_x20_b"), source_name("größe")
    ('a_x20_b', 'a_x5f_x20_b', 'gr_xf6_sse')
    """
    return _OTHER.sub(lambda found: f"_x{ord(found[0]):x}_", name.casefold())


@dataclass(frozen=True, slots=True)
class CheckpointSources:
    """What a checkpoint knows: whether it goes by names, and its sources in their order."""

    named: bool
    sources: Mapping[str, Names]


def checkpoint_of(root: str) -> str:
    """Where Spark has the checkpoint of a program."""
    return os.path.join(root, "checkpoint")


def agreed(root: str, program: str, wanted: Mapping[str, Names]) -> CheckpointSources:
    """The sources of a program that starts, in the order in which its checkpoint has them.

    What would let Spark take the rows of one source for those of another, or take them again, is
    refused.
    """
    now = CheckpointSources(_all_named(wanted), dict(wanted))
    begun = os.path.isdir(f"{checkpoint_of(root)}/offsets")
    known = _read(root) if begun else None
    if known is None:
        # A checkpoint of which nothing is known is older than names.
        agreement = CheckpointSources(False, now.sources) if begun else now
    elif known.named:
        _check_names(known, now)
        agreement = now
    else:
        _check_frozen(program, known, now)
        agreement = CheckpointSources(False, {name: wanted[name] for name in known.sources})
    if agreement != known:
        replace(f"{root}/{_FILE}", sealed(asdict(agreement), indent=1))
    return agreement


def logs_in_order(root: str) -> list[str]:
    """What the logs of a program's streams are called, in the order in which Spark has them, where
    it goes by that: by their names, or those without one by their number among such."""
    known = _read(root)
    names = [name for streams in known.sources.values() for name in streams] if known else []
    unnamed = count()
    return [str(next(unnamed)) if name is None else name for name in names]


def sources_lost(root: str) -> None:
    """Refuses a checkpoint that goes by names if nothing says any more which ones it has."""
    if _read(root) is None:
        raise StateError(
            "damaged-program",
            f'"{root}/{_FILE}" is not there, and Spark\'s checkpoint goes by the names in it',
            hint="restore the directory, or start under another name",
        )


def _all_named(sources: Mapping[str, Names]) -> bool:
    names = [name for streams in sources.values() for name in streams]
    return None not in names and len(set(names)) == len(names)


def _read(root: str) -> CheckpointSources | None:
    path = f"{root}/{_FILE}"

    def damaged(why: str) -> StateError:
        return StateError(
            "damaged-program",
            f'"{path}" cannot be read',
            detail=why,
            hint="restore the directory, or start under another name",
        )

    told = read_sealed(path, damaged)
    if told is None:
        return None
    try:
        return CheckpointSources(
            told["named"], {name: tuple(s) for name, s in told["sources"].items()}
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise damaged(repr(error)) from error


def _check_names(known: CheckpointSources, now: CheckpointSources) -> None:
    for name, streams in now.sources.items():
        before = known.sources.get(name, streams)
        if streams != before or None in streams:
            raise StateError(
                "source-renamed",
                f'the DataFrame of "{name}" has another name for Spark than before',
                detail=f"it was {_told(before)}, and is {_told(streams)}",
                hint=f'spark.readStream.name("{before[0]}")' if before[0] else None,
            )
    if not now.named:
        raise StateError(
            "source-renamed",
            "two streams have the same name for Spark",
            detail=", ".join(f"{name}: {_told(read)}" for name, read in now.sources.items()),
            hint="give each DataFrame a name of its own",
        )


def _check_frozen(program: str, known: CheckpointSources, now: CheckpointSources) -> None:
    same = known.sources.keys() == now.sources.keys()
    if same and all(len(known.sources[n]) == len(s) for n, s in now.sources.items()):
        return
    unnamed = [name for name, streams in known.sources.items() if None in streams]
    why = f"{', '.join(unnamed)} without a name" if unnamed else "two streams of one name"
    raise StateError(
        "sources-frozen",
        f'no source can be added to "{program}", and none removed',
        detail=f"it was first started with {why}, so its checkpoint goes by the order of "
        f"{', '.join(known.sources)}",
        hint="name every DataFrame with spark.readStream.name(...), and start under another name",
    )


def _told(streams: Names) -> str:
    return ", ".join(name or "without a name" for name in streams)
