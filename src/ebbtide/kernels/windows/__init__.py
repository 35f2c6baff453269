"""Windows that need state or make several facts of one: ROWS, SESSION, TUMBLE, HOP, CUMULATE."""
