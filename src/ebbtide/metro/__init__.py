"""An hour in a metro station, after the examples of paper 5 (sections 2 and 5).

Sensors report temperature, smoke and airflow; wardens report; a fire begins, the brigade comes, the
fire ends.  Rules on these streams find fires, watch over them, and notice sensors that have failed.

| module | |
|---|---|
| ``day`` | what happens, made up from a seed: readings, bursts, disorder, rows that come late |
| ``rules`` | the streams and the rules, as SQL |
| ``story`` | the hour on an engine, told step by step: ``ebbtide demo metro`` |
"""
