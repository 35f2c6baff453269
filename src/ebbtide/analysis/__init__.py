"""What the compiler proves about a plan: keys, monotonicity, temporal facts and the verdict.

Everything here is plain Python; it runs no query and reads no data.
"""
