"""The names of what a program puts out: its views, what each of them leaves out, and its lineage.

Law: no view has such a name, for ``@`` cannot stand in one.
"""

from __future__ import annotations


def errors_name(view: str) -> str:
    """The name of what a view leaves out because an expression fails.

    >>> errors_name("totals")
    'totals@errors'
    """
    return f"{view}@errors"


def lineage_name(view: str) -> str:
    """The name of what a view stores of the lineage of its rows.

    >>> lineage_name("totals")
    'totals@lineage'
    """
    return f"{view}@lineage"


def is_errors(output: str) -> bool:
    """Whether an output is what a view leaves out.

    >>> is_errors("totals@errors"), is_errors("totals@lineage"), is_errors("totals")
    (True, False, False)
    """
    return output == errors_name(view_of(output))


def view_of(output: str) -> str:
    """The view of an output, which is the view's own, what it leaves out or its lineage.

    >>> view_of("totals@errors"), view_of("totals")
    ('totals', 'totals')
    """
    return output.partition("@")[0]
