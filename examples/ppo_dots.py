"""Masked PPO in one file: a network that learns to beat ``greedy`` at dots and boxes, 3 x 3.

    python examples/ppo_dots.py train --minutes 15 --folder runs/dots
    ludodrome match dots -o rows=3 -o cols=3 py:examples/ppo_dots.py:Bot greedy --games 1000 --clock none

A thousand games are played side by side in one vector environment; the opponent is compiled in. Actions that are
not legal get no probability. The only reward is the end of the game: 1 or -1. Schulman and others, "Proximal Policy
Optimization Algorithms" (2017); Huang and Ontañón, "A Closer Look at Invalid Action Masking" (2022).

Training can be stopped and started again: what it knows is written to its folder every minute. Time is
processor time of both threads, so a busy machine takes longer and learns the same.
"""

import argparse
import json
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

import ludodrome
from ludodrome.bots.player import parse_observation
from ludodrome.envs import GameVectorEnv
from ludodrome.envs.observations import as_planes, new_observations

GAME = ludodrome.make("dots", rows=3, cols=3)
OPPONENT = "greedy"
WEIGHTS = Path(__file__).with_suffix(".npz")

WIDTH = 192
GAMES, STEPS = 1024, 16
"""Games side by side, and the learner's moves in each between two updates."""
EPOCHS, BATCH = 4, 1024
CLIP, LAMBDA, ENTROPY, VALUE_WEIGHT = 0.2, 0.95, 0.01, 0.5
RATE = 1e-3
FRESH = 1000
"""Games of an evaluation; their seeds are not used for training."""
FRESH_SEED = 10**9


class Network(nn.Module):
    """Policy and value for the seat to move."""

    def __init__(self) -> None:
        super().__init__()
        planes = GAME.planes
        numbers = [(plane, number) for plane, most in enumerate(planes.highest) for number in range(1, most + 1)]
        self.register_buffer("plane", torch.tensor([plane for plane, _ in numbers]), persistent=False)
        self.register_buffer("number", torch.tensor([number for _, number in numbers]), persistent=False)
        self.body = nn.Sequential(
            nn.Linear(len(numbers) * planes.rows * planes.cols, WIDTH),
            nn.ReLU(),
            nn.Linear(WIDTH, WIDTH),
            nn.ReLU(),
        )
        self.policy = nn.Linear(WIDTH, GAME.num_actions)
        self.value = nn.Linear(WIDTH, 1)
        nn.init.orthogonal_(self.policy.weight, 0.01)

    def forward(self, planes: torch.Tensor, mask: torch.Tensor) -> tuple[Categorical, torch.Tensor]:
        """planes: [n, 6, 4, 4]; mask: [n, 24], 1 where an edge can be drawn."""
        seen = planes[:, self.plane] == self.number.reshape(-1, 1, 1)  # a plane for each number that may stand there
        x = self.body(seen.flatten(1).float())
        logits = self.policy(x).masked_fill(mask == 0, -1e9)
        return Categorical(logits=logits, validate_args=False), self.value(x).squeeze(1)


class Rollout(NamedTuple):
    """A batch of steps of all games; every array starts with [steps, games]."""

    planes: torch.Tensor
    masks: torch.Tensor
    actions: torch.Tensor
    likelihoods: torch.Tensor
    values: torch.Tensor
    rewards: torch.Tensor
    ended: torch.Tensor


