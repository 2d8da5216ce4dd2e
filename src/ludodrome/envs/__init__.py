"""Environments for learners and for agents who read and write text. Gymnasium, if it is there, is told of them.

    import gymnasium
    import ludodrome.envs

    env = gymnasium.make("ludodrome/Dots-v0", opponent="alphabeta:depth=3", rows=3, cols=3)
    envs = gymnasium.make_vec("ludodrome/Skysummit-v0", num_envs=4096, opponent="self")
    game = ludodrome.envs.aec_env("santorini", players=3)

Nothing heavy is imported before it is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

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
"""The names of the four scenarios of spaces, and their classes."""


def env_id(name: str) -> str:
    """The id under which Gymnasium knows an environment: of a game by its id, of a scenario by its name."""
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
    """Tell Gymnasium, if it is there, of every game and scenario."""
    try:
        from gymnasium.envs.registration import register, registry
    except ImportError:
        return
    from ludodrome.games import GAMES

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
