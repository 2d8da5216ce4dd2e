"""Plays the search of one source tree against that of another, to see whether a change has made it stronger.

    python benchmarks/compare_trees.py OLD/src NEW/src --game santorini --pairs 100 --nodes 5000
    python benchmarks/compare_trees.py OLD/src NEW/src --game santorini --pairs 500 --nodes 10000 --sprt 40

Each tree is loaded by a process of its own. Every random opening is played twice, with changed seats. Prints what the
second tree has scored, with a 95 % interval over pairs; with ``--sprt ELO`` also the log-likelihood ratio of that Elo
against 0, and stops when the sequential test has a verdict.
"""

import argparse
import json
import os
import random
import subprocess
import sys
from typing import Any

import ludodrome
from ludodrome.arena.statistics.sprt import Sprt

OPENING = (4, 8)


def serve() -> None:
    """Answer each line [position, budget] with an action; the game comes first."""
    from ludodrome.search.iterative import Searcher

    game = ludodrome.make(json.loads(sys.stdin.readline()))
    thinker = Searcher(game)
    for line in sys.stdin:
        position, budget = json.loads(line)
        states = game.new_states(1)
        states[0] = game.encode(game.parse_state(position))
        *_, finding = thinker.search(states, **budget)
        print(finding.action, flush=True)


class Tree:
    """A process that thinks with the sources of one tree."""

    def __init__(self, source: str, game: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__, "--serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": source},
        )
        self._tell(game)

    def _tell(self, value: Any) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(value) + "\n")
        self._process.stdin.flush()

    def choose(self, position: str, budget: dict[str, Any]) -> int:
        """The action for a position."""
        self._tell([position, budget])
        assert self._process.stdout
        return int(self._process.stdout.readline())

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()


def opening(game: ludodrome.Game, rng: random.Random) -> Any:
    """A running position after a few random moves."""
    while True:
        state = game.initial_state()
        for _ in range(rng.randint(*OPENING)):
            if moves := game.legal_moves(state):
                state = game.apply(state, rng.choice(moves))
        if game.outcome(state) is None:
            return state


def play(game: ludodrome.Game, state: Any, players: list[Tree], budget: dict[str, Any]) -> list[float]:
    """One game; the scores by seat."""
    while (seat := game.to_move(state)) is not None:
        action = players[seat].choose(game.format_state(state), budget)
        state = game.apply(state, game.move(action, state))
    outcome = game.outcome(state)
    assert outcome
    return outcome.scores


def main() -> None:
    """Play and print."""
    if "--serve" in sys.argv:
        serve()
        return
    parser = argparse.ArgumentParser(description="Play one source tree against another.")
    parser.add_argument("trees", nargs=2)
    parser.add_argument("--game", default="santorini")
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--nodes", type=int)
    parser.add_argument("--time", type=float)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sprt", type=float, metavar="ELO")
    chosen = parser.parse_args()
    game = ludodrome.make(chosen.game)
    rng = random.Random(chosen.seed)
    budget = {name: value for name in ("nodes", "time") if (value := getattr(chosen, name)) is not None}
    old, new = (Tree(source, chosen.game) for source in chosen.trees)
    pairs: list[float] = []
    test = Sprt(0, chosen.sprt or 40)
    for number in range(1, chosen.pairs + 1):
        state = opening(game, rng)
        points = play(game, state, [new, old], budget)[0], play(game, state, [old, new], budget)[1]
        pairs.append(sum(points) / 2)
        found = test.add(number - 1, *points)
        ended = chosen.sprt is not None and found.verdict is not None
        if number % 10 == 0 or number == chosen.pairs or ended:
            mean = sum(pairs) / number
            error = 1.96 * (sum((pair - mean) ** 2 for pair in pairs) / number / max(number - 1, 1)) ** 0.5
            ratio = "" if chosen.sprt is None else f", LLR {found.llr:.2f} {found.verdict or ''}"
            print(f"{number} pairs: {mean:.1%} +- {error:.1%} for {chosen.trees[1]}{ratio}", flush=True)
        if ended:
            break
    old.close()
    new.close()


if __name__ == "__main__":
    main()
