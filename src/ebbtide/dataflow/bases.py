"""The versions of a program from which it can be replayed.

Law: for every row that can still be accepted there is a base that is older: one whose operators had
let nothing go of the row's times.  A base has the state after its step, and not what a replay has
brought since: so a replay ends all bases after the one that it began from.  Only where a replay has
corrected nothing but what the state of a base does not look at, the base stays.

    archive   ├─────────────────────────────┤ progress
    bases   b0         b1        b2        b3          b0 goes once b1 is older than the archive

Between a base and the next the progress of some source gains a part of its archive; the fewer they
are, the less state is kept, and the more a replay runs again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ebbtide.analysis.replay import is_static
from ebbtide.compile.lowering import Lowered
from ebbtide.compile.replaying import upstream
from ebbtide.core.declaration import Declaration, StreamDeclaration
from ebbtide.core.frontier import InputFrontier
from ebbtide.core.time import INF, NEG_INF, Duration, Instant, shift
from ebbtide.kernels.kernel import Times
from ebbtide.store.manifest import Base

PARTS = 8
"""Into how many parts bases cut an archive."""

MOST = 2 * PARTS
"""How many bases there are at most: where a source stands still, those between get fewer."""


def first_base(lowered: Lowered) -> Base:
    """The state before all steps."""
    return Base(-1, {name: {} for name in lowered.replayed}, {})


def base_of(
    version: int,
    lowered: Lowered,
    after: tuple[InputFrontier, ...],
    before: Base | None = None,
    settled: Mapping[str, Instant] | None = None,
) -> Base:
    """A version as a base, by the frontiers after it.

    Without one ``before`` it, the archives may begin with it.
    """
    replayed = lowered.replayed
    archived = (
        {f.name: {line.attribute: line.newest for line in f.settling} for f in after}
        if before is None
        else before.archived
    )
    return Base(
        version,
        {
            frontier.name: {line.attribute: line.forgotten for line in frontier.settling}
            for frontier in after
            if frontier.name in replayed
        },
        archived,
        settled or {},
    )


def reached_from(base: Base | None, frontier: InputFrontier) -> InputFrontier:
    """The frontier of a source that accepts no more than replays can begin before."""
    if base is None:
        return frontier
    lines = (
        replace(line, floor=max(line.floor, base.has_forgotten(frontier.name, line.attribute)))
        if line.settles
        else line
        for line in frontier.lines
    )
    return replace(frontier, lines=tuple(lines))


def bases_before(
    bases: tuple[Base, ...], first: Mapping[str, Mapping[str, Instant]]
) -> tuple[Base, ...]:
    """The bases that know rows with these first times to be possible; the last of them is the
    nearest."""
    return tuple(
        base
        for base in bases
        if all(
            t > base.has_forgotten(source, attribute)
            for source, times in first.items()
            for attribute, t in times.items()
        )
    )


def settled_views(lowered: Lowered, times: Mapping[int, Times]) -> dict[str, Instant]:
    """Of each view that can be replayed minimally, the instant before which its state does not
    look after a step: every change to come begins after it, and nothing that ends before is shown.
    """
    edges, operators = lowered.physical.edges, lowered.physical.operators
    changing = {n for n, d in enumerate(lowered.declarations) if not is_static(d)}
    found: dict[str, Instant] = {}
    for output in lowered.slices:
        begun = [
            shift(times[number].output.begun, 1)
            for number in upstream(edges, output).operators
            if operators[number].by_instant and upstream(edges, ~number).sources & changing
        ]
        view = lowered.physical.outputs[output].name
        found[view] = min([times[~output].now, *begun])
    return found


def bases_beside(bases: tuple[Base, ...], ends: Mapping[str, Instant]) -> tuple[Base, ...]:
    """The bases to which it is nothing that views were corrected before these instants."""
    return tuple(
        base
        for base in bases
        if all(end <= base.settled.get(view, NEG_INF) for view, end in ends.items())
    )


def bases_after(
    bases: tuple[Base, ...],
    version: int,
    lowered: Lowered,
    after: tuple[InputFrontier, ...],
    settled: Mapping[str, Instant],
) -> tuple[Base, ...]:
    """The bases after a step: those that are still needed, and the step itself now and then."""
    if not bases:
        return ()
    lengths = _lengths(lowered)
    this = base_of(version, lowered, after, bases[0], settled)
    if any(_gained(bases[-1], this, name) >= max(1, us // PARTS) for name, us in lengths.items()):
        bases = (*bases, this)
    while len(bases) > 1 and _covers(bases[1], lengths, after):
        bases = bases[1:]
    return bases if len(bases) <= MOST else (*bases[:-1:2], bases[-1])


def due_sources(
    lowered: Lowered,
    before: tuple[InputFrontier, ...],
    after: tuple[InputFrontier, ...],
    asked: bool,
) -> frozenset[int]:
    """The sources whose waiting rows are replayed in a step: when that was asked for, or when their
    progress comes to the next multiple of the time that they wait."""
    return frozenset(
        number
        for number in lowered.replays.sources
        if asked or _comes_to_next(lowered.declarations[number], before[number], after[number])
    )


def _comes_to_next(declaration: Declaration, before: InputFrontier, after: InputFrontier) -> bool:
    if not isinstance(declaration, StreamDeclaration) or declaration.revise_us is None:
        return True
    every, attribute = declaration.revise_us, declaration.time
    if every >= INF or attribute is None:
        return False
    return before[attribute].progress // every < after[attribute].progress // every


def _lengths(lowered: Lowered) -> dict[str, Duration]:
    streams = (lowered.declarations[number] for number in sorted(lowered.replays.sources))
    return {s.name: s.archive_us or 0 for s in streams if isinstance(s, StreamDeclaration)}


def _gained(before: Base, after: Base, source: str) -> Duration:
    """How much further a source has come in the time that has moved most."""
    lines = after.forgotten[source]
    return max((t - before.has_forgotten(source, a) for a, t in lines.items()), default=0)


def _covers(base: Base, lengths: Mapping[str, Duration], after: tuple[InputFrontier, ...]) -> bool:
    """Whether a base is older than the archives of all sources."""
    return all(
        base.has_forgotten(frontier.name, line.attribute)
        <= shift(line.progress, -lengths[frontier.name])
        for frontier in after
        if frontier.name in lengths
        for line in frontier.settling
    )
