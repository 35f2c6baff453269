"""Binding: from trees of names to plans, clause by clause.

    sources, windows, joins      FROM
    scalars, calls               expressions
    subqueries                   IN, EXISTS and scalar subqueries, as joins
    grouping, framing, ranking   GROUP BY and aggregates, OVER, top-n
    selection                    a SELECT as a whole
    queries                      set operations, WITH, ORDER BY of those
    declarations                 CREATE, DROP, INSERT

Law: what is sugar in SQL is bound as what it stands for in plainer SQL, so that a plan prints as
SQL that is bound to the same plan (``ebbtide.plan_text.plan_sql``).
"""