class School:
    """The games that the network learns from."""

    def __init__(self, network: Network, games: int, seed: int) -> None:
        self.network = network
        self.env = GameVectorEnv(GAME, games, opponent=OPPONENT, autoreset_mode="SameStep", copy=False)
        self.planes, info = self.env.reset(seed=seed)
        self.mask = info["action_mask"]
        self.won = self.lost = 0

    @torch.inference_mode()
    def play(self, steps: int) -> tuple[Rollout, torch.Tensor]:
        """Play steps of all games. Returns them and the values after them."""
        steps_played = []
        for _ in range(steps):
            # The environment's arrays change with every step: what is kept is copied.
            planes, mask = torch.from_numpy(self.planes.copy()), torch.from_numpy(self.mask.copy())
            choices, values = self.network(planes, mask)
            actions = choices.sample()
            self.planes, rewards, ended, _, info = self.env.step(actions.numpy())
            self.mask = info["action_mask"]
            self.won += int((rewards > 0).sum())
            self.lost += int((rewards < 0).sum())
            results = torch.from_numpy(rewards.astype(np.float32)), torch.from_numpy(ended.astype(np.float32))
            steps_played.append((planes, mask, actions, choices.log_prob(actions), values, *results))
        rollout = Rollout(*(torch.stack(column) for column in zip(*steps_played, strict=True)))
        return rollout, self.network(torch.from_numpy(self.planes), torch.from_numpy(self.mask))[1]

    def share_won(self) -> float:
        """The share of wins among the games that ended since the last call."""
        share = self.won / max(self.won + self.lost, 1)
        self.won = self.lost = 0
        return share


def advantages(rollout: Rollout, after: torch.Tensor) -> torch.Tensor:
    """Generalised advantage estimation, [steps, games]."""
    found = torch.zeros_like(rollout.values)
    gained = torch.zeros_like(after)
    for step in reversed(range(len(found))):
        goes_on = 1 - rollout.ended[step]
        surprise = rollout.rewards[step] + goes_on * after - rollout.values[step]
        gained = surprise + LAMBDA * goes_on * gained
        found[step] = gained
        after = rollout.values[step]
    return found


def learn(network: Network, optimizer: torch.optim.Optimizer, rollout: Rollout, after: torch.Tensor) -> None:
    """Update the network with PPO's clipped objective."""
    gains = advantages(rollout, after)
    goals = (gains + rollout.values).flatten()
    gains = ((gains - gains.mean()) / (gains.std() + 1e-8)).flatten()
    planes, masks, actions, likelihoods = (part.flatten(0, 1) for part in rollout[:4])
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(actions)).split(BATCH):
            choices, values = network(planes[rows], masks[rows])
            ratio = (choices.log_prob(actions[rows]) - likelihoods[rows]).exp()
            cautious = torch.min(ratio * gains[rows], ratio.clamp(1 - CLIP, 1 + CLIP) * gains[rows])
            value_loss = (values - goals[rows]).square().mean()
            loss = -cautious.mean() + VALUE_WEIGHT * value_loss - ENTROPY * choices.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 0.5)
            optimizer.step()


@torch.inference_mode()
def examine(network: Network, games: int = FRESH, seed: int = FRESH_SEED) -> float:
    """The share of new games that the network wins with its best actions."""
    env = GameVectorEnv(GAME, games, opponent=OPPONENT, autoreset_mode="SameStep", copy=False)
    planes, info = env.reset(seed=seed)
    result = np.zeros(games)
    while (result == 0).any():  # nine boxes: there are no draws
        choices, _ = network(torch.from_numpy(planes), torch.from_numpy(info["action_mask"]))
        planes, rewards, ended, _, info = env.step(choices.logits.argmax(1).numpy())
        first = ended & (result == 0)
        result[first] = rewards[first]
    return float((result > 0).mean())


# Training


@dataclass
class Run:
    """The progress of training, kept in the checkpoint."""

    seconds: float = 0.0
    """Processor time, including evaluations."""
    waited: float = 0.0
    """Wall time in seconds."""
    steps: int = 0
    curve: list[dict] = field(default_factory=list)


