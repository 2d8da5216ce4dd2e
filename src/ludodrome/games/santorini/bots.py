"""The levels of Santorini."""

from ludodrome.bots.levels import FIRST_LEVELS, Level

LEVELS = (*FIRST_LEVELS, Level(4, nodes=6_000), Level(6, nodes=30_000))
