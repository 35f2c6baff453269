"""How fast it is: against what Spark needs at least, against Spark's own way, and against Flink.

Law: every figure has its expected answer; a run whose answer is wrong has no figure.  Times are
compared inside one run, one after the other in turn, and medians are taken.
"""
