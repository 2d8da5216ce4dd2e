"""Importing a game compiles nothing: what Python needs of the kernels at import it runs as Python."""

import subprocess
import sys

import pytest

import ludodrome
from ludodrome.jit import COMPILED

SCRIPT = """
import importlib, sys
from numba.core.registry import CPUDispatcher
importlib.import_module("ludodrome.games.{game}")
names = [
    f"{{name}}.{{key}}"
    for name, module in list(sys.modules.items()) if name.startswith("ludodrome")
    for key, value in vars(module).items() if isinstance(value, CPUDispatcher) and value.signatures
]
print(*names)
"""


@pytest.mark.skipif(not COMPILED, reason="without compilation there is nothing to see")
@pytest.mark.parametrize("game", ludodrome.game_ids())
def test_nothing_is_compiled_by_importing_a_game(game: str) -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT.format(game=game)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
