"""The command ``ebbtide``: what people type.

    app            the command itself: its subcommands, loaded when they are asked for
    error_display  errors as people see them, and exit codes
    row_formats    rows as table, CSV or JSON
    ...            one module per subcommand

Importing any of these modules loads no Spark and no Arrow; what a subcommand needs is imported
when it runs.
"""
