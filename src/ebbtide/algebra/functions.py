"""The library of scalar functions: their names and types.

Law: a function is known by its upper-case name; its result type follows from the types of its
arguments alone, and a call with other types is refused.  What a function means stands beside its
declaration or in the reference evaluator, how it is computed once in every compiler of
expressions; one conformance suite compares them.

A *form* is called like a function and is none: ``coercion.call`` makes another expression of it.
"""

from __future__ import annotations

from difflib import get_close_matches

from ebbtide.algebra.arithmetic import arithmetic_type
from ebbtide.algebra.function_library import LIBRARY, LIBRARY_FORMS
from ebbtide.algebra.function_library.signature import Form, Function
from ebbtide.errors import BindError

__all__ = [
    "ALIASES",
    "FORMS",
    "FUNCTIONS",
    "Form",
    "Function",
    "arithmetic_type",
    "canonical",
    "function",
]

FUNCTIONS: dict[str, Function] = {function.name: function for function in LIBRARY}

FORMS: dict[str, Form] = {form.name: form for form in LIBRARY_FORMS}

ALIASES: dict[str, str] = {
    "BTRIM": "TRIM",
    "CARDINALITY": "SIZE",
    "CEILING": "CEIL",
    "CHAR": "CHR",
    "CHARACTER_LENGTH": "LENGTH",
    "CHAR_LENGTH": "LENGTH",
    "DATEADD": "DATE_ADD",
    "DATEPART": "DATE_PART",
    "DATE_DIFF": "DATEDIFF",
    "DAYOFMONTH": "DAY",
    "IFNULL": "COALESCE",
    "LCASE": "LOWER",
    "LEN": "LENGTH",
    "NVL": "COALESCE",
    "POSITION": "LOCATE",
    "POW": "POWER",
    "REGEXP": "RLIKE",
    "REGEXP_LIKE": "RLIKE",
    "SHA": "SHA1",
    "SIGNUM": "SIGN",
    "SUBSTR": "SUBSTRING",
    "UCASE": "UPPER",
}


def canonical(name: str) -> str:
    """The name by which the library knows what SQL calls by that name, in any case.

    >>> canonical("substr")
    'SUBSTRING'
    """
    upper = name.upper()
    known = ALIASES.get(upper, upper)
    if known in FUNCTIONS or known in FORMS:
        return known
    near = get_close_matches(upper, (*FUNCTIONS, *FORMS, *ALIASES), 3)
    raise BindError(
        "unknown-function",
        f'there is no function "{name}"',
        detail=f"near it are {', '.join(near)}" if near else None,
        hint=near[0] if near else None,
    )


def function(name: str) -> Function:
    """The function of that name, in upper case and no alias."""
    if name not in FUNCTIONS:
        known = canonical(name)
        raise BindError("unknown-function", f'"{name}" is not the name of a function', hint=known)
    return FUNCTIONS[name]
