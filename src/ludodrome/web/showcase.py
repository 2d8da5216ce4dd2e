"""The games in progress that a first visit finds: some moves are made, and it is your turn.

They are read from a file, so that a page can draw its board before any rule is compiled.
"""

import json
from functools import cache
from importlib.resources import files
from typing import Any

from ludodrome.games import BUILT_IN, find
from ludodrome.web.position_view import Json

OPPONENT = "level:3"


@cache
def _all() -> Json:
    read: Json = json.loads(files(__package__).joinpath("data", "showcase.json").read_text("utf-8"))
    return read


def showcase(game_id: str) -> Any:
    """``options``, ``seats``, the moves of the ``opening``, their ``texts``, and the ``state`` they lead to."""
    return _all()[game_id] if game_id in BUILT_IN else _empty(game_id)


@cache
def _empty(game_id: str) -> Json:
    """The first position, for a game of another package."""
    others = find(game_id).game_class()().seats - 1
    return {"options": {}, "seats": ["person"] + [OPPONENT] * others, "opening": [], "texts": [], "state": None}
