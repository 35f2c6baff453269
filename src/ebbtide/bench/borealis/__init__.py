"""The experiments of paper 3 (figures 6 to 8, table 3), and what its section 4.3 sets out to do.

``quotes`` makes the paper's data, ``archive_formats`` its representations of an archive,
``revising`` runs its queries with revisions, ``suite`` all of it, and ``results`` shows it.
"""

from ebbtide.bench.borealis.results import Measurement, as_json, as_table, draw
from ebbtide.bench.borealis.suite import EXPERIMENTS, PaperDay, measured

__all__ = ["EXPERIMENTS", "Measurement", "PaperDay", "as_json", "as_table", "draw", "measured"]
