"""Ludodrome's speed against that of TextArena and OpenSpiel, on this machine, as ratios with floors.

Run it with ``benchmarks/peers``, which sets up the packages; README.md beside it says what is compared.
"""

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import pyspiel
import textarena
from rich.console import Console
from rich.table import Table

import ludodrome

ROUNDS = 15
SLICE = 0.3  # seconds of processor time for each contestant in each round
OUR_GAMES = 2048  # in one call of ludodrome.playouts
SIMULATIONS = 2000  # in one search of OpenSpiel's

Bite = Callable[[int], int]  # does a little work, from a seed, and says how many units it was


@dataclass
class Comparison:
    """One peer against ours, both in units a second of processor time, one number for each round."""

    game: str
    unit: str
    peer: str
    floor: float | None
    peer_rounds: list[float]
    our_rounds: list[float]

    @property
    def ratio(self) -> float:
        """How many times faster ours is: median against median."""
        return statistics.median(self.our_rounds) / statistics.median(self.peer_rounds)

    @property
    def holds(self) -> bool | None:
        """Whether the ratio reaches the floor; None where there is no floor."""
        return None if self.floor is None else self.ratio >= self.floor

    def report(self) -> dict[str, Any]:
        """Everything about it, for JSON."""
        return {
            "game": self.game,
            "unit": f"{self.unit}/s",
            "peer": self.peer,
            "peer_median": statistics.median(self.peer_rounds),
            "our_median": statistics.median(self.our_rounds),
            "ratio": self.ratio,
            "floor": self.floor,
            "holds": self.holds,
            "peer_rounds": self.peer_rounds,
            "our_rounds": self.our_rounds,
        }


def our_plies(game_id: str) -> Bite:
    """Our random playouts, counted in plies."""
    game = ludodrome.make(game_id)
    return lambda seed: ludodrome.playouts(game, OUR_GAMES, seed=seed).plies


def our_games(game_id: str) -> Bite:
    """Our random playouts, counted in games."""
    game = ludodrome.make(game_id)
    return lambda seed: ludodrome.playouts(game, OUR_GAMES, seed=seed).games


def textarena_plies(env_id: str) -> Bite:
    """One random game of TextArena's Santorini in the loop its agents are run in, counted in plies.

    Moves are taken from the list of legal moves that the environment keeps for the player to move,
    the text which its prompt shows. A used environment's observations go on growing over all its
    games, so every game gets a fresh one.
    """

    def bite(seed: int) -> int:
        rng = random.Random(seed)
        env = textarena.make(env_id, error_allowance=0)
        env.reset(num_players=2)
        plies, done = 0, False
        while not done:
            env.get_observation()
            done, _ = env.step(rng.choice(env.state.game_state["valid_moves"].split(", ")))
            plies += 1
        _, info = env.close()
        if any(player["invalid_move"] for player in info.values()):
            raise RuntimeError(f"TextArena refused a move from its own list of legal moves: {info}")
        return plies

    return bite


def openspiel_search(game: Any) -> Bite:
    """A search of OpenSpiel's C++ MCTS from the start; every simulation is one random playout."""
    start = game.new_initial_state()

    def bite(seed: int) -> int:
        evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
        bot = pyspiel.MCTSBot(
            game,
            evaluator,
            uct_c=2.0,
            max_simulations=SIMULATIONS,
            max_memory_mb=1000,
            solve=False,
            seed=seed,
            verbose=False,
        )
        return int(bot.mcts_search(start).explore_count)

    return bite


def openspiel_loop(game: Any) -> Bite:
    """One random playout of an OpenSpiel game in a plain Python loop."""

    def bite(seed: int) -> int:
        choice = random.Random(seed).choice
        state = game.new_initial_state()
        while not state.is_terminal():
            state.apply_action(choice(state.legal_actions()))
        return 1

    return bite


