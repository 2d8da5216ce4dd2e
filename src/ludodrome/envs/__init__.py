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

from ludodrome.games import BUILT_IN, GAMES

if TYPE_CHECKING:
    from ludodrome.envs.gym_env import GameEnv as GameEnv
    from ludodrome.envs.pettingzoo_env import aec_env as aec_env
    from ludodrome.envs.vector_env import GameVectorEnv as GameVectorEnv

NAMESPACE = "ludodrome"
VERSION = 0

_MODULES = {
    "GameEnv": f"{__name__}.gym_env",
    "GameVectorEnv": f"{__name__}.vector_env",
    "aec_env": f"{__name__}.pettingzoo_env",
} | {name: f"{entry.module}.{module}" for entry in BUILT_IN.values() for name, module in entry.environments.items()}
"""Name -> the module that defines it; games add their own environments."""
__all__ = sorted(_MODULES)

SCENARIOS = {
    f"{entry.id.title()}{name}": (f"{entry.module}.{module}", name)
    for entry in BUILT_IN.values()
    for name, module in entry.environments.items()
    if name[0].isupper()
}
"""Gymnasium name of a game's own environment -> its module and class."""


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
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
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
    for name, (module, class_name) in SCENARIOS.items():
        if env_id(name) not in registry:
            register(env_id(name), entry_point=f"{module}:{class_name}")


_register()
