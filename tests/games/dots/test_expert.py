"""``expert`` in dots: it keeps proven wins, avoids proven losses, and stays within its budget."""

import json
import random
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import ludodrome
from ludodrome.bots.player import Budget, Stopwatch, warm_up
from ludodrome.games.dots import bots
from ludodrome.games.dots.analysis import positions_after, who_wins
from ludodrome.games.dots.bots import ExpertBot, Spending
from ludodrome.games.dots.solver import Solver
from ludodrome.jit import COMPILED
from tests.games.dots.retrograde import all_values

SOLVE_DOTS = Path(__file__).parents[3] / "benchmarks" / "solve_dots"


def expert(game: ludodrome.Game, seed: int = 1, **limits: float) -> ExpertBot:
    budget = Budget(**limits)  # type: ignore[arg-type]
    return ExpertBot(game, "expert", seed, own=budget, default=budget)


def after(game: ludodrome.Game, states: np.ndarray, edge: int) -> np.ndarray:
    """The position after an edge."""
    state = game.decode(states[0])
    following: np.ndarray = game.encode_array(game.apply(state, game.move(edge, state)))
    return following


def lead_of(states: np.ndarray, seat: int) -> int:
    """A seat's boxes minus the other's."""
    own, other = (int(boxes).bit_count() for boxes in states["boxes"][0])
    return own - other if seat == 0 else other - own


def final_margin(states: np.ndarray, values: np.ndarray, seat: int) -> int:
    """The margin of a seat under perfect play from here on."""
    worth = int(values[int(states["edges"][0])])
    return lead_of(states, seat) + (worth if states["to_move"][0] == seat else -worth)


def proven(bot: ExpertBot, states: np.ndarray) -> bool:
    """Whether the bot's solver knows an edge that wins."""
    known = bot.solver.edge_reaching(1 - lead_of(states, int(states["to_move"][0])))
    return bot.solver._drawn == int(states["edges"][0]) and known is not None


@pytest.mark.parametrize(("rows", "cols", "nodes"), [(2, 3, 400), (1, 4, 200), (2, 4, 1000), (3, 3, 4000)])
def test_a_proven_win_is_never_lost(rows: int, cols: int, nodes: int) -> None:
    """Over 200 games in all, against random edges: once an edge is proven to win, the game stays won."""
    if rows * cols > 6 and not COMPILED:
        pytest.skip("the values of all positions take too long in plain Python")
    game, values, dice = ludodrome.make("dots", rows=rows, cols=cols), all_values(rows, cols), random.Random(nodes)
    bot, proofs = expert(game, nodes=nodes), 0
    for number in range(52 if COMPILED else 4):
        bot.start({"seed": number})
        states, won, seat = game.encode_array(game.initial_state(number)), False, number % 2
        while states["to_move"][0] >= 0:
            mine = states["to_move"][0] == seat
            edge = bot.action(states, Budget(), Stopwatch()) if mine else dice.choice(game.legal_actions_of(states))
            if mine and proven(bot, states):
                won, proofs = True, proofs + 1
            states = after(game, states, edge)
            margin = final_margin(states, values, seat)
            assert not won or margin > 0, (number, mine, edge, bot.solver._drawn, bot.solver.bounds, margin)
        assert not won or states["winner"][0] == seat
    assert proofs


def test_a_proven_win_is_played_at_once() -> None:
    """With budgets too small to prove the win again at the next move."""
    game, values, proofs = ludodrome.make("dots", rows=2, cols=3), all_values(2, 3), 0
    dice = random.Random(4)
    for drawn in dice.sample(range(1 << 13), 300 if COMPILED else 120):
        edges = [edge for edge in range(17) if drawn >> edge & 1]
        states = game.encode_array(game.initial_state())
        for edge in edges:
            states = after(game, states, edge)
        bot = expert(game, nodes=dice.choice((4, 12, 40)))
        edge, seat = bot.action(states, Budget(), Stopwatch()), int(states["to_move"][0])
        if proven(bot, states):
            proofs += 1
            assert final_margin(after(game, states, edge), values, seat) > 0
    assert proofs


def test_with_enough_nodes_every_edge_is_best() -> None:
    game, values = ludodrome.make("dots", rows=2, cols=3), all_values(2, 3)
    bot, dice = expert(game, nodes=100_000), random.Random(3)
    for _ in range(100 if COMPILED else 10):
        states = game.encode_array(game.initial_state())
        for edge in dice.sample(range(17), dice.randrange(12)):
            states = after(game, states, edge)
        seat = int(states["to_move"][0])
        before = final_margin(states, values, seat)
        states = after(game, states, bot.action(states, Budget(), Stopwatch()))
        assert final_margin(states, values, seat) == before


def test_the_same_nodes_give_the_same_moves() -> None:
    game = ludodrome.make("dots", rows=3, cols=3)
    states = game.encode_array(game.initial_state())
    choices = {expert(game, seed=5, nodes=30).action(states, Budget(), Stopwatch()) for _ in range(3)}
    assert len(choices) == 1


