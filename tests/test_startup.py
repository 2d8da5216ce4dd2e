"""Importing a game compiles nothing: what Python needs of the kernels at import it runs as Python."""

import os
import subprocess
import sys
from pathlib import Path

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


POSTPONED = """
import sys
from pathlib import Path
import ludodrome
ludodrome.make("dots").initial_state()
from numba.np import arraymath, linalg
print("scipy.linalg" in sys.modules, arraymath._HAVE_BLAS)
assert arraymath.ensure_blas is linalg.ensure_blas
linalg.ensure_blas()
print("scipy.linalg" in sys.modules)
"""


@pytest.mark.skipif(not COMPILED, reason="nothing is compiled here")
def test_the_first_kernel_does_not_import_linear_algebra_that_it_does_not_need() -> None:
    pytest.importorskip("scipy")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}  # tests hide SciPy by it
    asked = [sys.executable, "-c", POSTPONED]
    done = subprocess.run(asked, capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.split() == ["False", "True", "True"]


SMALL_ROUND = """
import contextlib, io, sys
sys.argv = ["ludodrome", "spaces", *{words!r}.split()]
from ludodrome.cli import main
printed = io.StringIO()
printed.reconfigure = lambda **_: None
with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
    main()
from numba import config
heavy = [name for name in ("highspy", "pydantic", "scipy.linalg", "sqlalchemy", "textual") if name in sys.modules]
print(config.DISABLE_JIT, *heavy)
print(printed.getvalue())
"""


@pytest.mark.skipif(not COMPILED, reason="nothing is compiled here")
@pytest.mark.parametrize(
    ("words", "interpreted"),
    [
        ("simulate 3:1:uuf 3:0:u6uf", True),
        ("test --player 3:1:uuf --opponent 3:0:u6uf --no-session", True),
        ("test --player 3:1:uuf --opponent random --no-session", False),
        ("test small.toml --no-session", True),
        ("test large.toml --no-session", False),
        ("check 3:1:uuf", False),
    ],
)
def test_a_single_round_of_spaces_loads_no_kernels(words: str, interpreted: bool, tmp_path: Path) -> None:
    """Loading them takes longer than the round; and nothing heavy is imported for it."""
    environment = {**os.environ, "XDG_DATA_HOME": str(tmp_path)}
    for name, opponent in (("small", "3:0:u6uf"), ("large", "best-response")):
        (tmp_path / f"{name}.toml").write_text(f'[[tests]]\nplayer = "3:1:uuf"\nopponent = "{opponent}"\n')
    script = [sys.executable, "-c", SMALL_ROUND.format(words=words)]
    done = subprocess.run(script, capture_output=True, text=True, check=True, env=environment, cwd=tmp_path)
    first, _, printed = done.stdout.partition("\n")
    assert first == ("1" if interpreted else "0")
    if interpreted:
        assert "3 : 2" in printed
