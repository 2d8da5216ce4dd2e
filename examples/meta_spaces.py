"""The meta-game of spaces: a learner that finds perfect play by self-play, then exploits its opponents.

    python examples/meta_spaces.py train --rounds 5000000 --folder runs/spaces
    python examples/meta_spaces.py styles
    ludodrome match spaces -o rules=live -o choice=blind -o rounds=20 py:examples/meta_spaces.py:Bot expert --clock none

Both sides choose a board without seeing the other's, round after round. The question is how often to lay which of the
796 boards of size 3. The learner starts with a uniform mixture and plays against itself; its update is magnetic mirror
descent (Sokota and others, "A Unified Approach to Reinforcement Learning, Quantal Response
Equilibria, and Two-Player Zero-Sum Games", 2023): towards boards that did well, but pulled back to a *magnet*, its own
policy of a while ago. It does not know the equilibrium; its distance to it is measured exactly, by playing all boards
against its mixture. docs/results/perfect-spaces.md has the theory. It needs only NumPy.

In a match it exploits its opponent: the opponent's boards so far pull it away from the learnt mixture, in the same way.
That makes it exploitable, so it does this only while it is ahead, and risks only its gains (Ganzfried and Sandholm,
"Safe Opponent Exploitation", 2015).
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np

from ludodrome.games.spaces import format_board, perfect
from ludodrome.games.spaces.codec import read_finished
from ludodrome.games.spaces.equilibria import margins_of
from ludodrome.games.spaces.legality import all_boards

SIZE, RULES = 3, "live"
BOARDS = all_boards(SIZE, live=True)
WEIGHTS = Path(__file__).with_suffix(".npz")

BATCH = 256
"""Rounds between two updates: the sampled boards of its own mixture, which all boards play against."""
RATE, PATIENCE = 0.5, 1000
"""The step of an update, and the updates after which it is halved; after twice as many it is a third, and so on."""
PULL, MOVED = 0.1, 100
"""The strength of the magnet, and the updates after which it moves to the current policy."""
TRUST = 0.1
"""The weight, in a match, of each point that a board would have gained so far."""


def margin_matrix() -> np.ndarray:
    """The margin of each board against each other one, [796, 796], in points."""
    return margins_of(list(BOARDS), list(BOARDS), SIZE, live=True)


def exploitability(policy: np.ndarray, matrix: np.ndarray) -> float:
    """The points that the best response to a mixture gains each round; exact, 0 for perfect play."""
    return float((matrix @ policy).max())


def equilibrium() -> np.ndarray:
    """Perfect play, as a mixture of the same boards."""
    policy = np.zeros(len(BOARDS))
    known = perfect(SIZE, RULES)
    for board, weight in zip(known.boards, known.weights, strict=True):
        policy[BOARDS.index(board)] = weight
    return policy / policy.sum()


class Learner:
    """A mixture of boards, kept as logarithms, that learns from rounds against itself."""

    def __init__(self, matrix: np.ndarray, seed: int) -> None:
        self.matrix = matrix / SIZE
        self.logits = np.full(len(BOARDS), -np.log(len(BOARDS)))
        self.magnet = self.logits
        self.mean = self.policy
        self.updates = 0
        self.dice = np.random.default_rng(seed)

    @property
    def policy(self) -> np.ndarray:
        """The mixture, [796]; sums to 1."""
        return normal(self.logits)

    def learn(self) -> None:
        """Play a batch of rounds and update the policy."""
        opponents = self.dice.choice(len(BOARDS), BATCH, p=self.policy)
        gains = self.matrix[:, opponents].mean(axis=1)
        step = RATE / (1 + self.updates / PATIENCE)
        self.logits = (self.logits + step * (gains + PULL * self.magnet)) / (1 + step * PULL)
        self.logits = np.log(np.maximum(self.policy, 1e-30))
        self.updates += 1
        # Chance makes the policy wander about the goal; its mean, late policies counting more, does so less.
        self.mean = self.mean + (self.policy - self.mean) * 2 / (self.updates + 2)
        if self.updates % MOVED == 0:
            self.magnet = self.logits


def normal(logits: np.ndarray) -> np.ndarray:
    """The mixture of some logarithms."""
    weights = np.exp(logits - logits.max())
    return weights / weights.sum()


# Training


def train(settings: argparse.Namespace) -> None:
    """Learn; write the curve and the mixture. It takes a minute or two, so there are no checkpoints."""
    folder = Path(settings.folder)
    folder.mkdir(parents=True, exist_ok=True)
    matrix = margin_matrix()
    learner, perfect_play = Learner(matrix, settings.seed), equilibrium()
    began, woke = time.process_time(), time.monotonic()
    curve, following = [], 0
    while True:
        rounds = learner.updates * BATCH
        last = rounds >= settings.rounds
        if rounds >= following or last:
            following = max(BATCH, int(1.3 * rounds))
            seconds = time.process_time() - began
            curve.append(point(learner, matrix, perfect_play, rounds, seconds))
        if last:
            break
        learner.learn()
    whole = {"minutes waited": round((time.monotonic() - woke) / 60, 2), "points": curve}
    (folder / "curve.json").write_text(json.dumps(whole))
    np.savez_compressed(folder / WEIGHTS.name, policy=learner.mean.astype(np.float32))


def point(learner: Learner, matrix: np.ndarray, perfect_play: np.ndarray, rounds: int, seconds: float) -> dict:
    """Print a point of the curve."""
    policy = learner.policy
    likely = policy[policy > 0]
    one = {
        "rounds": rounds,
        "seconds": round(seconds, 2),
        "exploitability": round(exploitability(policy, matrix), 4),
        "exploitability of the mean": round(exploitability(learner.mean, matrix), 4),
        "against perfect play": round(float(policy @ matrix @ perfect_play), 4),
        "boards in use": round(float(np.exp(-(likely * np.log(likely)).sum())), 1),
    }
    print(json.dumps(one), flush=True)
    return one


# In a match


class Reader:
    """Lays boards of a mixture; if it exploits its opponent and is ahead, more of those that would have done well."""

    def __init__(self, policy: np.ndarray, reads: bool, matrix: np.ndarray) -> None:
        self.prior = np.log(np.maximum(policy, 1e-6))
        self.still, self.reads, self.matrix = policy / policy.sum(), reads, matrix

    def choose(self, own: list[int], opponents: list[int], dice: np.random.Generator) -> int:
        """The index of a board. own, opponents: the indices of the boards so far."""
        policy = self.still
        if self.reads and self.matrix[own, opponents].sum() > 0:
            policy = normal(self.prior + TRUST * self.matrix[:, opponents].sum(axis=1))
        return int(dice.choice(len(BOARDS), p=policy))


def load_policy(path: Path) -> np.ndarray:
    """The mixture in a file of weights."""
    with np.load(path) as file:
        policy = file["policy"].astype(np.float64)
    return policy / policy.sum()


def styles(settings: argparse.Namespace) -> None:
    """Points a round against every style of the environment MetaGame, with and without exploiting."""
    matrix = margin_matrix()
    policy = load_policy(Path(settings.weights))
    from ludodrome.games.spaces.environments import STYLES

    for style in STYLES:
        row = {"style": style}
        for reads in (False, True):
            margin, error = play_style(Reader(policy, reads, matrix), style, settings.matches, settings.length)
            row["reading" if reads else "still"] = f"{margin:+.2f} ± {error:.2f}"
        print(json.dumps(row, ensure_ascii=False), flush=True)


def play_style(reader: Reader, style: str, matches: int, rounds: int) -> tuple[float, float]:
    """The mean margin of a round in points, and its standard error over matches."""
    from ludodrome.envs import MetaGame

    numbers = {board: number for number, board in enumerate(BOARDS)}
    boards = [format_board(board, SIZE) for board in BOARDS]
    env = MetaGame(rounds=rounds, size=SIZE, rules=RULES, opponent=style, boards=boards)
    dice = np.random.default_rng(5)
    results = []
    for match in range(matches):
        env.reset(seed=match)
        points, over = 0.0, False
        while not over:
            seen = ([numbers[board] for board in boards] for boards in (env.learners, env.opponents))
            _, reward, over, _, _ = env.step(reader.choose(*seen, dice))
            points += SIZE * reward
        results.append(points / rounds)
    return float(np.mean(results)), float(np.std(results) / np.sqrt(max(matches - 1, 1)))


# In the arena


class Bot:
    """The learnt mixture as a bot for size 3, ``rules=live``, ``choice=blind``, which exploits its opponent."""

    name = "meta"
    reads = True
    weights = WEIGHTS

    def __init__(self) -> None:
        self.reader = Reader(load_policy(self.weights), self.reads, margin_matrix())
        self.numbers = {board: number for number, board in enumerate(BOARDS)}
        self.options = {"size": SIZE, "rules": RULES, "mode": "rounds"}
        self.seat, self.dice = 0, np.random.default_rng(0)

    def start(self, hello: dict) -> None:
        """Start a match."""
        options = hello["options"]
        if any(options[name] != value for name, value in self.options.items()):
            raise ValueError(f"this bot has learnt spaces with {self.options}, not with {options}")
        self.seat, self.dice = hello["seat"], np.random.default_rng(hello["seed"])

    def choose(self, observation: dict, budget: object = None) -> object:
        """A random board of the mixture."""
        rounds = [[self._number(board) for board in played["boards"]] for played in observation["history"]]
        seen = ([boards[seat] for boards in rounds] for seat in (self.seat, 1 - self.seat))
        return format_board(BOARDS[self.reader.choose(*seen, self.dice)], SIZE)

    def _number(self, board: dict) -> int:
        return self.numbers[read_finished(board, self.options)]


class Still(Bot):
    """The same without exploiting."""

    name = "meta-still"
    reads = False


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Learn the meta-game of spaces, size 3, live, blind.")
    parser.add_argument("command", choices=["train", "styles"])
    parser.add_argument("--rounds", type=int, default=5_000_000, help="rounds to learn from")
    parser.add_argument("--folder", default="runs/spaces", help="where curve and mixture are written")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--weights", default=str(WEIGHTS), help="for styles: the mixture to play")
    parser.add_argument("--matches", type=int, default=40, help="for styles: matches against each")
    parser.add_argument("--length", type=int, default=20, help="for styles: rounds of a match")
    settings = parser.parse_args()
    {"train": train, "styles": styles}[settings.command](settings)


if __name__ == "__main__":
    main()