@pytest.mark.parametrize("nodes", [1, 10, 60, 200])
def test_a_small_budget_is_kept(nodes: int) -> None:
    game = ludodrome.make("dots", rows=3, cols=3)
    states = game.encode_array(game.initial_state())
    bot = expert(game, nodes=nodes)
    assert bot.action(states, Budget(), Stopwatch()) in range(24)
    assert bot.solver.nodes + sum(one.nodes for one in bot.simpler) <= nodes + 60, "scouting ends what it has begun"


def test_refuted_edges_are_avoided(monkeypatch: pytest.MonkeyPatch) -> None:
    """The simpler games name an edge; if it is proven to lose, another one is drawn."""
    game, values = ludodrome.make("dots", rows=2, cols=2), all_values(2, 2)
    states = game.encode_array(game.initial_state())
    monkeypatch.setattr(bots, "MARGIN_SHARE", 0.0)
    bot = expert(game, nodes=5000)
    losing = next(edge for edge in bot.solver.candidates(0) if -values[1 << edge] <= 0)
    blind = SimpleNamespace(begin=lambda *_, **__: None, run=lambda nodes: True, nodes=0, best_edge=losing)
    bot.simpler = [blind]  # type: ignore[list-item]
    edge = bot.action(states, Budget(), Stopwatch())
    assert -values[1 << edge] > 0
    monkeypatch.setattr(bot, "_margin", lambda *_: None)
    assert bot.action(states, Budget(), Stopwatch()) != losing


def test_before_any_question_safe_edges_are_drawn() -> None:
    game = ludodrome.make("dots", rows=5, cols=5)
    states = game.encode_array(game.initial_state())
    assert expert(game, nodes=10).action(states, Budget(), Stopwatch()) in range(60)


def test_warm_up_leaves_nothing_to_compile() -> None:
    game = ludodrome.make("dots", rows=2, cols=2)
    warm_up(expert(game, time=0.05), game)


def test_time_is_given_out_in_slices() -> None:
    clock = Stopwatch()
    spending = Spending(Budget(time=60.0), clock)
    assert spending.nodes() == bots.SLICE
    assert not spending.nodes(0.0)
    solver = Solver(2, 2, 8)
    solver.begin(0)
    assert spending.until_done(solver)
    assert spending.slice >= 1
    assert not Spending(Budget(time=0.0), clock).until_done(solver)


@pytest.mark.parametrize(("size", "moves", "positions"), [((2, 2), 3, 220), ((2, 3), 2, 136), ((1, 2), 4, 33)])
def test_positions_after_some_moves(size: tuple[int, int], moves: int, positions: int) -> None:
    """All sets of that many edges; of the 35 of 1 x 2 boxes two close a box."""
    found = positions_after(*size, moves)
    assert sum(found.values()) == positions
    assert len(found) < positions
    values = all_values(*size)
    for drawn in list(found)[:40]:
        assert drawn.bit_count() == moves
        assert who_wins(*size, drawn, 12, 10**6)[0] == np.sign(values[drawn])


def test_positions_after_three_moves_on_5x5() -> None:
    """34,220 is the number of sets of three edges, as in the report of 2017, before symmetry."""
    if not COMPILED:
        pytest.skip("34,220 positions take too long in plain Python")
    assert sum(positions_after(5, 5, 3).values()) == 34_220


def test_who_wins_within_few_nodes() -> None:
    assert who_wins(3, 3, 0, 12, 1)[0] is None
    with pytest.raises(ValueError, match="from 1 to 4, not 5"):
        positions_after(2, 2, 5)


def test_a_run_over_all_positions_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    """benchmarks/solve_dots --after: to its end, and again from a file whose last line was cut off."""
    file = tmp_path / "after.jsonl"
    command = [sys.executable, str(SOLVE_DOTS), "2x2", "--after", "2", "--file", str(file), "--bits", "12"]

    def run() -> str:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    assert "0 of them decided before" in run()
    whole = file.read_bytes()
    values = all_values(2, 2)
    lines = [json.loads(line) for line in whole.splitlines()[1:]]
    assert {line["drawn"]: line["positions"] for line in lines} == positions_after(2, 2, 2)
    assert all(line["wins"] == np.sign(values[line["drawn"]]) for line in lines)
    kept = whole.splitlines(keepends=True)
    file.write_bytes(b"".join(kept[:3]) + kept[3][:7])
    assert "2 of them decided before" in run()

    def without_nodes(text: bytes) -> list[dict[str, Any]]:
        return [{key: value for key, value in json.loads(line).items() if key != "nodes"} for line in text.splitlines()]

    assert without_nodes(file.read_bytes()) == without_nodes(whole)
    other = subprocess.run([*command[:2], "2x3", *command[3:]], capture_output=True, text=True)
    assert other.returncode == 1
    assert "is not a run of" in other.stderr
