"""Names as names of files: the one place where a name becomes a part of a path.

Law: different names give different files, in one directory, whatever the names are made of; a name
of letters, digits and ``_-.@`` stays as it is, unless it begins with a dot or is very long.
"""

from __future__ import annotations

import re
from hashlib import sha256

_ODD = re.compile(rb"^\.|[^A-Za-z0-9_.@-]")

LONGEST = 150
"""File systems take 255 bytes, and names of files have more parts than one."""


def file_name(name: str) -> str:
    """The name of a file or directory for a stream, a view, an operator.

    >>> file_name("readings"), file_name("sums.join@0")
    ('readings', 'sums.join@0')
    >>> file_name("../../x"), file_name("größe")
    ('%2E.%2F..%2Fx', 'gr%C3%B6%C3%9Fe')
    """
    data = name.encode("utf-8", "surrogatepass")
    escaped = _ODD.sub(lambda found: b"%%%02X" % found[0][0], data).decode("ascii")
    if len(escaped) <= LONGEST:
        return escaped or "%"
    return f"{escaped[: LONGEST - 33]}%{sha256(data).hexdigest()[:32]}"
