"""The arena where modules and calls of Linux are missing: everything is imported, built-in bots play."""

from tests.test_portability import run


def test_every_module_is_imported() -> None:
    run(
        """
import importlib, pkgutil
import ludodrome.arena
for found in pkgutil.walk_packages(ludodrome.arena.__path__, "ludodrome.arena."):
    importlib.import_module(found.name)
"""
    )


def test_built_in_bots_play_and_the_sandbox_says_what_it_needs() -> None:
    text = run(
        """
from ludodrome.arena import records, sandbox
from ludodrome.arena.conditions import conditions
from ludodrome.arena.game_loop import play
from ludodrome.arena.play_spec import PlaySpec
from ludodrome.games import make
game = make("dots", rows=1, cols=2)
record = play(PlaySpec("dots", game.options, ("greedy", "random"), ("a", "b"), conditions(game)))
records.verify(record)
print(record["result"]["decided_by"])
sys.platform = "darwin"
print(sandbox.level().why_not_better[0])
"""
    )
    assert text.splitlines() == ["play", "only Linux can run a sandbox, and this is darwin"]
