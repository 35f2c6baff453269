"""Codecs: relations to and from the encodings of the papers, of Spark and of Flink.

Law, for each of them: ``decode(encode(changes))`` is snapshot-equivalent to ``changes``, and what
``encode`` gives is ordered by time.

| module | encoding |
|---|---|
| ``temporal`` | temporal tuples (paper 4) |
| ``signed`` | positive and negative tuples (paper 2) |
| ``keyed`` | positive temporal tuples, ended early by negative ones of the same key (paper 1) |
| ``revision`` | insertions, deletions and replacements of tuples issued before (paper 3) |
| ``spark`` | Spark's ``_change_type`` |
| ``flink`` | Flink's row kinds |
| ``debezium`` | Debezium's envelopes |
| ``upsert`` | upserts and ends by key |
| ``touching`` | changes joined where they touch, or cut |
| ``encoding`` | which of them a sink gets |

Encoding refuses what is no relation (``QueryError``), decoding what nobody could have encoded
(``SourceError``).  Lateness is none of their business: ``admission`` judges single rows.
"""
