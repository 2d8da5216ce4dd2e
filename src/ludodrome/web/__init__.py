"""The face of Ludodrome: pages to play, to solve puzzles and to read rules, and the API that they use."""
