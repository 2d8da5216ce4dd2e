"""Games, search, bots, analysis, environments and matches work where Unix modules and calls are missing.

macOS and Windows lack some of what Linux has. These tests hide it in a process of its own; they are not a test on
those systems, but they find every import and call that would fail there.
"""

import os
import subprocess
import sys

HIDE = """
import os, signal, sys
for name in ("fcntl", "grp", "pwd", "resource", "termios", "tty", "pty"):
    sys.modules[name] = None
for name in ("getuid", "geteuid", "getgid", "sysconf", "sched_getaffinity", "pidfd_open", "nice", "killpg", "fork",
             "setsid", "fchmod", "fchown", "chown", "getpgid", "wait4", "waitid", "O_NOFOLLOW", "O_DIRECTORY"):
    if hasattr(os, name):
        delattr(os, name)
for name in ("SIGKILL", "SIGHUP", "SIGALRM", "SIGUSR1", "pthread_sigmask", "pidfd_send_signal", "setitimer"):
    if hasattr(signal, name):
        delattr(signal, name)
"""


def run(program: str, *, compiled: bool = False) -> str:
    """The output of a program that runs with these hidden."""
    settings = {**os.environ, "NUMBA_DISABLE_JIT": "01"[not compiled]}
    done = subprocess.run([sys.executable, "-c", HIDE + program], capture_output=True, text=True, env=settings)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_module_of_the_core_is_imported() -> None:
    text = run(
        """
import importlib, pkgutil
import ludodrome
count = 0
for package in ("search", "games", "bots", "analysis", "puzzle", "envs"):
    module = importlib.import_module("ludodrome." + package)
    for found in pkgutil.walk_packages(module.__path__, module.__name__ + "."):
        importlib.import_module(found.name)
        count += 1
for name in ("game", "game_spec", "jit", "kernel_cache", "atomic_io", "validation"):
    importlib.import_module("ludodrome." + name)
print(count)
"""
    )
    assert int(text) > 50


def test_every_module_of_the_arena_but_the_sandbox_is_imported() -> None:
    run(
        """
import importlib, pkgutil
import ludodrome.arena
for found in pkgutil.walk_packages(ludodrome.arena.__path__, "ludodrome.arena."):
    if not found.name.startswith("ludodrome.arena.sandbox.attacks"):
        importlib.import_module(found.name)
"""
    )


def test_a_game_is_played_analysed_solved_and_learnt_from() -> None:
    text = run(
        """
import ludodrome, ludodrome.envs
game = ludodrome.make("dots", rows=1, cols=2)
bot = ludodrome.bot("greedy", game, seed=1)
state = game.initial_state()
while game.outcome(state) is None:
    state = game.apply(state, bot.choose(game.observation(state, game.to_move(state))))
print(game.outcome(state).reason)
print(ludodrome.solve(game).value)
*_, analysis = ludodrome.analyse(game, game.initial_state(), time=0.2)
print(len(analysis.lines) > 0)
print(ludodrome.playouts(game, 10, seed=1).games)
"""
    )
    assert text.split()[-2:] == ["True", "10"]


def test_compiled_code_is_kept(tmp_path: object) -> None:
    text = run(
        f"""
import os
os.environ["LUDODROME_CACHE"] = {str(tmp_path)!r}
import ludodrome
game = ludodrome.make("dots", rows=1, cols=1)
game.initial_state()
""",
        compiled=True,
    )
    assert text == ""
    assert any(name.endswith(".nbi") for _, _, names in os.walk(str(tmp_path)) for name in names)


def test_a_match_between_built_in_bots_is_played() -> None:
    text = run(
        """
import ludodrome
result = ludodrome.play_match(ludodrome.make("dots", rows=1, cols=2), ["random", "greedy"], games=2, workers=1,
                              openings=None, seed=1)
print(len(result.records))
"""
    )
    assert text.split()[-1] == "2"
