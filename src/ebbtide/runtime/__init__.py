"""Running queries on Spark: lowering, sources, steps, recovery, sinks and the engine."""
