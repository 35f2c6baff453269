"""``python -m ebbtide.cli`` is ``ebbtide``."""

from ebbtide.cli.app import main

main()
