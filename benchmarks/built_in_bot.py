r"""Play as a built-in bot over the bot protocol, so that two versions of the package can meet.

    git worktree add ../before COMMIT && ../before/scripts/install
    ludodrome match santorini "new=cmd:.venv/bin/python benchmarks/built_in_bot.py expert:time=0.1" \
        "old=cmd:../before/.venv/bin/python benchmarks/built_in_bot.py expert:time=0.1" --clock none --games 100

The interpreter decides whose package plays.
"""

import argparse
import json
import sys
from typing import Any

import ludodrome


def say(message: dict[str, Any]) -> None:
    """Send one line to the arena."""
    print(json.dumps(message), flush=True)


def main() -> None:
    """Answer ``hello`` and ``turn`` until the arena ends the conversation."""
    parser = argparse.ArgumentParser(description="Play as a built-in bot over the bot protocol.")
    parser.add_argument("spec", help="the bot, as in ludodrome match")
    spec = parser.parse_args().spec
    player: Any = None
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            game = ludodrome.make(message["game"], **message["options"])
            player = ludodrome.bot(spec, game, seed=message["seed"])
            player.choose(game.initial_state())  # compiles and loads before the clock runs
            player = ludodrome.bot(spec, game, seed=message["seed"])
            say({"type": "ready", "games": "many"})
        elif message["type"] == "turn":
            say({"type": "move", "move": player.choose(message["state"]), "turn": message["turn"]})


if __name__ == "__main__":
    main()
