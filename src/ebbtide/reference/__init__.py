"""The naive evaluator: what is right.

Snapshot by snapshot, written for clarity, never optimised.  It shares nothing with what it judges
beyond the model and the algebra.
"""

from ebbtide.reference.evaluation import apply, errors, evaluate, evaluate_at

__all__ = ["apply", "errors", "evaluate", "evaluate_at"]
