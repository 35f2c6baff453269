"""The mathematics of the temporal analysis, apart from any operator.

    terms, formula    what a query may say about times
    normal            the normal form of a formula
    bounds            one conjunction of difference bounds, with its distances
    dnf               what is known about the rows of a node: a few conjunctions
    streambound       what has to pass before rows are complete; propagated progress
    progress          progress values, as expressions
    conditions        when a row passes, and how long a stored one is kept

Everywhere ``dist(w, v)`` is the largest ``v - w``, so ``v <= w + dist(w, v)``.
"""
