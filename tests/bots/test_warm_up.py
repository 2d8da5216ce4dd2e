"""A bot that has been made is ready: no kernel is compiled or loaded in its moves, while a clock runs.

Each case has a process of its own, since in this one other tests have loaded most kernels already.
"""

import subprocess
import sys

import pytest

from ludodrome.jit import COMPILED

PLAY = """
import sys
import ludodrome

def loaded(kernels):
    entries = {name: getattr(kernels, name) for name in dir(kernels)}
    for module in [one for name, one in sys.modules.items() if name.startswith(type(game).__module__)]:
        entries |= {f"{module.__name__}.{name}": one for name, one in vars(module).items() if is_entry(one)}
    return {name: len(entry.signatures) for name, entry in entries.items() if hasattr(entry, "signatures")}

def is_entry(one):
    return hasattr(one, "signatures") and bool(one.stats.cache_path)

spec, game_id, *options = sys.argv[1:]
game = ludodrome.make(game_id, **{name: int(value) for name, value in (one.split("=") for one in options)})
other, bot = ludodrome.bot("random", game, seed=1), ludodrome.bot(spec, game)
for number in range(3):
    state = game.initial_state(number)
    while (seat := game.to_move(state)) is not None:
        shown = game.observation(state, seat)
        move = other.choose(shown)
        before = loaded(game.kernels)
        own = bot.choose(shown)
        late = {name for name, count in loaded(game.kernels).items() if count > before[name]}
        assert not late, f"{spec} needs {late} in a move of {game_id}"
        state = game.apply(state, own if seat == number % 2 else move)
"""


@pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
@pytest.mark.parametrize(
    ("spec", "game_id", "option"),
    [
        ("expert:time=0.02", "spaces", "size=5"),
        ("expert:time=0.02", "skysummit", "turn_limit=60"),
        ("greedy", "caldera", "turn_limit=60"),
        ("level:1", "santorini", "players=2"),
        ("mcts:time=0.02", "santorini", "players=3"),
        ("alphabeta:time=0.02", "dots", "rows=3"),
        ("expert:time=0.02", "dots", "rows=5"),
    ],
)
def test_nothing_is_compiled_in_a_move(spec: str, game_id: str, option: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PLAY, spec, game_id, option], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
