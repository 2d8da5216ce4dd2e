"""Fit the steepness of ``analysis/win_probability.py``, scores to chances, to games that weak searches play.

    .venv/bin/python benchmarks/steepness.py skysummit --games 250

Every game begins with some moves by lot. Each position that is not decided yet gets a score from a better search; the
steepness k is the one that makes the results most likely if a score s wins with the chance 1 / (1 + exp(-k s)).
"""

import argparse
import random
from typing import Any

import numpy as np

import ludodrome
from ludodrome.game import Game
from ludodrome.search.iterative import Searcher

JUDGE_NODES = 8_000
PLAYER_NODES = (300, 1_000, 3_000)
LEAST_LOTS, MOST_LOTS = 2, 6
SMALLEST = 1e-12


def game_of(game: Game, dice: random.Random, judge: Searcher, player: Searcher) -> list[tuple[float, float]]:
    """The scores of one game's positions, each with what the seat to move got in the end."""
    states = game.encode_array(game.initial_state(dice.randrange(1 << 30)))
    for _ in range(dice.randint(LEAST_LOTS, MOST_LOTS)):
        if game.kernels.mover(states) >= 0:
            game.kernels.play(states, dice.choice(game.legal_actions_of(states)))
    judge.clear()
    player.clear()
    seen: list[tuple[int, float]] = []
    while (seat := int(game.kernels.mover(states))) >= 0:
        *_, found = judge.search(states, nodes=JUDGE_NODES)
        if found.distance is None:
            seen.append((seat, found.score / 100))
        *_, chosen = player.search(states, nodes=dice.choice(PLAYER_NODES))
        game.kernels.play(states, chosen.action)
    ending: Any = game.outcome_of(states)
    return [(score, (ending.returns[seat] + 1) / 2) for seat, score in seen]


def main() -> None:
    """Plays, fits, prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("game", choices=["skysummit", "santorini", "caldera"])
    parser.add_argument("--games", type=int, default=150)
    asked = parser.parse_args()
    game, dice = ludodrome.make(asked.game), random.Random(5)
    judge, player = Searcher(game, 18), Searcher(game, 16)
    rows = np.array([row for _ in range(asked.games) for row in game_of(game, dice, judge, player)])
    scores, results = rows.T

    def unlikeliness(steepness: float) -> float:
        chances = 1 / (1 + np.exp(-steepness * scores))
        each = results * np.log(chances + SMALLEST) + (1 - results) * np.log(1 - chances + SMALLEST)
        return float(-each.mean())

    best = min(np.arange(0.02, 5, 0.01), key=unlikeliness)
    loss = unlikeliness(best)
    print(f"{game.id}: {asked.games} games, {len(rows)} positions, steepness {best:.2f}, log loss {loss:.3f}")


if __name__ == "__main__":
    main()