def train(settings: argparse.Namespace) -> None:
    """Play and learn until the time is up; write checkpoint, curve and weights."""
    torch.set_num_threads(settings.threads)
    torch.manual_seed(settings.seed)
    folder = Path(settings.folder)
    folder.mkdir(parents=True, exist_ok=True)
    network = Network()
    optimizer = torch.optim.Adam(network.parameters(), RATE, eps=1e-5)
    run = read_checkpoint(folder, network, optimizer)
    school = School(network, settings.games, settings.seed + run.steps)
    began, woke = time.process_time() - run.seconds, time.monotonic() - run.waited
    if not run.curve:
        examined(network, school, run)
    saved = asked = run.seconds
    while (done := max(run.seconds / (60 * settings.minutes), run.steps / settings.steps)) < 1:
        for group in optimizer.param_groups:
            group["lr"] = RATE * (1 - 0.95 * done)
        learn(network, optimizer, *school.play(STEPS))
        run.steps += settings.games * STEPS
        run.seconds, run.waited = time.process_time() - began, time.monotonic() - woke
        if run.seconds - asked > 60 * settings.every:
            asked = run.seconds
            examined(network, school, run)
        if run.seconds - saved > 60:
            saved = run.seconds
            write_checkpoint(folder, network, optimizer, run)
    examined(network, school, run)
    write_checkpoint(folder, network, optimizer, run)
    save_weights(network, folder / WEIGHTS.name)


def examined(network: Network, school: School, run: Run) -> None:
    """Print a point of the curve."""
    one = {
        "minutes": round(run.seconds / 60, 2),
        "steps": run.steps,
        "won": examine(network),
        "won while learning": round(school.share_won(), 4),
    }
    run.curve.append(one)
    print(json.dumps(one), flush=True)


def write_checkpoint(folder: Path, network: Network, optimizer: torch.optim.Optimizer, run: Run) -> None:
    """Write everything that training needs to resume."""
    whole = {"network": network.state_dict(), "optimizer": optimizer.state_dict(), "run": asdict(run)}
    torch.save(whole, folder / "checkpoint.new")
    (folder / "checkpoint.new").rename(folder / "checkpoint.pt")
    (folder / "curve.json").write_text(json.dumps({"minutes waited": round(run.waited / 60, 1), "points": run.curve}))


def read_checkpoint(folder: Path, network: Network, optimizer: torch.optim.Optimizer) -> Run:
    """Resume from a folder's checkpoint, if there is one."""
    if not (folder / "checkpoint.pt").exists():
        return Run()
    found = torch.load(folder / "checkpoint.pt", weights_only=True)
    network.load_state_dict(found["network"])
    optimizer.load_state_dict(found["optimizer"])
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
    """The trained network as a bot: ``py:examples/ppo_dots.py:Bot``. It looks no move ahead."""

    name = "ppo"
    weights = WEIGHTS

    def __init__(self) -> None:
        torch.set_num_threads(1)
        self.network = load_weights(self.weights)
        self.observations = new_observations(GAME, 1)
        self.planes = as_planes(GAME, self.observations)

    @torch.inference_mode()
    def choose(self, observation: dict, budget: object = None) -> object:
        """The network's best move."""
        states = parse_observation(GAME, observation)
        seat = np.array([GAME.kernels.mover(states)], np.int8)
        GAME.kernels.look_many(states, np.arange(1), seat, self.observations)
        choices, _ = self.network(torch.from_numpy(self.planes), torch.from_numpy(self.observations.mask))
        return GAME.codec.format_moves([int(choices.logits.argmax())], states[0])[0]


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Train a network on dots 3x3 against greedy.")
    parser.add_argument("command", choices=["train"])
    parser.add_argument("--minutes", type=float, default=15, help="of processor time, all runs in this folder together")
    parser.add_argument("--steps", type=int, default=10**9, help="the learner's moves, at most; likewise")
    parser.add_argument("--folder", default="runs/dots", help="where checkpoint, curve and weights are kept")
    parser.add_argument("--games", type=int, default=GAMES, help="games side by side")
    parser.add_argument("--every", type=float, default=0.5, help="processor minutes between two points of the curve")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    train(parser.parse_args())


if __name__ == "__main__":
    main()
