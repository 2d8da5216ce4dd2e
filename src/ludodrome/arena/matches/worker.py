"""What runs in a worker: one call at a time. It is imported there once, before the workers part.

The functions are module-level, so that they can be sent to any process or machine that has this package.
"""

import os
from collections.abc import Callable
from typing import Any, NamedTuple

from ludodrome.arena.matches.executors import Dismissed
from ludodrome.arena.play_spec import PlaySpec


class Draw(NamedTuple):
    """An opening to be drawn."""

    game: str
    options: dict[str, Any]
    seed: int
    number: int


def work(function: Callable[[Any], Any], argument: Any) -> Any:
    """The call. A worker that is told to leave ends its bots and goes without another word."""
    try:
        return function(argument)
    except Dismissed:
        os._exit(0)


def play(assignment: PlaySpec) -> dict[str, Any]:
    """The record of a game."""
    from ludodrome.arena import game_loop

    return game_loop.play(assignment)


def draw(wanted: Draw) -> list[Any]:
    """The moves of an opening."""
    from ludodrome.arena.matches.openings import opening
    from ludodrome.games import make

    return opening(make(wanted.game, **wanted.options), wanted.seed, wanted.number)
