"""What the functions of the library compute, by family.

Law: there is one evaluation for every function but COALESCE, which decides for itself which of
its arguments to evaluate.
"""

from ebbtide.reference.functions.choice import CHOICES
from ebbtide.reference.functions.context import Context, Evaluation
from ebbtide.reference.functions.digests import DIGESTS
from ebbtide.reference.functions.nested import NESTED
from ebbtide.reference.functions.numbers import NUMBERS
from ebbtide.reference.functions.patterns import PATTERNS
from ebbtide.reference.functions.strings import STRINGS
from ebbtide.reference.functions.times import TIMES

__all__ = ["EVALUATIONS", "Context", "Evaluation"]

EVALUATIONS: dict[str, Evaluation] = {
    **STRINGS,
    **PATTERNS,
    **NUMBERS,
    **CHOICES,
    **TIMES,
    **NESTED,
    **DIGESTS,
}
