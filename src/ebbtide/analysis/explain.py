"""EXPLAIN: what is proved about a query, for people and for programs.

Law: text and document say the same.  The text is the outlook: what people ask first.  The theory
is the verdict, and below it every node with its schema, key, class, facts about times, what it
stores, when it forgets, and when its rows are final; ``verbose`` is both.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ebbtide.algebra.emission import Emit
from ebbtide.algebra.relation import Filter, Relation, Stream
from ebbtide.analysis import advice
from ebbtide.analysis.analysis import Node
from ebbtide.analysis.archive_keep import archive_keep
from ebbtide.analysis.begun import Beginning
from ebbtide.analysis.expiry import expired_inputs, how_expired, sees_expiry
from ebbtide.analysis.finality import Finality
from ebbtide.analysis.keep_rules import ByTime
from ebbtide.analysis.outlook import REPLAYS_ALL, Outlook, Rates, length, outlook
from ebbtide.analysis.size import Size
from ebbtide.analysis.stores import Store
from ebbtide.analysis.structure import structures_of
from ebbtide.analysis.temporal.edge import FROM, TO
from ebbtide.analysis.verdict import Analysis, analyse
from ebbtide.core.declaration import Histogram, RowSample, StreamDeclaration
from ebbtide.core.expiry import BY_INTERVAL, Expiry, Strategy
from ebbtide.core.structure import Structure
from ebbtide.core.time import SECOND
from ebbtide.core.words import counted, size
from ebbtide.plan_text.plan_tree import plan_tree

_INDENT = "  "
_LABEL = 9


_AHEAD: dict[str, Any] = {
    "input": 0,
    "rows": "changes that begin after now",
    "instead": "",
    "size": str(Size.WINDOW),
    "indexes": {"key": [], "times": [str(FROM)], "row": False, "text": "by from"},
    "structure": Structure.BY_KEY.value,
    "keep": "keep while from > now",
}
"""What the last stage holds of an answer that lies ahead."""

SPANNING_KEEP = "keep while from > now or to > now"
_SPANNING: dict[str, Any] = {
    "input": 0,
    "rows": "instants at which rows of the answer begin and end",
    "instead": "",
    "size": str(Size.WINDOW),
    "indexes": {"key": [], "times": [], "row": True, "text": "by row"},
    "structure": Structure.BY_KEY.value,
    "keep": SPANNING_KEEP,
}
"""What is held of an answer whose rows may begin after ``now``, and change till then."""


_LATER = {
    Beginning.BEGUN: (),
    Beginning.WHOLE: (_AHEAD,),
    Beginning.CHANGING: (_SPANNING,),
}


@dataclass(frozen=True, slots=True)
class Explanation:
    """An explanation as a document of plain values, as text and as JSON."""

    document: dict[str, Any]

    @property
    def text(self) -> str:
        """For people: how fresh, how final, how much."""
        return "\n".join(_outlook_lines(self.document))

    @property
    def theory(self) -> str:
        """The verdict, and what is proved about every operator."""
        return "\n".join([*_head_lines(self.document), "", *_node_lines(self.document["plan"], 0)])

    @property
    def verbose(self) -> str:
        """For people who want to know why."""
        return f"{self.text}\n\n{self.theory}"

    @property
    def json(self) -> str:
        """For programs."""
        return json.dumps(self.document, indent=2)

    def __str__(self) -> str:
        return self.text


def explain(
    plan: Relation,
    emit: Emit = Emit.CHANGES,
    rates: Rates | None = None,
    expiry: Expiry = BY_INTERVAL,
) -> Explanation:
    """What is proved about a plan; with the rates of its sources also what it will keep."""
    return explained(analyse(plan, emit, expiry=expiry), rates)


def explained(
    analysis: Analysis,
    rates: Rates | None = None,
    skipped: Sequence[Filter] = (),
    replays: str = REPLAYS_ALL,
) -> Explanation:
    """What an analysis says; what is ``skipped`` are rows that some filters keep out of joins, and
    ``replays`` is how old rows are replayed."""
    verdict = analysis.verdict
    held = [_store(store, "rows that are not final", Structure.BY_KEY) for store in analysis.held]
    held += _LATER[analysis.beginning]
    return Explanation(
        {
            "outlook": {
                **_outlook(outlook(analysis, rates, replays), rates or {}),
                "skips": list(map(_condition, skipped)),
            },
            "emit": analysis.emit.value,
            "expiry": {
                "strategy": analysis.expiry.strategy.value,
                "join_message": analysis.expiry.join_message,
                "compression": analysis.expiry.compression,
                "text": str(analysis.expiry),
            },
            "verdict": {
                "finality": _finality(verdict.finality),
                "state": {"size": str(verdict.state.size), "reason": verdict.state.reason},
                "waiting": [{"text": str(each), "hint": each.hint} for each in verdict.waiting],
            },
            "key": _key(analysis.root),
            "class": str(analysis.monotonicity.value),
            "held": held,
            "plan": _node(analysis.root, analysis.expiry),
            **_lineage(analysis),
        }
    )


def _lineage(analysis: Analysis) -> dict[str, list[str]]:
    """The columns that are stored of the lineage of every row, if they are."""
    if analysis.lineage is None:
        return {}
    return {"lineage": list(analysis.lineage.plan.schema.names[len(analysis.plan.schema) :])}


def _outlook(found: Outlook, rates: Rates) -> dict[str, Any]:
    return {
        "fresh": found.fresh,
        "final": found.final,
        "late": list(found.late),
        "keeps": [
            {
                "text": str(each),
                "seconds": None if each.stays_us is None else each.stays_us / SECOND,
                "rows": each.rows,
                "bytes": each.bytes,
            }
            for each in found.kept
        ],
        "rates": dict(rates),
    }


def _condition(filter_: Filter) -> str:
    return plan_tree(filter_).splitlines()[0].removeprefix("Filter ")


def _node(node: Node, expiry: Expiry) -> dict[str, Any]:
    inputs = node.relation.children
    return {
        "operator": plan_tree(node.relation).splitlines()[0],
        "kind": node.edge.kind.value,
        "schema": [
            {"name": str(column), "type": str(column.type), "nullable": column.nullable}
            for column in node.relation.schema
        ],
        "key": _key(node),
        "class": {
            "value": str(node.monotonicity.value),
            "reason": node.monotonicity.reason,
            "negatives": node.monotonicity.has_negatives,
        },
        "times": str(node.edge.readable),
        "id": node.id,
        "stores": [
            _store(
                store,
                advice.name_of(inputs[store.input] if inputs else node.relation),
                _held(node, store, expiry),
            )
            for store in node.stores
        ],
        "emitted": None if node.emitted is None else str(node.emitted),
        "final": _finality(node.finality),
        "inputs": [_node(child, expiry) for child in node.inputs],
        "expiry": _expiry(node, expiry),
        **_archive(node.relation),
    }


def _expiry(node: Node, expiry: Expiry) -> list[str]:
    """How an operator learns what has expired of its inputs, where it is not by their ends."""
    if expiry.strategy is Strategy.INPUT:
        return ["when its shard gets input"] if sees_expiry(node) else []
    if not expiry.strategy.sends:
        return []
    return [
        f"of {advice.name_of(node.relation.children[place])}: "
        f"{how_expired(node.inputs[place], expiry)}"
        for place in expired_inputs(node, expiry)
    ]


def _archive(relation: Relation) -> dict[str, str]:
    """How long the rows of a source are archived, if they are."""
    keep = archive_keep(relation.declaration) if isinstance(relation, Stream) else None
    if keep is None or not isinstance(relation, Stream):
        return {}
    return {"archive": f"keep{_part(relation.declaration)} while {keep}"}


def _part(declaration: StreamDeclaration) -> str:
    """What is archived in the place of all rows."""
    match declaration.summary:
        case None:
            return ""
        case RowSample(impact=impact) as sample:
            by = "" if impact is None else f" by impact of {impact}"
            return f" {sample.percent:f} percent{by}"
        case Histogram(of, every_us):
            return f" a histogram of {', '.join(of)} every {length(every_us)}"


def _held(node: Node, store: Store, expiry: Expiry) -> Structure:
    """How the rows of a store lie; operations on a source lie by their keys."""
    return structures_of(node, expiry)[store.input] if node.inputs else Structure.BY_KEY


def _store(store: Store, what: str, held: Structure) -> dict[str, Any]:
    return {
        "input": store.input,
        "rows": what,
        "instead": store.instead,
        "size": str(store.size),
        "indexes": {
            "key": list(store.indexes.key),
            "times": list(store.indexes.times),
            "row": store.indexes.row,
            "text": str(store.indexes),
        },
        "structure": held.value,
        "keep": keep_text(store),
    }


def keep_text(store: Store) -> str:
    """The rule, unless all that it waits for is the end of rows that never end."""
    rule = store.rule
    parts = [p for case in rule.keep.cases for p in case] if isinstance(rule, ByTime) else []
    endless = str(TO) not in store.indexes.times and all(part.variable == TO for part in parts)
    return "keep always" if parts and endless else str(rule)


def _finality(finality: Finality) -> dict[str, Any]:
    return {
        "when": finality.when.value,
        "reason": finality.reason,
        "progress": {str(variable): str(value) for variable, value in finality.progress},
        "text": str(finality),
    }


def _key(node: Node) -> list[str] | None:
    names = node.keys.names(node.relation.schema)
    return list(names[0]) if names else None


def _often(times: int) -> str:
    return "twice" if times == 2 else f"{times} times"


def _outlook_lines(document: dict[str, Any]) -> Iterator[str]:
    said, verdict = document["outlook"], document["verdict"]
    yield _line("fresh", said["fresh"])
    yield _line("final", said["final"])
    for late in said["late"]:
        yield _line("late", late)
    for text, times in Counter(kept["text"] for kept in said["keeps"]).items():
        yield _line("keeps", text if times == 1 else f"{text}, {_often(times)}")
    if not said["keeps"]:
        yield _line("keeps", "nothing")
    for condition in dict.fromkeys(said["skips"]):
        yield _line("skips", f"rows without {condition}: they have no partner, and are not stored")
    yield from _sum_lines(said)
    for waiting in verdict["waiting"]:
        yield _line("waits", f"{waiting['text']}: {waiting['hint']}")
    yield _line("key", _key_text(document["key"]))
    if document["expiry"]["text"] != str(BY_INTERVAL):
        yield _line("expiry", document["expiry"]["text"])
    if "lineage" in document:
        yield _line("lineage", f"{', '.join(document['lineage'])} of every row")


def _sum_lines(said: dict[str, Any]) -> Iterator[str]:
    """What all stores hold together, if the rates of their sources are known."""
    known = [kept for kept in said["keeps"] if kept["rows"] is not None]
    if not known:
        return
    rows, room = sum(kept["rows"] for kept in known), sum(kept["bytes"] for kept in known)
    others = "" if len(known) == len(said["keeps"]) else ", beside what has no rate"
    rates = ", ".join(f"{rate:,.4g} rows/s of {name}" for name, rate in said["rates"].items())
    yield _line("memory", f"about {counted(rows, 'row')}, {size(room)} with {rates}{others}")


def _head_lines(document: dict[str, Any]) -> Iterator[str]:
    verdict = document["verdict"]
    finality, state = verdict["finality"], verdict["state"]
    why = finality["reason"] if finality["progress"] else ""
    yield _line("finality", f"{why}: {finality['text']}" if why else finality["text"])
    yield _line(
        "state", f"{state['size']}: {state['reason']}" if state["reason"] else state["size"]
    )
    for waiting in verdict["waiting"]:
        yield _line("waits", f"{waiting['text']}: {waiting['hint']}")
    yield _line("key", _key_text(document["key"]))
    yield _line("class", document["class"])
    yield _line("emit", document["emit"])
    for store in document["held"]:
        yield _line("holds", f"{store['rows']}: {store['keep']}")


def _node_lines(node: dict[str, Any], depth: int) -> Iterator[str]:
    indent = _INDENT * depth
    yield f"{indent}{node['operator']}"
    inner = indent + _INDENT
    yield inner + _line("columns", ", ".join(f"{c['name']} {c['type']}" for c in node["schema"]))
    yield inner + _line("key", _key_text(node["key"]))
    yield inner + _line("class", f"{node['class']['value']}: {node['class']['reason']}")
    negatives = node["class"]["negatives"]
    yield inner + _line("changes", "positive and negative" if negatives else "positive only")
    if node["times"] != "true":
        yield inner + _line("times", node["times"])
    for store in node["stores"]:
        extent = "" if store["size"] == str(Size.WINDOW) else f" ({store['size']})"
        rows = f"{store['instead'] or 'rows'} of {store['rows']}{extent}"
        yield inner + _line("stores", f"{rows}: {store['keep']}")
        yield inner + _line("finds", store["indexes"]["text"])
        yield inner + _line("held", store["structure"])
    if not node["stores"] and node["inputs"]:
        yield inner + _line("held", "none: rows pass on")
    if "archive" in node:
        yield inner + _line("archive", f"rows of {node['operator'].split()[-1]}: {node['archive']}")
    if node["emitted"] is not None:
        yield inner + _line("emitted", node["emitted"])
    for each in node["expiry"]:
        yield inner + _line("expiry", each)
    yield inner + _line("final", node["final"]["text"])
    for child in node["inputs"]:
        yield from _node_lines(child, depth + 1)


def _key_text(key: list[str] | None) -> str:
    if key is None:
        return "none: rows may repeat"
    return ", ".join(key) if key else "none needed: there is one row at most"


def _line(label: str, text: str) -> str:
    return f"{label:<{_LABEL}}{text}".rstrip()
