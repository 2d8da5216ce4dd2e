"""How punctual the built-in bots are: what a move takes, less the time that it was given.

    .venv/bin/python -m benchmarks.lateness                      all games, 200 moves of each bot, 0.05 s a move
    .venv/bin/python -m benchmarks.lateness dots --moves 1000 --time 0.1

Positions are those of random games. The exit code is 1 if a bot is more than 10 ms late in more than one
move of a hundred. On a machine that is busy otherwise it measures that, too.
"""

import argparse
import random
import sys
import time
from collections.abc import Iterator
from typing import Any

import ludodrome

BOTS = ("alphabeta", "mcts", "expert")
OPTIONS: dict[str, dict[str, int]] = {"spaces": {"size": 8}}
"""Where the usual options leave nothing to think about: small boards of spaces are answered from tables."""
MOST_LATE = 0.010


def positions(game: ludodrome.Game, chance: random.Random) -> Iterator[Any]:
    """Running positions without end, a few of each random game."""
    mover = ludodrome.bot("random", game, seed=chance.getrandbits(40))
    while True:
        state = game.initial_state(chance.getrandbits(40))
        while (seat := game.to_move(state)) is not None:
            if chance.random() < 0.2:
                yield state
            state = game.apply(state, mover.choose(game.observation(state, seat)))


def late(game_id: str, kind: str, moves: int, seconds: float) -> list[float]:
    """How late each move was; a move that was made early is not late."""
    game = ludodrome.make(game_id, **OPTIONS.get(game_id, {}))
    bot = ludodrome.bot(f"{kind}:time={seconds:g}", game)
    found, asked = [], positions(game, random.Random(1))
    for number in range(moves + 1):
        state = next(asked)
        shown = game.observation(state, game.to_move(state))
        begun = time.perf_counter()
        bot.choose(shown)
        if number:  # the first one loads what is compiled
            found.append(max(0.0, time.perf_counter() - begun - seconds))
    bot.close()
    return sorted(found)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Measure how late built-in bots are.")
    parser.add_argument("games", nargs="*", default=ludodrome.game_ids())
    parser.add_argument("--moves", type=int, default=200, help="moves of each bot (default 200)")
    parser.add_argument("--time", type=float, default=0.05, help="seconds a move (default 0.05)")
    chosen = parser.parse_args()
    unpunctual = False
    for game_id in chosen.games:
        for kind in BOTS if game_id != "spaces" else BOTS[-1:]:  # only expert has a clock there
            found = late(game_id, kind, chosen.moves, chosen.time)
            most = found[min(len(found) - 1, int(0.99 * len(found)))]
            unpunctual = unpunctual or most > MOST_LATE
            print(
                f"{game_id:10} {kind:10} late by {1000 * found[len(found) // 2]:5.1f} ms at the median, "
                f"{1000 * most:5.1f} ms at the 99th percentile, {1000 * found[-1]:5.1f} ms at most",
                flush=True,
            )
    sys.exit(unpunctual)


if __name__ == "__main__":
    main()
