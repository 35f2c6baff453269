"""Temporal facts: what is known about the times on every edge of a plan.

    edge          what is known on an edge; variables, copies
    meaning       what scalar expressions say about times
    derivation    one arm per operator
    pointwise, combination, windows, frame
                  the operators by family

The idea is paper 5's (sections 3 and 4): facts and bounds are derived from the leaves to the root,
and tell how far an output has come when its inputs have.
"""
