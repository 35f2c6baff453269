"""Names of attributes as Spark writes them: what to write here.

Law: an attribute that is not there is an `AttributeError`, as ever; where it is only spelt in
Spark's way, `toPandas`, the error says how it is spelt here, `to_pandas`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

__all__ = ["SpeltAsInPython"]

_CAPITAL = re.compile(r"(?<=[a-z0-9])([A-Z])")


class SpeltAsInPython:
    """Tells who asks for an attribute in camel case what it is called."""

    if not TYPE_CHECKING:  # for mypy there are only the attributes that there are

        def __getattr__(self, name: str) -> Any:
            known = _CAPITAL.sub(r"_\1", name).lower()
            if known != name and hasattr(type(self), known):
                kind = type(self).__name__
                raise AttributeError(
                    f"{kind!r} object has no attribute {name!r}; did you mean {known}?",
                    name=name,
                    obj=self,
                )
            # Python comes here if a property failed, too: its own error is raised.
            return object.__getattribute__(self, name)
