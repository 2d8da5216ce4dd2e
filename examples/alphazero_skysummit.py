"""AlphaZero in one file: a network that learns skysummit from its own games alone.

    python examples/alphazero_skysummit.py train --minutes 12 --folder runs/skysummit
    ludodrome match skysummit py:examples/alphazero_skysummit.py:Bot mcts:sims=100 --clock none

Over a hundred games run side by side. In each of them a tree search (``ludodrome.search.planning``) asks the network
for priors and values, for all games at once; the network learns the search's policy and the games' results. Silver and
others, "A general reinforcement learning algorithm that masters chess, shogi, and Go through self-play" (2018). There
are often more moves than simulations, so visits alone say little: the improved policy is the prior, raised or lowered
by the values, as in Danihelka and others, "Policy improvement by planning with Gumbel" (2022).

Training can be stopped and resumed: it writes a checkpoint every minute. Time is processor time of both threads, so a
busy machine takes longer and learns the same.
"""

import argparse
import copy
import json
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn.functional import log_softmax

import ludodrome
from ludodrome.bots.player import parse_observation
from ludodrome.envs.core import as_planes, new_observations
from ludodrome.search.mcts_search import TreeSearch
from ludodrome.search.planning import Planner

GAME = ludodrome.make("skysummit")
WEIGHTS = Path(__file__).with_suffix(".npz")

SIDE, CELLS, PLACEMENTS, STEPS = 5, 25, 600, 72
FIRST_WORKER, TURNS_LEFT = 4, 9
"""Planes of an observation: own workers are the 5th and 6th, the last one is the turns left."""

CHANNELS, LAYERS = 32, 4
GAMES, SIMULATIONS, NODES = 64, 32, 8192
"""Games on each of two threads, simulations of a move, nodes of a tree."""
NOISE = (0.3, 0.25)
FREE_TURNS = 10
"""Turns at the start of a game that are sampled from the improved policy; then the best move is played."""
WEIGHT, FEWEST = 0.1, 50
"""Weight of values against priors, times the sum of the most visits of a move and the second number."""
KEPT, BATCH, USES = 150_000, 512, 6
"""Positions in memory; batch size; average uses of each position."""
RATE = 2e-3


# The network


class Network(nn.Module):
    """Which moves look good, and what the game will come to, both for the seat to move.

    A move is a worker's step and build: 8 x 9 numbers for every cell, of which those under the two own workers count.
    A placement is as good as its two cells.
    """

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(len(GAME.planes.names), CHANNELS, 3, padding=1)
        self.layers = nn.ModuleList(nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1) for _ in range(LAYERS))
        self.steps = nn.Conv2d(CHANNELS, STEPS, 1)
        self.places = nn.Conv2d(CHANNELS, 1, 1)
        self.value = nn.Sequential(nn.Linear(CHANNELS * CELLS, 32), nn.ReLU(), nn.Linear(32, 1), nn.Tanh())
        pairs = [(a, b) for a in range(CELLS) for b in range(CELLS) if a != b]
        self.register_buffer("pairs", torch.tensor(pairs).T.contiguous(), persistent=False)

    def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """planes: (n, 10, 5, 5) uint8. Logits (n, 744) and values (n,)."""
        seen = planes.float()
        seen[:, TURNS_LEFT] /= 200
        x = self.first(seen).relu()
        for layer in self.layers:
            x = x + layer(x).relu()
        steps = self.steps(x).flatten(2)
        workers = seen[:, FIRST_WORKER : FIRST_WORKER + 2].flatten(2)
        moves = torch.bmm(workers, steps.transpose(1, 2)).flatten(1)
        cells = self.places(x).flatten(1)
        places = cells[:, self.pairs[0]] + cells[:, self.pairs[1]]
        return torch.cat([places, moves], 1), self.value(x.flatten(1)).squeeze(1)


