"""Positions that searches are tested on: reached by random play, the same on every machine."""

import random
from collections.abc import Iterator
from typing import Any

from ludodrome.game import Game


def reached(game: Game, count: int, seed: int, least: int = 0) -> Iterator[Any]:
    """Running positions, one from each of ``count`` random games, at least ``least`` plies old if possible."""
    dice = random.Random(seed)
    found = 0
    while found < count:
        state = game.initial_state(seed)
        passed = []
        while moves := game.legal_moves(state):
            passed.append(state)
            state = game.apply(state, dice.choice(moves))
        late = passed[least:] or passed[-1:]
        yield dice.choice(late)
        found += 1
