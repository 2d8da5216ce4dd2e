"""Statistics of results: scores of a match, ratings of many players, sequential tests. Pure functions of numbers."""