class Judge:
    """The network for the search: n positions in, priors and values out."""

    def __init__(self, network: Network, n: int) -> None:
        self.network = network
        self.observations = new_observations(GAME, n)
        self.planes = as_planes(GAME, self.observations)
        self.rows, self.movers = np.arange(n), np.zeros(n, np.int8)

    def look(self, states: np.ndarray) -> np.ndarray:
        """The observations of the seats to move, [n, 10, 5, 5]; seat 0 for games that are over."""
        GAME.kernels.movers_many(states, self.movers)
        np.maximum(self.movers, 0, out=self.movers)
        GAME.kernels.look_many(states, self.rows, self.movers, self.observations)
        return self.planes

    @torch.inference_mode()
    def __call__(self, states: np.ndarray, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Priors [n, actions] and values [n, seats]."""
        logits, value = self.network(torch.from_numpy(self.look(states)))
        priors = logits.masked_fill_(~torch.from_numpy(mask), -1e9).softmax(1)
        values = np.empty((len(states), 2), np.float32)
        values[self.rows, self.movers] = value.numpy()
        values[self.rows, 1 - self.movers] = -value.numpy()
        return priors.numpy(), values


def search(planner: Planner, judge: Judge, simulations: int) -> None:
    """Simulations in all trees at once."""
    for _ in range(simulations):
        planner.expand_and_backup(*judge(*planner.select()))


def judged(planner: Planner, judge: Judge, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What a search makes of the moves, (n, actions), each row adding up to 1, and of the positions, (n,).

    A move that was not tried is taken to be worth what the position is.
    """
    judge.look(states)
    mask = judge.observations.mask.astype(np.bool_)
    priors, first = judge(states, mask)
    visits, values = planner.visits(), planner.values()
    hopes = (first[judge.rows, judge.movers] + (visits * values).sum(1)) / (1 + visits.sum(1))
    worth = np.where(visits > 0, values, hopes[:, None])
    low = np.where(mask, worth, np.inf).min(1, keepdims=True)
    high = np.where(mask, worth, -np.inf).max(1, keepdims=True)
    with np.errstate(invalid="ignore"):  # where a game is over nothing is legal
        raised = (worth - low) / np.maximum(high - low, 1e-6)
    scores = np.log(priors + 1e-9) + WEIGHT * (FEWEST + visits.max(1, keepdims=True)) * raised
    scores = np.where(mask, scores, -np.inf)
    policies = np.exp(scores - np.where(mask.any(1), scores.max(1), 0)[:, None])
    return policies / np.maximum(policies.sum(1, keepdims=True), 1e-9), hopes


# The eight symmetries of the board: what is learnt in one corner holds in all


def symmetries() -> tuple[np.ndarray, np.ndarray]:
    """For each symmetry the source of each cell, [8, 25], and of each action, [8, 744]."""
    compass = [(row, col) for row in (-1, 0, 1) for col in (-1, 0, 1) if (row, col) != (0, 0)]
    cells, actions = np.zeros((8, CELLS), np.int64), np.zeros((8, GAME.num_actions), np.int64)
    for k in range(8):

        def turned(row: int, col: int, k: int = k) -> tuple[int, int]:
            row, col = (col, row) if k & 4 else (row, col)
            return (-row if k & 1 else row), (-col if k & 2 else col)

        goal = [turned(cell // SIDE - 2, cell % SIDE - 2) for cell in range(CELLS)]
        cell_to = [SIDE * (row + 2) + col + 2 for row, col in goal]
        way_to = [compass.index(turned(*way)) for way in compass] + [8]
        cells[k, cell_to] = np.arange(CELLS)
        for a in range(CELLS):
            for b in range(CELLS):
                if a != b:
                    to = cell_to[a] * 24 + cell_to[b] - (cell_to[b] > cell_to[a])
                    actions[k, to] = a * 24 + b - (b > a)
        for worker in range(2):
            for step in range(8):
                for build in range(9):
                    place = PLACEMENTS + worker * STEPS
                    actions[k, place + way_to[step] * 9 + way_to[build]] = place + step * 9 + build
    return cells, actions


# Playing and learning


class Memory:
    """The latest positions with improved policies and results."""

    def __init__(self, kept: int) -> None:
        self.planes = np.zeros((kept, *GAME.planes.shape), np.uint8)
        self.masks = np.zeros((kept, -(-GAME.num_actions // 8)), np.uint8)
        self.policies = np.zeros((kept, GAME.num_actions), np.float16)
        self.values = np.zeros(kept, np.float32)
        self.count = 0

    def __len__(self) -> int:
        return min(self.count, len(self.values))

    def add(self, planes: np.ndarray, masks: np.ndarray, policies: np.ndarray, values: np.ndarray) -> None:
        """Add positions, in place of the oldest."""
        where = (self.count + np.arange(len(values))) % len(self.values)
        self.planes[where], self.masks[where] = planes, masks
        self.policies[where], self.values[where] = policies, values
        self.count += len(values)


class Table:
    """Games of self-play; a finished game is replaced by a new one."""

    def __init__(self, network: Network, games: int, simulations: int, seed: int) -> None:
        self.dice = np.random.default_rng(seed)
        self.simulations = simulations
        self.states = GAME.new_states(games)
        self.judge = Judge(network, games)
        self.begin(np.ones(games, np.bool_))
        self.planner = Planner(GAME, self.states, nodes=NODES, noise=NOISE, seed=seed)
        self.turns: list[list[tuple[np.ndarray, ...]]] = [[] for _ in range(games)]

    def begin(self, where: np.ndarray) -> None:
        """Start new games."""
        GAME.kernels.reset_many(self.states, np.uint64(0), where)

    def play(self) -> list[tuple[np.ndarray, ...]]:
        """Play one move in every game. Returns the positions of finished games."""
        self.planner.restart(self.states)
        search(self.planner, self.judge, self.simulations)
        policies, hopes = judged(self.planner, self.judge, self.states)
        planes, masks = self.judge.planes.copy(), np.packbits(self.judge.observations.mask, axis=1)
        lessons = []
        for i, policy in enumerate(policies):
            one = self.states[i : i + 1]
            seat, turn = int(self.judge.movers[i]), int(GAME.kernels.turns(one))
            self.turns[i].append((planes[i], masks[i], policy.astype(np.float16), np.float32(hopes[i]), seat))
            drawn = self.dice.choice(len(policy), p=policy) if turn < FREE_TURNS else policy.argmax()
            GAME.kernels.play(one, int(drawn))
            if GAME.kernels.mover(one) < 0:
                lessons += self.finished_positions(i, int(GAME.kernels.winner(one)))
        GAME.kernels.movers_many(self.states, self.judge.movers)
        self.begin(self.judge.movers < 0)
        return lessons

    def finished_positions(self, i: int, winner: int) -> list[tuple[np.ndarray, ...]]:
        """The positions of a finished game. Values are half the result, half the search's value."""
        turns, self.turns[i] = self.turns[i], []
        ends = [0.0 if winner < 0 else 1.0 if seat == winner else -1.0 for *_, seat in turns]
        return [(*turn[:3], (turn[3] + end) / 2) for turn, end in zip(turns, ends, strict=True)]


class Learner:
    """Fits a network to the memory."""

    def __init__(self, network: Network, memory: Memory, seed: int) -> None:
        self.network, self.memory = network, memory
        self.optimizer = torch.optim.AdamW(network.parameters(), RATE, weight_decay=1e-4)
        self.dice = np.random.default_rng(seed)
        self.cells, self.actions = symmetries()
        self.losses = [0.0, 0.0]

    def learn(self, steps: int, rate: float) -> None:
        """Do some steps of gradient descent."""
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        for _ in range(steps):
            policy_loss, value_loss = self.loss()
            self.optimizer.zero_grad()
            (policy_loss + value_loss).backward()
            nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
            self.optimizer.step()
            for which, loss in enumerate((policy_loss, value_loss)):
                self.losses[which] += 0.02 * (float(loss.detach()) - self.losses[which])

    def loss(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The loss on a batch of positions under random symmetries."""
        memory = self.memory
        rows = self.dice.integers(len(memory), size=BATCH)
        k = int(self.dice.integers(8))
        planes = memory.planes[rows].reshape(BATCH, -1, CELLS)[:, :, self.cells[k]].reshape(BATCH, -1, SIDE, SIDE)
        masks = np.unpackbits(memory.masks[rows], axis=1, count=GAME.num_actions)[:, self.actions[k]].astype(np.bool_)
        policies = torch.from_numpy(memory.policies[rows][:, self.actions[k]]).float()
        logits, values = self.network(torch.from_numpy(planes))
        scores = log_softmax(logits.masked_fill(~torch.from_numpy(masks), -1e9), 1)
        policy_loss = -(policies * scores).sum(1).mean()
        return policy_loss, (values - torch.from_numpy(memory.values[rows])).square().mean()


# How good is it?


def score_against_playouts(network: Network, games: int, simulations: int, seed: int) -> float:
    """The share of points against ``mcts`` with the same number of simulations; ``games`` is even.

    Seats alternate strictly, so in half of the games it is always the network's turn.
    """
    states = GAME.new_states(games)
    GAME.kernels.reset_many(states, np.uint64(0), np.ones(games, np.bool_))
    half = games // 2
    planner, judge = Planner(GAME, states[:half], nodes=max(NODES, 80 * simulations)), Judge(network, half)
    others = [TreeSearch(GAME, seed=seed + i, nodes=1 << 16) for i in range(games)]
    turn = 0
    while any(GAME.kernels.mover(states[i : i + 1]) >= 0 for i in range(games)):
        ours = np.arange(half) + (half if turn % 2 else 0)  # the network is seat 0 in the first half
        planner.restart(states[ours])
        search(planner, judge, simulations)
        policies, _ = judged(planner, judge, states[ours])
        for i, policy in zip(ours, policies, strict=True):
            if policy.any():
                GAME.kernels.play(states[i : i + 1], int(policy.argmax()))
        for i in np.setdiff1d(np.arange(games), ours):
            one = states[i : i + 1]
            if GAME.kernels.mover(one) >= 0:
                GAME.kernels.play(one, others[i].search(one, sims=simulations).best)
        turn += 1
    winners = np.array([int(GAME.kernels.winner(states[i : i + 1])) for i in range(games)])
    seats = np.arange(games) // half
    return float(np.where(winners < 0, 0.5, winners == seats).mean())


# Training


@dataclass
class Run:
    """The progress of training, kept in the checkpoint."""

    seconds: float = 0.0
    """Processor time, including the matches against ``mcts``."""
    waited: float = 0.0
    """Wall time in seconds."""
    moves: int = 0
    """Steps of all games."""
    positions: int = 0
    """Positions learnt from."""
    curve: list[dict] = field(default_factory=list)


def train(settings: argparse.Namespace) -> None:
    """Play and learn until the time is up; write checkpoint, curve and weights."""
    torch.set_num_threads(1)
    torch.manual_seed(settings.seed)
    folder = Path(settings.folder)
    folder.mkdir(parents=True, exist_ok=True)
    network, memory = Network(), Memory(settings.kept)
    learner = Learner(network, memory, settings.seed)
    run = read_checkpoint(folder, learner)
    player = copy.deepcopy(network)
    seed = settings.seed + 2 * run.moves
    tables = [Table(player, settings.games, settings.simulations, seed + k) for k in range(2)]
    began, woke = time.process_time() - run.seconds, time.monotonic() - run.waited
    if not run.curve:
        examined(network, settings, run, learner)
    saved = asked = run.seconds
    with ThreadPoolExecutor(3, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        while (done := max(run.seconds / (60 * settings.minutes), run.moves / settings.moves)) < 1:
            # The player is a copy that stays as it is while the learner learns.
            playing = [pool.submit(table.play) for table in tables]
            if len(memory) >= BATCH:
                steps = -(-2 * settings.games * USES // BATCH)
                pool.submit(learner.learn, steps, RATE * (1 - 0.95 * done)).result()
            lessons = [lesson for played in playing for lesson in played.result()]
            if lessons:
                memory.add(*map(np.stack, zip(*lessons, strict=True)))
            player.load_state_dict(network.state_dict())
            run.moves, run.positions = run.moves + 1, run.positions + len(lessons)
            run.seconds, run.waited = time.process_time() - began, time.monotonic() - woke
            if run.seconds - asked > 60 * settings.every:
                asked = run.seconds
                examined(network, settings, run, learner)
            if run.seconds - saved > 60:
                saved = run.seconds
                write_checkpoint(folder, learner, run)
    examined(network, settings, run, learner)
    write_checkpoint(folder, learner, run)
    save_weights(network, folder / WEIGHTS.name)


def examined(network: Network, settings: argparse.Namespace, run: Run, learner: Learner) -> None:
    """Print a point of the curve."""
    one = {
        "minutes": round(run.seconds / 60, 2),
        "score": round(score_against_playouts(network, settings.matches, settings.simulations, run.moves), 4),
        "positions": run.positions,
        "policy loss": round(learner.losses[0], 3),
        "value loss": round(learner.losses[1], 3),
    }
    run.curve.append(one)
    print(json.dumps(one), flush=True)


def write_checkpoint(folder: Path, learner: Learner, run: Run) -> None:
    """Write everything that training needs to resume, except for the memory, which fills again."""
    whole = {"network": learner.network.state_dict(), "optimizer": learner.optimizer.state_dict(), "run": asdict(run)}
    torch.save(whole, folder / "checkpoint.new")
    (folder / "checkpoint.new").rename(folder / "checkpoint.pt")
    (folder / "curve.json").write_text(json.dumps({"minutes waited": round(run.waited / 60, 1), "points": run.curve}))


def read_checkpoint(folder: Path, learner: Learner) -> Run:
    """Resume from a folder's checkpoint, if there is one."""
    if not (folder / "checkpoint.pt").exists():
        return Run()
    found = torch.load(folder / "checkpoint.pt", weights_only=True)
    learner.network.load_state_dict(found["network"])
    learner.optimizer.load_state_dict(found["optimizer"])
    return Run(**found["run"])


def save_weights(network: Network, path: Path) -> None:
    """Write the weights in half precision, as .npz."""
    np.savez_compressed(
        path, **{name: value.numpy().astype(np.float16) for name, value in network.state_dict().items()}
    )


def load_weights(path: Path) -> Network:
    """Load a network from such a file."""
    network = Network()
    with np.load(path) as file:
        network.load_state_dict({name: torch.from_numpy(file[name].astype(np.float32)) for name in file.files})
    return network.eval()


# In the arena


class Bot:
    """The trained network with its search, as a bot: ``py:examples/alphazero_skysummit.py:Bot``."""

    simulations = 100
    weights = WEIGHTS

    def __init__(self) -> None:
        torch.set_num_threads(1)
        self.name = f"alphazero:sims={self.simulations}"
        self.judge = Judge(load_weights(self.weights), 1)
        self.planner: Planner | None = None

    def choose(self, observation: dict, budget: object = None) -> object:
        """The best move of the search."""
        states = parse_observation(GAME, observation)
        if self.planner is None:
            self.planner = Planner(GAME, states, nodes=700 * min(self.simulations, 64) + 80 * self.simulations)
        self.planner.restart(states)
        search(self.planner, self.judge, self.simulations)
        policies, _ = judged(self.planner, self.judge, states)
        return GAME.codec.format_moves([int(policies[0].argmax())], states[0])[0]


class Bot400(Bot):
    """The same with 400 simulations a move."""

    simulations = 400


class Bot25(Bot):
    """The same with 25 simulations a move."""

    simulations = 25


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Train a network on skysummit by self-play.")
    parser.add_argument("command", choices=["train"])
    parser.add_argument("--minutes", type=float, default=12, help="of processor time, all runs in this folder together")
    parser.add_argument("--moves", type=int, default=10**9, help="moves in all games, at most; likewise")
    parser.add_argument("--folder", default="runs/skysummit", help="where checkpoint, curve and weights are kept")
    parser.add_argument("--games", type=int, default=GAMES, help="games side by side on each of two threads")
    parser.add_argument("--simulations", type=int, default=SIMULATIONS, help="simulations a move")
    parser.add_argument("--kept", type=int, default=KEPT, help="positions that are remembered")
    parser.add_argument("--every", type=float, default=3, help="processor minutes between two points of the curve")
    parser.add_argument("--matches", type=int, default=64, help="games for each point of the curve")
    parser.add_argument("--seed", type=int, default=1)
    train(parser.parse_args())


if __name__ == "__main__":
    main()
