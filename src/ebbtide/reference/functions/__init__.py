"""What the functions of the library compute.

Law: there is one evaluation for every function but COALESCE, which decides for itself which of
its arguments to evaluate.  A function of values alone is declared with its meaning; those that
need the types, the calendar or regular expressions are here, by family.
"""

from ebbtide.algebra.functions import FUNCTIONS
from ebbtide.reference.functions.context import Context, Evaluation, plain
from ebbtide.reference.functions.json_text import JSON_TEXT
from ebbtide.reference.functions.numbers import NUMBERS
from ebbtide.reference.functions.patterns import PATTERNS
from ebbtide.reference.functions.times import TIMES

__all__ = ["EVALUATIONS", "Context", "Evaluation"]

EVALUATIONS: dict[str, Evaluation] = {
    **{name: plain(f.meaning) for name, f in FUNCTIONS.items() if f.meaning is not None},
    **PATTERNS,
    **NUMBERS,
    **TIMES,
    **JSON_TEXT,
}
