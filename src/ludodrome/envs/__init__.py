"""Environments for reinforcement learning and for agents that read and write text. Gymnasium knows them by id.

    import gymnasium
    import ludodrome.envs

    env = gymnasium.make("ludodrome/Dots-v0", opponent="alphabeta:depth=3", rows=3, cols=3)
    envs = gymnasium.make_vec("ludodrome/Skysummit-v0", num_envs=4096, opponent="self")
    game = ludodrome.envs.aec_env("santorini", players=3)

Environments are imported on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ludodrome.games import GAMES

if TYPE_CHECKING:
    from ludodrome.envs.gym_env import GameEnv
    from ludodrome.envs.pettingzoo_env import aec_env, parallel_env
    from ludodrome.envs.scenarios import (
        BoardGeneration,
        BoardSelection,
        MetaGame,
        OpponentPrediction,
    )
    from ludodrome.envs.vector_env import GameVectorEnv

__all__ = [
    "BoardGeneration",
    "BoardSelection",
    "GameEnv",
    "GameVectorEnv",
    "MetaGame",
    "OpponentPrediction",
    "aec_env",
    "parallel_env",
]

NAMESPACE = "ludodrome"
VERSION = 0

_HOMES = {
    "GameEnv": "gym_env",
    "GameVectorEnv": "vector_env",
    "aec_env": "pettingzoo_env",
    "parallel_env": "pettingzoo_env",
    "BoardGeneration": "scenarios",
    "BoardSelection": "scenarios",
    "OpponentPrediction": "scenarios",
    "MetaGame": "scenarios",
}

SCENARIOS = {
    "SpacesBoardGeneration": "BoardGeneration",
    "SpacesBoardSelection": "BoardSelection",
    "SpacesOpponentPrediction": "OpponentPrediction",
    "SpacesMetaGame": "MetaGame",
}
"""The scenarios of spaces: name -> class."""


def env_id(name: str) -> str:
    """The Gymnasium id of a game, given its id, or of a scenario, given its name.

    >>> env_id("dots")
    'ludodrome/Dots-v0'
    """
    return f"{NAMESPACE}/{name[:1].upper()}{name[1:]}-v{VERSION}"


def missing_extra(error: ImportError, what: str, extra: str) -> ImportError:
    """The ImportError to raise when a package of an optional extra is not installed."""
    name = error.name or "a package"
    return ImportError(f"{what} need {name}, which is not installed: pip install 'ludodrome[{extra}]'", name=error.name)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _register() -> None:
    """Register every game and scenario with Gymnasium, if it is installed."""
    try:
        from gymnasium.envs.registration import register, registry  # optional extra
    except ImportError:
        return
    for game_id in GAMES:
        if env_id(game_id) not in registry:
            register(
                env_id(game_id),
                entry_point=f"{__name__}.gym_env:GameEnv",
                vector_entry_point=f"{__name__}.vector_env:GameVectorEnv",
                kwargs={"game": game_id},
            )
    for name, scenario in SCENARIOS.items():
        if env_id(name) not in registry:
            register(env_id(name), entry_point=f"{__name__}.scenarios:{scenario}")


_register()
