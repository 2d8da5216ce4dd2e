"""Fits the weights of a game's value to games of the search with itself.

    python benchmarks/tune.py towers --games 2000 --nodes 1000 --seed 1     games/tower_evaluate.py
    python benchmarks/tune.py caldera --games 2000 --nodes 1000 --seed 1    FEATURES in games/caldera/evaluate.py

Games with random openings and now and then a random move later on. Every position that a search would judge by its
value (nobody wins at once or threatens to) is kept. Its target is half the outcome of the game and half what the search
thought of it. The weights come from a logistic regression that prefers to leave them as they are; a fifth of the games
is kept apart, to see what has been won. The new table is printed.
"""

import argparse
import random
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import ludodrome
from ludodrome.games.caldera.evaluate import FEATURES
from ludodrome.games.caldera.evaluate import WEIGHTS as CALDERA_WEIGHTS
from ludodrome.games.caldera.evaluate import weighted_value as caldera_value
from ludodrome.games.tower_evaluate import GROUPS, duel_value
from ludodrome.games.tower_evaluate import WEIGHTS as TOWER_WEIGHTS
from ludodrome.jit import Array, kernel
from ludodrome.search.frames import DECIDED
from ludodrome.search.iterative import Searcher

OPENING = (4, 10)
"""The fewest and the most random moves at the beginning."""
SURPRISES = 0.08
"""How often a later move is random."""
OUTCOME_SHARE = 0.5
KEPT_APART = 5
RIDGE = 200.0
"""A weight is expected to change by a twentieth of a factor of e or so."""
NEWTON_STEPS = 12


class Positions(NamedTuple):
    """What the games have given."""

    features: Array
    """(positions, weights): what the value of the seat to move counts of each weight."""
    outcomes: Array
    """(positions,): 1 where the seat to move won, 0 where it lost."""
    scores: Array
    """(positions,): what the search thought."""
    games: Array
    """(positions,): the number of the game."""


@kernel
def tower_features(states: Array, mover: int, row: Array) -> None:
    """The value is linear in the weights: each weight alone gives the number that it is multiplied with."""
    unit = np.zeros_like(TOWER_WEIGHTS)
    for role in range(unit.shape[0]):
        for feature in range(unit.shape[1]):
            unit[role, feature] = 1
            row[role * unit.shape[1] + feature] = duel_value(unit, states[0].levels, states[0].workers, mover, mover)
            unit[role, feature] = 0


@kernel
def caldera_features(states: Array, mover: int, row: Array) -> None:
    """The same for caldera."""
    unit = np.zeros_like(CALDERA_WEIGHTS)
    for feature in range(len(unit)):
        unit[feature] = 1
        row[feature] = caldera_value(states[0], mover, unit)
        unit[feature] = 0


class Subject(NamedTuple):
    """What is tuned."""

    games: tuple[str, ...]
    """Played in turn."""
    weights: Array
    features: Callable[[Array, int, Array], None]
    show: Callable[[Array], None]
    """Print a table of weights as it stands in the source."""


def play_game(
    subject: Subject, game: ludodrome.Game, thinker: Searcher, nodes: int, rng: random.Random
) -> list[tuple[Array, int, float]]:
    """One game: the features, the search's score and the outcome of its positions."""
    states = game.new_states(1)
    states[0] = game.encode(game.initial_state())
    kernels: Any = game.kernels
    opening = rng.randint(*OPENING)
    kept: list[tuple[Array, int, int]] = []
    thinker.clear()
    while (mover := int(kernels.mover(states))) >= 0:
        buffer = game.buffer()
        actions = buffer[: kernels.legal(states, buffer)].tolist()
        action = rng.choice(actions)
        if kernels.turns(states) >= opening:
            *_, finding = thinker.search(states, nodes=nodes)
            if kernels.winning(states) < 0 and not kernels.in_check(states):
                row = np.zeros(subject.weights.size, np.int64)
                subject.features(states, mover, row)
                kept.append((row, finding.score, mover))
            if rng.random() >= SURPRISES:
                action = finding.action
        kernels.play(states, action)
    winner = int(kernels.winner(states))
    return [(row, score, 0.5 if winner < 0 else float(mover == winner)) for row, score, mover in kept]