def speed(bite: Bite, seed: int) -> float:
    """Units a second of processor time, over one slice."""
    units = 0
    start = time.process_time()
    while (spent := time.process_time() - start) < SLICE:
        units += bite(seed)
        seed += 1
    return units / spent


def measure() -> list[Comparison]:
    """Warms everybody up, then gives each a slice in turn, round after round."""
    dots = pyspiel.load_game("dots_and_boxes(num_rows=5,num_cols=5)")
    matches: list[tuple[str, str, Bite, list[tuple[str, Bite, float | None]]]] = [
        (
            "santorini",
            "plies",
            our_plies("santorini"),
            [
                ("TextArena, as agents get it", textarena_plies("SantoriniBaseFixed-v0"), 3000),
                ("TextArena, bare environment", textarena_plies("SantoriniBaseFixed-v0-raw"), None),
            ],
        ),
        (
            "dots 5x5",
            "playouts",
            our_games("dots"),
            [
                ("OpenSpiel, inside its C++ MCTS", openspiel_search(dots), 10),
                ("OpenSpiel, plain Python loop", openspiel_loop(dots), 25),
            ],
        ),
    ]
    comparisons: list[Comparison] = []
    for game, unit, ours, peers in matches:
        for bite in (ours, *(peer for _, peer, _ in peers)):
            bite(0)
        our_rounds: list[float] = []
        rows = [Comparison(game, unit, name, floor, [], our_rounds) for name, _, floor in peers]
        for turn in range(ROUNDS):
            seed = 1_000_000 * (turn + 1)
            our_rounds.append(speed(ours, seed))
            for row, (_, peer, _) in zip(rows, peers, strict=True):
                row.peer_rounds.append(speed(peer, seed))
        comparisons += rows
    return comparisons


def table(comparisons: list[Comparison]) -> Table:
    """The comparisons for people."""
    result = Table("Game", "Peer", "Unit", box=None, pad_edge=False)
    for title in ("Peer", "Ours", "Ratio", "Minimum"):
        result.add_column(title, justify="right")
    result.add_column("Holds")
    for row in comparisons:
        result.add_row(
            row.game,
            row.peer,
            f"{row.unit}/s",
            f"{statistics.median(row.peer_rounds):,.0f}",
            f"{statistics.median(row.our_rounds):,.0f}",
            f"{row.ratio:,.1f}" if row.ratio < 1000 else f"{row.ratio:,.0f}",
            "" if row.floor is None else f"{row.floor:,.0f}",
            {None: "", True: "yes", False: "no"}[row.holds],
        )
    return result


def main() -> int:
    """Measures and prints; 0 if every floor holds, otherwise 1."""
    parser = argparse.ArgumentParser(prog="benchmarks/peers", description="Ratios of our speed to that of peers.")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    as_json = parser.parse_args().json
    comparisons = measure()
    missed = [row for row in comparisons if row.holds is False]
    versions = {name: version(name) for name in ("ludodrome", "open-spiel", "textarena", "numba")}
    if as_json:
        report = {
            "versions": versions,
            "rounds": ROUNDS,
            "slice_seconds": SLICE,
            "comparisons": [row.report() for row in comparisons],
            "holds": not missed,
        }
        print(json.dumps(report, indent=2))
    else:
        console = Console(highlight=False, width=120)
        console.print(table(comparisons))
        console.print(
            f"\nMedians of {ROUNDS} rounds of {SLICE:g} s of processor time each, one thread; "
            + ", ".join(f"{name} {number}" for name, number in versions.items())
            + ".",
            soft_wrap=True,
        )
    if missed:
        short = "; ".join(
            f"{row.game} against {row.peer}: {row.ratio:,.1f} times instead of {row.floor:,.0f}" for row in missed
        )
        print(f"Not every floor holds. {short[0].upper()}{short[1:]}.", file=sys.stderr)
        return 1
    if not as_json:
        print("All floors hold.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
