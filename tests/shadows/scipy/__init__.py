"""Stands before SciPy for the programs that tests start: people who install Ludodrome do not get it.

OpenSpiel brings it to the developers' environment, and there Numba loads it at every start, which takes a third of a
second each time.
"""

raise ImportError("SciPy is not among what Ludodrome needs")
