"""Files as rows of a source, read with Arrow in whatever process needs them.

Law: a row whose values fit the declared columns is given as it is; any other is given as text, with
which it goes to the unused rows.  A value fits if it can be converted without loss.  What a row
becomes depends on its own text alone, and not on its neighbours.  A file that cannot be read, or
not from some place on, is one such text, which names it.

``csv``, ``json`` and ``parquet`` are readers; the other modules are what they share:

| module | holds |
|---|---|
| ``how_to_read`` | which reader reads files, and with which options |
| ``reader`` | what a reader is, and what becomes of files that cannot be read |
| ``options`` | the options about files of any format |
| ``lines`` | text as blocks of whole lines |
| ``texts`` | texts as values of a type |
| ``parquet_batches`` | the rows of a file of Parquet, no more at a time than fit into memory |
| ``arrow_values`` | values of other Arrow types as values of a type |
| ``json_values`` | values of JSON as values of a type |
| ``envelopes`` | Debezium's envelopes as the rows inside of them |
"""

from __future__ import annotations

from ebbtide.files.how_to_read import HowToRead, reads
from ebbtide.files.reader import FileReader, is_whole_file, told_of_file

__all__ = ["FileReader", "HowToRead", "is_whole_file", "reads", "told_of_file"]
