"""The levels of Skysummit."""

from ludodrome.bots.levels import FIRST_LEVELS, Level

LEVELS = (*FIRST_LEVELS, Level(5, nodes=8_000), Level(7, nodes=40_000))
