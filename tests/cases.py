"""The games and options that the general tests run over."""

from typing import Any

import pytest

from ludodrome.jit import COMPILED

LARGEST_PLAIN = 5

CASES: dict[str, list[dict[str, Any]]] = {
    "caldera": [{}, {"turn_limit": 1}, {"turn_limit": 30}, {"turn_limit": 1000}],
    "dots": [
        {},
        {"rows": 1, "cols": 1},
        {"rows": 2, "cols": 2},
        {"rows": 4, "cols": 6},
        {"rows": 3, "cols": 8},
        {"rows": 2, "cols": 12},
        {"rows": 12, "cols": 2},
        {"rows": 1, "cols": 21},
        {"rows": 21, "cols": 1},
    ],
    "santorini": [{}, {"players": 3}],
    "skysummit": [{}, {"turn_limit": 1}, {"turn_limit": 2}, {"turn_limit": 7}, {"turn_limit": 40}],
    "spaces": [
        {},
        {"size": 2},
        {"size": 2, "rules": "live", "choice": "blind"},
        {"size": 3, "rules": "live", "rounds": 12},
        {"size": 3, "rules": "live", "choice": "fog"},
        {"size": 2, "rules": "live", "mode": "deck"},
        {"size": 4, "rounds": 1},
        {"size": 7, "rules": "live"},
        {"size": 13, "rounds": 2},
        {"size": 100, "rules": "live", "rounds": 1},
    ],
}


def each_case(but: str = "") -> list[Any]:
    """All pairs of game and options, grouped by game so that each is compiled by one worker."""
    return [
        pytest.param(
            game,
            options,
            id=f"{game}-{words(options)}",
            marks=[
                pytest.mark.xdist_group(game),
                pytest.mark.skipif(
                    not COMPILED and options.get("size", 0) > LARGEST_PLAIN,
                    reason="spaces of this size takes plain Python minutes; the compiled run has it",
                ),
            ],
        )
        for game, all_options in CASES.items()
        for options in all_options
        if game != but
    ]


def each_game() -> list[Any]:
    """All games, grouped likewise."""
    return [pytest.param(game, marks=pytest.mark.xdist_group(game)) for game in CASES]


def words(options: dict[str, Any]) -> str:
    """Options as part of a test's name."""
    return ",".join(f"{name}={value}" for name, value in options.items()) or "default"
