"""The names of what a program puts out: its views, and what each of them leaves out.

Law: no view has such a name, for ``@`` cannot stand in one.
"""

from __future__ import annotations


def errors_name(view: str) -> str:
    """The name of what a view leaves out because an expression fails.

    >>> errors_name("totals")
    'totals@errors'
    """
    return f"{view}@errors"


def view_of(output: str) -> str:
    """The view of an output, which is the view's own or what it leaves out.

    >>> view_of("totals@errors"), view_of("totals")
    ('totals', 'totals')
    """
    return output.partition("@")[0]
