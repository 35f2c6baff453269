"""Mistakes on the way from what is proved to what runs: pipes, pruning, rules, stages, routes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.mistakes import Mistake, assert_noticed, given, mistakes, turned
from tests.scenarios import JUDGED, SHARDED

from ebbtide.algebra.relation import Filter
from ebbtide.core.time import is_finite
from ebbtide.state.keep import Keep


def without_filters(original: Any) -> Any:
    """A pipe that lets everything pass."""
    return lambda self, node: self if isinstance(node, Filter) else original(self, node)


def all_together(self: Any, edges: Any) -> Any:
    """Whoever follows an operator runs in its stage."""
    return tuple(range(len(edges[0].keys))) if edges else None


def moved(by: int) -> Any:
    """A rule whose times are all later, or earlier."""

    def later(keep: Keep) -> Keep:
        cases = (tuple(replace(p, value=_shifted(p.value, by)) for p in c) for c in keep.cases)
        return replace(keep, cases=tuple(cases))

    return turned(later)


def _shifted(value: int, by: int) -> int:
    return value + by if is_finite(value) else value


PIPES = [
    Mistake("a filter is left out", "compile.pipe:Pipe.then", without_filters, "filter"),
    Mistake(
        "a window ends a tick late",
        "compile.pipe:_plus",
        given(lambda time, by: [time, by + 1]),
        "filter",
    ),
    Mistake(
        "a window does not slide", "compile.pipe:ceil", lambda original: lambda t, grid: t, "slide"
    ),
    Mistake(
        "a section ends a section after its fact",
        "compile.pipe:floor",
        lambda original: lambda t, grid: t,
        "fixed",
    ),
    Mistake(
        "the ends of a window are left out",
        "dataflow.piping:TaskPipe.of",
        turned(lambda pipe: replace(pipe, ends=None)),
        "sums",
    ),
    Mistake(
        "the rest of a condition is left out",
        "compile.lowering:choose",
        turned(lambda chosen: replace(chosen, conditions=())),
        "join with versions",
    ),
    Mistake(
        "the condition of a join is not read",
        "compile.kernel_choice:joined_reads",
        lambda original: lambda node, reads: reads,
        "join with versions",
    ),
    Mistake(
        "the filter of a call is not read",
        "compile.pruning:_of_call",
        lambda original: lambda call: call.arguments,
        "sum of a join",
    ),
    Mistake(
        "the columns of a projection are read from another place",
        "compile.pruning:_in",
        turned(lambda reads: frozenset(sorted(reads)[:1])),
        "sum of a join",
    ),
]

CALLS = [
    Mistake(
        "DISTINCT in a call is ignored",
        "compile.kernel_columns:Columns.call",
        turned(lambda call: replace(call, distinct=False)),
        "median",
    ),
    Mistake(
        "FILTER in a call is ignored",
        "compile.kernel_columns:Columns.call",
        turned(lambda call: replace(call, filter=None)),
        "sums",
    ),
    Mistake(
        "a median is another percentile",
        "compile.kernel_columns:Columns.call",
        turned(lambda call: replace(call, share=0.9)),
        "median",
    ),
    Mistake(
        "the order of a call is the other one",
        "compile.kernel_columns:SortColumn",
        given(lambda place, descending, first: [place, not descending, first]),
        "top",
    ),
]

RULES = [
    Mistake(
        "each side is kept by the other's rule",
        "compile.lowering:input_rules",
        turned(lambda rules: rules[::-1]),
        "join within",
    ),
    Mistake(
        "rules are over the wrong column",
        "compile.store_rules:store_rule",
        given(lambda rule, place, *rest: [rule, lambda i: 0, *rest]),
        "join within",
    ),
    Mistake(
        "what was forgotten later hides what was stored",
        "compile.physical:Operator.times",
        turned(lambda times: replace(times, stored=times.inputs)),
        "sums",
    ),
    Mistake(
        "rows that never end are old at once",
        "compile.physical:Operator.times",
        turned(
            lambda times: replace(
                times, inputs=tuple(replace(keep, begun=times.now + 3) for keep in times.inputs)
            )
        ),
        "sum for ever",
    ),
    Mistake(
        "the steps of ISTREAM are kept like rows",
        "compile.store_rules:store_rule",
        given(lambda rule, place, *_: [rule, place]),
        "istream",
        (JUDGED,),
    ),
    Mistake(
        "the steps of DSTREAM are kept like rows",
        "compile.store_rules:store_rule",
        given(lambda rule, place, *_: [rule, place]),
        "dstream",
        (JUDGED,),
        seed=2,
    ),
    Mistake(
        "what ends after now is not kept for it",
        "compile.store_rules:store_rule",
        turned(lambda rule: replace(rule, turning=None)),
        "by time",
        (JUDGED,),
    ),
    Mistake(
        "what ends after now is not kept for a ranking",
        "compile.store_rules:store_rule",
        turned(lambda rule: replace(rule, turning=None)),
        "ranked by time",
        (JUDGED,),
    ),
    Mistake(
        "what was emitted is kept by the rule of the input",
        "compile.physical:Operator.times",
        turned(lambda times: replace(times, output=times.inputs[0])),
        "frame of facts",
        (JUDGED,),
    ),
    *(
        Mistake(
            f"a tick too early, in {scenario}", "compile.physical:StoreRule.at", moved(1), scenario
        )
        for scenario in ("join", "join within", "sums", "frame of facts")
    ),
    *(
        Mistake(
            f"a tick too late, in {scenario}",
            "compile.physical:StoreRule.at",
            moved(-1),
            scenario,
            (JUDGED,),
        )
        for scenario in ("join", "join within", "sums", "distinct", "left join", "frame of facts")
    ),
    Mistake(
        "no time of a source is listened to",
        "compile.lowering:_Lowering._windowed",
        lambda original: lambda self, node, window, flows: None,
        "sums",
    ),
]

STAGES = [
    Mistake(
        "operators share a stage whatever their keys are",
        "compile.stages:_Placing._shared",
        lambda original: all_together,
        "sum of a join",
        (SHARDED,),
    ),
    Mistake(
        "any column of a join is taken to hold its key",
        "compile.kernel_choice:_on_both",
        turned(lambda carries: tuple(tuple(range(places[-1] + 2)) for places in carries)),
        "sum of a join",
        (SHARDED,),
    ),
    Mistake(
        "rows are routed by all of their columns",
        "compile.stages:_Routing._keys",
        lambda original: lambda self, edge: edge.pipe.columns,
        "sums",
        (SHARDED,),
    ),
    Mistake(
        "a source enters by one route",
        "dataflow.routing:entering_sources",
        turned(lambda routes: {source: tags[:1] for source, tags in routes.items()}),
        "self join",
    ),
    Mistake(
        "an input takes from one producer",
        "dataflow.plan:Input",
        given(lambda takes, schema, net: [takes[:1], schema, net]),
        "union",
    ),
    Mistake(
        "what leaves a stage is lost",
        "compile.stages:Stages.leaving",
        turned(lambda routes: routes[1:]),
        "sum of a join",
    ),
]


@mistakes(*PIPES, *CALLS, *RULES, *STAGES)
def test_mistakes_in_what_is_compiled_are_noticed(
    mistake: Mistake, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_noticed(mistake, monkeypatch)
