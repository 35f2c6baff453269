"""The scalar functions by family: names, parameters, result types and one sentence each."""

from ebbtide.algebra.function_library.binary import BINARY_FUNCTIONS
from ebbtide.algebra.function_library.conditions import CONDITION_FORMS, CONDITION_FUNCTIONS
from ebbtide.algebra.function_library.json import JSON_FORMS, JSON_FUNCTIONS
from ebbtide.algebra.function_library.nested import NESTED_FORMS, NESTED_FUNCTIONS
from ebbtide.algebra.function_library.numbers import NUMBER_FORMS, NUMBER_FUNCTIONS
from ebbtide.algebra.function_library.patterns import PATTERN_FUNCTIONS
from ebbtide.algebra.function_library.strings import STRING_FUNCTIONS
from ebbtide.algebra.function_library.times import TIME_FORMS, TIME_FUNCTIONS

__all__ = ["LIBRARY", "LIBRARY_FORMS"]

LIBRARY = (
    *STRING_FUNCTIONS,
    *PATTERN_FUNCTIONS,
    *NUMBER_FUNCTIONS,
    *CONDITION_FUNCTIONS,
    *TIME_FUNCTIONS,
    *NESTED_FUNCTIONS,
    *JSON_FUNCTIONS,
    *BINARY_FUNCTIONS,
)

LIBRARY_FORMS = (*NUMBER_FORMS, *CONDITION_FORMS, *TIME_FORMS, *NESTED_FORMS, *JSON_FORMS)
