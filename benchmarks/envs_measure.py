"""Steps a second of our environments, and ratios to PettingZoo's, TextArena's and OpenSpiel's, with floors.

Run it with ``benchmarks/envs``, which sets up the packages; README.md beside it says what is compared. A step of
the vector environment is one action in one game; drawing the actions from the masks, masks, observations and new
games are part of the time.
"""

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gymnasium
import numpy as np
from rich.console import Console
from rich.table import Table

import ludodrome.envs
from ludodrome.envs import GameVectorEnv

ROUNDS = 15
SLICE = 0.2  # seconds of processor time for each contestant in each round
GAMES = 4096
OPPONENTS = ("self", "random")

Bite = Callable[[], int]  # does a little work, and says how many steps it was


@dataclass
class Contestant:
    """Somebody whose steps are counted, in steps a second of processor time, one number for each round."""

    name: str
    bite: Bite
    floor: float | None = None
    rounds: list[float] = field(default_factory=list)

    @property
    def speed(self) -> float:
        """The median of all rounds."""
        return statistics.median(self.rounds)

    def run(self) -> None:
        """One slice."""
        steps = 0
        begin = time.process_time()
        while (spent := time.process_time() - begin) < SLICE:
            steps += self.bite()
        self.rounds.append(steps / spent)


def vector(game_id: str, opponent: str) -> Bite:
    """Our vector environment; games that are over begin anew in the same step."""
    envs = GameVectorEnv(game_id, num_envs=GAMES, opponent=opponent, autoreset_mode="SameStep", copy=False)
    envs.reset(seed=1)

    def bite() -> int:
        envs.step(envs.sample_actions())
        return GAMES

    return bite


def single(game_id: str) -> Bite:
    """Our Gymnasium environment, as ``gymnasium.make`` gives it, against a random opponent."""
    env = gymnasium.make(ludodrome.envs.env_id(game_id), opponent="random")
    dice = random.Random(1)
    info: dict[str, Any] = env.reset(seed=1)[1]

    def bite() -> int:
        nonlocal info
        for _ in range(100):
            legal = np.flatnonzero(info["action_mask"])
            _, _, ended, _, info = env.step(legal[int(dice.random() * len(legal))])
            if ended:
                _, info = env.reset()
        return 100

    return bite


def connect_four() -> Bite:
    """A random game of PettingZoo's connect_four in the loop of its documentation."""
    from pettingzoo.classic import connect_four_v3

    env = connect_four_v3.env()
    env.reset(seed=1)

    def bite() -> int:
        env.reset()
        steps = 0
        for agent in env.agent_iter():
            seen, _, over, truncated, _ = env.last()
            if over or truncated:
                env.step(None)
            else:
                env.step(env.action_space(agent).sample(seen["action_mask"]))
                steps += 1
        return steps

    return bite


def textarena_santorini() -> Bite:
    """A random game of TextArena's santorini as agents get it; see ``peers_measure.py``."""
    from peers_measure import textarena_plies  # type: ignore[import-not-found]

    play = textarena_plies("SantoriniBaseFixed-v0")
    seeds = iter(range(10**9))
    return lambda: int(play(next(seeds)))


def openspiel_dots() -> Bite:
    """A random game of OpenSpiel's dots and boxes in a plain Python loop, without observations."""
    import pyspiel

    game = pyspiel.load_game("dots_and_boxes(num_rows=5,num_cols=5)")
    dice = random.Random(1)

    def bite() -> int:
        state = game.new_initial_state()
        steps = 0
        while not state.is_terminal():
            state.apply_action(dice.choice(state.legal_actions()))
            steps += 1
        return steps

    return bite


def contestants(peers: bool) -> list[Contestant]:
    """All, warmed up."""
    floors = {"dots": 2e6, "skysummit": 2e6}
    ours = [
        Contestant(f"{game}, {opponent}", vector(game, opponent), floors.get(game) if opponent == "self" else None)
        for game in ("dots", "skysummit", "santorini", "caldera", "spaces")
        for opponent in OPPONENTS
    ]
    ours += [Contestant(f"{game}, single", single(game), 30_000) for game in ("dots", "skysummit")]
    if peers:
        ours += [
            Contestant("PettingZoo's connect_four", connect_four()),
            Contestant("TextArena's santorini", textarena_santorini()),
            Contestant("OpenSpiel's dots, Python loop", openspiel_dots()),
        ]
    for one in ours:
        one.bite()
    return ours


RATIOS = (
    ("dots, self", "PettingZoo's connect_four", 50),
    ("skysummit, self", "PettingZoo's connect_four", 50),
    ("santorini, self", "TextArena's santorini", 1000),
    ("dots, self", "OpenSpiel's dots, Python loop", 10),
)


def report(everybody: list[Contestant]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Speeds and ratios."""
    speeds = [
        {"name": one.name, "speed": one.speed, "floor": one.floor, "rounds": one.rounds, "holds": _holds(one)}
        for one in everybody
    ]
    found = {one.name: one.speed for one in everybody}
    ratios = [
        {"ours": a, "peer": b, "ratio": found[a] / found[b], "floor": floor, "holds": found[a] / found[b] >= floor}
        for a, b, floor in RATIOS
        if b in found
    ]
    return speeds, ratios


def _holds(one: Contestant) -> bool | None:
    return None if one.floor is None else one.speed >= one.floor


def tables(speeds: list[dict[str, Any]], ratios: list[dict[str, Any]]) -> list[Table]:
    """The same for people."""
    words = {None: "", True: "yes", False: "no"}
    first = Table("Environment", box=None, pad_edge=False)
    second = Table("Ours", "Peer", box=None, pad_edge=False)
    for title in ("Steps/s", "Minimum"):
        first.add_column(title, justify="right")
    for title in ("Ratio", "Minimum"):
        second.add_column(title, justify="right")
    first.add_column("Holds")
    second.add_column("Holds")
    for row in speeds:
        floor = "" if row["floor"] is None else f"{row['floor']:,.0f}"
        first.add_row(row["name"], f"{row['speed']:,.0f}", floor, words[row["holds"]])
    for row in ratios:
        second.add_row(row["ours"], row["peer"], f"{row['ratio']:,.0f}", str(row["floor"]), words[row["holds"]])
    return [first, second]


def main() -> int:
    """Measures and prints; 0 if every floor holds, otherwise 1."""
    parser = argparse.ArgumentParser(prog="benchmarks/envs", description="Steps a second of the environments.")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--ours", action="store_true", help="leave out the peers")
    arguments = parser.parse_args()
    everybody = contestants(peers=not arguments.ours)
    for _ in range(ROUNDS):
        for one in everybody:
            one.run()
    speeds, ratios = report(everybody)
    if arguments.json:
        print(json.dumps({"games": GAMES, "speeds": speeds, "ratios": ratios}, indent=2))
    else:
        console = Console(highlight=False, width=110)
        for table in tables(speeds, ratios):
            console.print(table)
            console.print()
        console.print(f"Medians of {ROUNDS} rounds of {SLICE:g} s of processor time each, one thread, {GAMES} games.")
    missed = [row for row in (*speeds, *ratios) if row["holds"] is False]
    if missed:
        print(f"Not every floor holds: {'; '.join(str(row.get('name', row.get('ours'))) for row in missed)}.")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
