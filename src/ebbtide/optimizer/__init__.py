"""Rewriting a plan into the one that runs.

    optimise(plan) -> Relation         every rule of RULES once, in their order
    prepared(plan) -> Guarded          the same with guards against expressions that fail: what runs
    unfailing(plan) -> Relation        the guards alone, for whoever walks the plan as written
    skipped(plan)                      what a rule asks of rows that enter joins, beside the plan
    written(plan, optimised, node)     the operator of the plan that one of the optimised stands for

Law: a rule is a function from plans to plans of the same meaning, one to a module, named by a verb.
Filters may come and go, and a Product may become a Join or a Join a Product; every other operator
stays, in its place among the others, so that a fault found in the plan that runs is shown where
the user has written it.

What is proved is about the plan that runs, so whoever analyses a plan prepares it first: the
engine, and the command for EXPLAIN.  The analysis knows nothing of rules; it judges what it is
given.  Rules may ask the analysis.

Two rewrites are not here.  That a condition on ROW_NUMBER is a TopN is what the text means, so the
binder says so (``sql.binding.ranking``).  Which columns nobody reads is known only when it is
proved what stores need, so ``compile.pruning`` leaves them out, and the plan keeps them.
"""

from ebbtide.optimizer.guarding import Guarded, guarded
from ebbtide.optimizer.rules import RULES, Rule, optimise, prepared, skipped, unfailing
from ebbtide.optimizer.written import written

__all__ = [
    "RULES",
    "Guarded",
    "Rule",
    "guarded",
    "optimise",
    "prepared",
    "skipped",
    "unfailing",
    "written",
]