def play(subject: Subject, games: int, nodes: int, seed: int) -> Positions:
    """All games."""
    rng = random.Random(seed)
    rooms = [ludodrome.make(name) for name in subject.games]
    thinkers = [Searcher(room, table_bits=14) for room in rooms]
    rows: list[Array] = []
    scores: list[int] = []
    outcomes: list[float] = []
    numbers: list[int] = []
    for number in range(games):
        at = number % len(rooms)
        for row, score, outcome in play_game(subject, rooms[at], thinkers[at], nodes, rng):
            rows.append(row.astype(np.float32))
            scores.append(score)
            outcomes.append(outcome)
            numbers.append(number)
        if number % 100 == 99:
            print(f"# {number + 1} games, {len(rows)} positions", flush=True)
    return Positions(np.array(rows), np.array(outcomes), np.array(scores), np.array(numbers))


def chances(logits: Array) -> Array:
    """The logistic function."""
    return 1 / (1 + np.exp(-np.clip(logits, -30, 30)))


def loss(targets: Array, logits: Array) -> float:
    """The mean cross entropy, in nats."""
    p = np.clip(chances(logits), 1e-9, 1 - 1e-9)
    return float(-np.mean(targets * np.log(p) + (1 - targets) * np.log(1 - p)))


def best_scale(positions: Positions, weights: Array) -> float:
    """How many hundredths are worth a factor of e in the odds, with the weights as they are."""
    values = positions.features @ weights
    return min(np.geomspace(40, 1000, 60), key=lambda scale: loss(positions.outcomes, values / scale))


def fit(features: Array, targets: Array, start: Array) -> Array:
    """Newton's method on the cross entropy, with a ridge around the start."""
    x = features.astype(np.float64)
    w = start.copy()
    for _ in range(NEWTON_STEPS):
        p = chances(x @ w)
        gradient = x.T @ (p - targets) + RIDGE * (w - start)
        curvature = (x * (p * (1 - p))[:, None]).T @ x + RIDGE * np.eye(len(w))
        w = w - np.linalg.solve(curvature, gradient)
    return w


def show_towers(weights: Array) -> None:
    """The new table, as tower_evaluate.py has it."""
    for name, role in zip(("MOVER_WEIGHTS", "WAITING_WEIGHTS"), weights.reshape(TOWER_WEIGHTS.shape), strict=True):
        print(f"{name}: dict[str, Any] = {{")
        at = 0
        for group, shape in GROUPS.items():
            size = int(np.prod(shape))
            print(f'    "{group}": {role[at : at + size].reshape(shape).tolist()},')
            at += size
        print("}")


def show_caldera(weights: Array) -> None:
    """The new table, as it stands in evaluate.py."""
    for (name, _), weight in zip(FEATURES, weights.tolist(), strict=True):
        print(f'    ("{name}", {weight}),')


SUBJECTS = {
    "towers": Subject(("santorini", "skysummit"), TOWER_WEIGHTS, tower_features, show_towers),
    "caldera": Subject(("caldera",), CALDERA_WEIGHTS, caldera_features, show_caldera),
}


def main() -> None:
    """Play, fit, print."""
    parser = argparse.ArgumentParser(description="Fit the weights of a game's value to self-play.")
    parser.add_argument("subject", choices=SUBJECTS)
    parser.add_argument("--games", type=int, default=2000)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    subject = SUBJECTS[chosen.subject]
    positions = play(subject, chosen.games, chosen.nodes, chosen.seed)
    before = subject.weights.ravel().astype(np.float64)
    scale = best_scale(positions, before)
    thought = np.where(np.abs(positions.scores) > DECIDED, 30 * np.sign(positions.scores), positions.scores / scale)
    targets = OUTCOME_SHARE * positions.outcomes + (1 - OUTCOME_SHARE) * chances(thought)
    apart = positions.games // len(subject.games) % KEPT_APART == 0
    after = fit(positions.features[~apart], targets[~apart], before / scale) * scale
    kept = positions.features[apart]
    print(f"# {len(positions.games)} positions; {scale:.0f} hundredths are worth a factor of e in the odds")
    for name, weights in (("before", before), ("after", after), ("after, rounded", np.rint(after))):
        to_outcome, to_target = (loss(t[apart], kept @ weights / scale) for t in (positions.outcomes, targets))
        print(f"# {name}: loss to outcomes {to_outcome:.4f}, to targets {to_target:.4f}")
    subject.show(np.rint(after).astype(np.int64))


if __name__ == "__main__":
    main()
