"""A step as tagged tables, stages and tasks, on whatever carries the rows."""
