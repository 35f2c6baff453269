"""What the functions of the library compute, by family.

Law: there is one implementation for every function but COALESCE, which decides for itself which
of its arguments count, and so is an operation of ``logic``.
"""

from __future__ import annotations

from ebbtide.columnar.choice import CHOICES
from ebbtide.columnar.digests import DIGESTS
from ebbtide.columnar.json_text import JSON_TEXT
from ebbtide.columnar.nested import NESTED
from ebbtide.columnar.numerics import NUMBERS
from ebbtide.columnar.patterns import PATTERNS
from ebbtide.columnar.signature import Implementation
from ebbtide.columnar.text import TEXTS
from ebbtide.columnar.times import TIMES

IMPLEMENTATIONS: dict[str, Implementation] = {
    **TEXTS,
    **PATTERNS,
    **NUMBERS,
    **CHOICES,
    **TIMES,
    **NESTED,
    **JSON_TEXT,
    **DIGESTS,
}
