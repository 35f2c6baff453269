"""The engine that people use: queries, programs, runs, readers and sinks."""
