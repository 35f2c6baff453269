"""What the site does to the pages on their way through MkDocs.

The marks after a code fence's language say to the tests how a block is tried; they are taken off.
The decisions are listed in the navigation as they are found.
"""

import re
from pathlib import Path
from typing import Any

_MARKS = re.compile(r"^( *```\w+) .*$", re.MULTILINE)


def on_config(config: Any) -> Any:
    """Lists the decisions, in their order."""
    pages = sorted(Path(config["docs_dir"], "adr").glob("[0-9]*.md"))
    listed = [f"adr/{page.name}" for page in pages]
    config["nav"] = [*config["nav"], {"Decisions": listed}]
    return config


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Takes the marks off the code fences."""
    return _MARKS.sub(r"\1", markdown)
