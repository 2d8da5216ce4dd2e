"""The examples: each one's shortest run learns for seconds, and its bot plays in the arena."""

import importlib.util
import json
import subprocess
import sys
import xml.etree.ElementTree
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import ludodrome
from ludodrome.arena.game_loop import play
from ludodrome.arena.records import verify
from tests.arena.playing import play_spec

EXAMPLES = Path(__file__).parents[1] / "examples"
HALF_PRECISION_MOST = 200_000
"""Bytes of a file of weights that is shipped."""

needs_torch = pytest.mark.skipif(
    find_spec("torch") is None, reason="PyTorch is missing: pip install 'ludodrome[train]'"
)


def loaded(name: str) -> Any:
    """An example as a module."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module: ModuleType = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def trained(name: str, folder: Path, *arguments: str) -> list[dict[str, Any]]:
    """Runs an example's training; its curve."""
    command = [sys.executable, str(EXAMPLES / f"{name}.py"), "train", "--folder", str(folder), *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    points: list[dict[str, Any]] = json.loads((folder / "curve.json").read_text("utf-8"))["points"]
    assert done.stdout.splitlines() == [json.dumps(point) for point in points[-len(done.stdout.splitlines()) :]]
    return points


def played(example: str, game: str, **options: Any) -> dict[str, Any]:
    """A game of an example's bot against random."""
    record = play(play_spec(game, (f"py:{EXAMPLES / example}", "random"), clock="60s", start_ms=120_000, **options))
    verify(record)
    assert record["result"]["decided_by"] == "play"
    assert not any("verdict" in entry for entry in record["turns"])
    return record


# Spaces


def test_spaces_is_learnt(tmp_path: Path) -> None:
    points = trained("meta_spaces", tmp_path, "--rounds", "60000")
    assert points[0]["exploitability"] > 1.5
    assert points[-1]["exploitability"] < 0.5
    assert points[-1]["against perfect play"] > points[0]["against perfect play"] + 0.5
    example = loaded("meta_spaces")
    learnt = example.load_policy(tmp_path / "meta_spaces.npz")
    assert np.isclose(learnt.sum(), 1)
    assert example.exploitability(example.equilibrium(), example.margin_matrix()) < 1e-9


def test_the_shipped_mixture_is_nearly_perfect() -> None:
    example = loaded("meta_spaces")
    policy = example.load_policy(example.WEIGHTS)
    assert 0 <= example.exploitability(policy, example.margin_matrix()) < 0.01


def test_readers_find_out_who_repeats_himself() -> None:
    example = loaded("meta_spaces")
    policy, matrix = example.load_policy(example.WEIGHTS), example.margin_matrix()
    still, _ = example.play_style(example.Reader(policy, False, matrix), "constant", 3, 8)
    reading, _ = example.play_style(example.Reader(policy, True, matrix), "constant", 3, 8)
    assert reading > still


def test_spaces_plays_in_the_arena(long: bool) -> None:
    options = {"size": 3, "rules": "live", "choice": "blind", "rounds": 3}
    for name in ("Bot", "Still") if long else ("Bot",):
        played(f"meta_spaces.py:{name}", "spaces", **options)
    bot = loaded("meta_spaces").Bot()
    with pytest.raises(ValueError, match="this bot has learnt"):
        bot.start({"options": ludodrome.make("spaces", size=4).options, "seat": 0, "seed": 1})


# Dots


@needs_torch
def test_dots_is_learnt(tmp_path: Path) -> None:
    short = ["--games", "256", "--threads", "1", "--minutes", "1000", "--every", "1000"]
    first = trained("ppo_dots", tmp_path, *short, "--steps", "60000")
    points = trained("ppo_dots", tmp_path, *short, "--steps", "160000")
    assert points[:2] == first
    assert [point["steps"] for point in points] == [0, 61440, 163840]
    assert points[0]["won"] < 0.03 < points[2]["won"]
    example = loaded("ppo_dots")
    example.load_weights(tmp_path / "ppo_dots.npz")


@needs_torch
def test_the_shipped_network_beats_greedy() -> None:
    example = loaded("ppo_dots")
    assert example.WEIGHTS.stat().st_size < HALF_PRECISION_MOST
    assert example.examine(example.load_weights(example.WEIGHTS), games=500, seed=77) > 0.8


@needs_torch
def test_dots_plays_in_the_arena() -> None:
    assert played("ppo_dots.py:Bot", "dots", rows=3, cols=3)["result"]["winner"] == 0


# Skysummit


@needs_torch
def test_skysummit_is_learnt(tmp_path: Path) -> None:
    short = ["--games", "16", "--simulations", "8", "--kept", "5000", "--matches", "2"]
    endless = ["--minutes", "1000", "--every", "1000"]
    points = trained("alphazero_skysummit", tmp_path, *short, *endless, "--moves", "90")
    again = trained("alphazero_skysummit", tmp_path, *short, *endless, "--moves", "180")
    assert again[:2] == points
    assert again[0]["positions"] == 0 < again[1]["positions"] < again[2]["positions"]
    assert again[1]["policy loss"] > 0
    assert (tmp_path / "alphazero_skysummit.npz").stat().st_size < HALF_PRECISION_MOST


@needs_torch
def test_symmetries_turn_positions_and_moves_alike() -> None:
    example = loaded("alphazero_skysummit")
    cells, actions = example.symmetries()
    game = example.GAME
    dice = np.random.default_rng(1)
    assert all(sorted(row) == list(range(25)) for row in cells.tolist())
    assert all(sorted(row) == list(range(game.num_actions)) for row in actions.tolist())
    state = game.initial_state()
    for _ in range(12):
        moves = game.legal_moves(state)
        state = game.apply(state, moves[dice.integers(len(moves))])
    seat = game.to_move(state)
    assert seat is not None
    for k in range(8):
        where = {int(old): new for new, old in enumerate(cells[k])}
        turned = {**state, "board": [state["board"][old] for old in cells[k]]}
        turned["workers"] = [[where[cell] for cell in pair] for pair in state["workers"]]
        legal = {game.action(move, state) for move in game.legal_moves(state)}
        assert {int(actions[k][game.action(move, turned)]) for move in game.legal_moves(turned)} == legal


@needs_torch
def test_skysummit_plays_in_the_arena() -> None:
    record = played("alphazero_skysummit.py:Bot25", "skysummit")
    assert record["result"]["winner"] == 0


# Pictures


@pytest.mark.parametrize("logarithmic", [False, True])
def test_curves_are_drawn(tmp_path: Path, logarithmic: bool) -> None:
    points = [{"rounds": 10**k, "won": k / 5, "lost": 1 - k / 5} for k in range(5)]
    (tmp_path / "curve.json").write_text(json.dumps({"points": points}), "utf-8")
    more = ["--logarithmic"] if logarithmic else ["--goal", "0.9"]
    columns = ["--x", "rounds", "--y", "won", "--y", "lost"]
    names = [str(tmp_path / "curve.json"), str(tmp_path / "curve.svg")]
    subprocess.run([sys.executable, str(EXAMPLES / "curves.py"), *names, *columns, *more], check=True)
    root = xml.etree.ElementTree.parse(tmp_path / "curve.svg").getroot()
    assert len(root.findall("{http://www.w3.org/2000/svg}polyline")) == 2
