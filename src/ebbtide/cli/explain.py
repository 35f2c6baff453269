"""``ebbtide explain``: what is proved about the queries of a script; nothing runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ebbtide.cli import scripts
from ebbtide.errors import QueryError

if TYPE_CHECKING:
    from ebbtide.analysis import Explanation
    from ebbtide.sql.catalog import Catalog


@click.command("explain")
@click.argument("file", type=scripts.SCRIPT, required=False)
@click.option("--query", "-q", "text", metavar="SQL", help="A query, or a script, as text.")
@click.option("--view", metavar="NAME", help="Explain this view or query alone.")
@click.option("--json", "as_json", is_flag=True, help="For programs: an object by query.")
@click.option("--svg", "as_svg", is_flag=True, help="A drawing of the plan with its facts.")
@click.option("--output", "-o", metavar="PATH", help="Write to this file.")
def command(
    file: str | None,
    text: str | None,
    view: str | None,
    as_json: bool,
    as_svg: bool,
    output: str | None,
) -> None:
    """Explain the queries of the script FILE, or of -q.

    When answers are final, how much state they need, and what is proved about every operator.
    With both, FILE declares and -q asks.
    """
    if file is None and text is None:
        raise click.UsageError("name a script, or give a query with -q")
    if as_json and as_svg:
        raise click.UsageError("--json and --svg exclude each other")
    from ebbtide.sql.catalog import Catalog

    catalog, found = Catalog(), dict[str, "Explanation"]()
    if file is not None:
        catalog, found = _explained(scripts.read(file), catalog)
    if text is not None:
        catalog, found = _explained(scripts.Script(text, "-q"), catalog)
    chosen = found if view is None else {view: _one(found, catalog, view)}
    if not chosen:
        raise QueryError("nothing-to-run", "there is no query to explain", hint="SELECT ...")
    _write(_drawn(chosen) if as_svg else _written(chosen, as_json), output)


def _explained(script: scripts.Script, catalog: Catalog) -> tuple[Catalog, dict[str, Explanation]]:
    """The catalog after a script, and what is proved about its queries, by name.

    Views that it declares and that nothing in it reads are queries, too.
    """
    from ebbtide.algebra.relation import View
    from ebbtide.analysis import explain
    from ebbtide.core.tree import find
    from ebbtide.optimizer import optimise
    from ebbtide.sql.binder import bind
    from ebbtide.sql.binding.insertion import inserted
    from ebbtide.sql.bound import BoundExplain, BoundInsert, BoundQuery, Declared
    from ebbtide.sql.catalog import ViewEntry
    from ebbtide.sql.parser import parse

    found: dict[str, Explanation] = {}
    read = {name.casefold() for name in catalog.names()}
    with script.placed():
        for statement in parse(script.text):
            bound = bind(statement, catalog)
            if isinstance(bound, Declared):
                catalog = bound.catalog
            elif isinstance(bound, BoundQuery | BoundExplain | BoundInsert):
                query = bound if isinstance(bound, BoundQuery) else bound.query
                found[f"query{len(found)}"] = explain(optimise(query.plan), query.emit)
                read |= {view.name.casefold() for view in find(query.plan, View)}
                if isinstance(bound, BoundInsert):
                    catalog = inserted(bound.target, bound.query, catalog)
        for entry in catalog:
            unread = entry.name.casefold() not in read and not catalog.dependents(entry.name)
            if isinstance(entry, ViewEntry) and unread:
                found[entry.name] = explain(optimise(entry.view))
    return catalog, found


def _one(found: Mapping[str, Explanation], catalog: Catalog, name: str) -> Explanation:
    from ebbtide.analysis import explain
    from ebbtide.optimizer import optimise
    from ebbtide.sql.catalog import ViewEntry

    if name.casefold() in found:
        return found[name.casefold()]
    entry = catalog.find(name)
    if isinstance(entry, ViewEntry):
        return explain(optimise(entry.view))
    names = [*catalog.names("VIEW"), *found]
    raise QueryError(
        "unknown-query",
        f'the script has no view "{name}"',
        detail=f"it has {', '.join(dict.fromkeys(names))}" if names else None,
    )


def _written(found: Mapping[str, Explanation], as_json: bool) -> str:
    if as_json:
        return json.dumps({name: one.document for name, one in found.items()}, indent=2)
    if len(found) == 1:
        return next(iter(found.values())).text
    return "\n\n".join(f"-- {name}\n{one.text}" for name, one in found.items())


def _drawn(found: Mapping[str, Explanation]) -> str:
    if len(found) > 1:
        raise click.UsageError(f"--svg draws one query; choose by --view: {', '.join(found)}")
    from ebbtide.drawing import plan_svg

    return plan_svg(next(iter(found.values())))


def _write(text: str, output: str | None) -> None:
    if output is None:
        click.echo(text)
        return
    try:
        Path(output).write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise click.FileError(output, error.strerror) from error
