"""Alpha-beta against plain exhaustive search, retrograde analysis, and itself."""

import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ludodrome
from ludodrome.game import Game
from ludodrome.jit import COMPILED
from ludodrome.search.frames import DECIDED, WIN
from ludodrome.search.iterative import Searcher, SearchResult
from tests.games.dots.retrograde import all_values
from tests.search.positions import reached
from tests.tactics import read

DUELS = ("caldera", "dots", "santorini", "skysummit")
RACES = ("caldera", "santorini", "skysummit")
"""Games that are won, not counted: there is a win in a number of plies."""
KNOWN = Path(__file__).with_name("alphabeta.txt")
"""What searches with small budgets find; ``python -m tests.search.test_alphabeta`` rewrites it."""


def each(ids: tuple[str, ...]) -> pytest.MarkDecorator:
    """The games, each compiled by one worker."""
    return pytest.mark.parametrize("game_id", [pytest.param(g, marks=pytest.mark.xdist_group(g)) for g in ids])


each_duel, each_race = each(DUELS), each(RACES)


def last(searcher: Searcher, states: Any, **budget: Any) -> SearchResult:
    *_, finding = searcher.search(states, **budget)
    return finding


@pytest.mark.xdist_group("dots")
@pytest.mark.parametrize(("rows", "cols"), [(1, 1), (1, 2), (2, 1), (1, 4), (2, 2), (3, 1)])
@pytest.mark.parametrize("reductions", [True, False])
def test_dots_to_the_end_is_exact(rows: int, cols: int, reductions: bool) -> None:
    game = ludodrome.make("dots", rows=rows, cols=cols)
    values = all_values(rows, cols)
    searcher = Searcher(game, table_bits=14, reductions=reductions)
    for state in reached(game, 30 if COMPILED else 4, seed=rows * 10 + cols, least=0 if COMPILED else 4):
        states = game.encode_array(state)
        finding = last(searcher, states)
        assert finding.proven
        assert finding.score == 100 * int(values[int(states["edges"][0])])


def can_force(game: Game, states: Any, plies: int, seat: int) -> bool:
    """Whether a seat can win within ``plies`` plies whatever the others do: plain exhaustive search."""
    mover = int(game.kernels.mover(states))
    if mover < 0:
        return bool(game.kernels.winner(states) == seat)
    if plies == 0:
        return False
    buffer = game.buffer()
    for action in buffer[: game.kernels.legal(states, buffer)].tolist():
        child = states.copy()
        game.kernels.play(child, action)
        if can_force(game, child, plies - 1, seat) == (mover == seat):
            return mover == seat
    return mover != seat


@pytest.mark.skipif(not COMPILED, reason="exhaustive search of three plies takes plain Python too long")
@each_race
def test_what_is_proven_is_true_and_what_can_be_proven_is_found(game_id: str, long: bool) -> None:
    game = ludodrome.make(game_id)
    searcher = Searcher(game, table_bits=14)
    wins = losses = 0
    for state in reached(game, 1000 if long else 60, seed=1, least=16):
        states = game.encode_array(state)
        seat = int(game.kernels.mover(states))
        finding = last(searcher, states, depth=3)
        for plies in (1, 3):
            if can_force(game, states, plies, seat):
                assert finding.proven
                assert finding.score >= WIN - 3
                break
        if finding.distance is not None and finding.distance <= 3:
            winner = seat if finding.score > 0 else 1 - seat
            wins += winner == seat
            losses += winner != seat
            assert can_force(game, states, finding.distance, winner)
    assert wins >= 5
    assert losses + wins >= 6


@pytest.mark.skipif(not COMPILED, reason="full-width searches of seven plies take plain Python too long")
@each_race
def test_scores_beyond_decided_are_confirmed_without_pruning(game_id: str, long: bool) -> None:
    """Pruning by static values misses wins; it never invents one, nor a loss."""
    game = ludodrome.make(game_id)
    pruned, full = Searcher(game, table_bits=14), Searcher(game, table_bits=18, reductions=False, shortest=True)
    confirmed = 0
    tactical = [game.parse_state(tactic.position) for tactic in read(game_id)]
    late = reached(game, 3000 if long else 60, seed=9, least=20)
    for state in (*late, *(tactical if long else tactical[:30])):
        states = game.encode_array(state)
        for finding in pruned.search(states, nodes=4000):
            if finding.distance is not None and 1 < finding.distance <= 7:
                check = last(full, states, depth=finding.distance)
                assert check.proven, game.format_state(state)
                assert (check.score > DECIDED) == (finding.score > DECIDED)
                assert abs(check.score) >= abs(finding.score)
                confirmed += 1
    assert confirmed >= (60 if long else 10)


@pytest.mark.xdist_group("dots")
def test_margins_are_not_called_proven_before_they_are() -> None:
    game = ludodrome.make("dots", rows=1, cols=3)
    values = all_values(1, 3)
    searcher = Searcher(game, table_bits=12)
    for state in reached(game, 20 if COMPILED else 3, seed=2, least=0 if COMPILED else 5):
        states = game.encode_array(state)
        for finding in searcher.search(states, depth=6):
            if finding.proven:
                assert finding.score == 100 * int(values[int(states["edges"][0])])


@each_duel
def test_a_line_is_playable_and_the_budget_is_kept(game_id: str) -> None:
    game = ludodrome.make(game_id)
    searcher = Searcher(game, table_bits=12)
    for state in reached(game, 4, seed=4, least=6):
        states = game.encode_array(state)
        findings = list(searcher.search(states, nodes=3000 if COMPILED else 200))
        assert findings[-1].nodes <= (3000 if COMPILED else 200)
        assert all(a.depth <= b.depth and a.nodes <= b.nodes for a, b in pairwise(findings))
        for finding in findings:
            follow = states.copy()
            for action in finding.line:
                assert game.kernels.fault(follow, action) == 0
                game.kernels.play(follow, action)
            assert finding.line[0] == finding.action


@each_duel
def test_moves_can_be_avoided(game_id: str) -> None:
    game = ludodrome.make(game_id)
    searcher = Searcher(game, table_bits=12)
    states = game.encode_array(next(reached(game, 1, seed=5, least=4)))
    first = last(searcher, states, depth=2)
    second = last(searcher, states, depth=2, avoid=[first.action])
    assert second.action != first.action
    buffer = game.buffer()
    everything = buffer[: game.kernels.legal(states, buffer)].tolist()
    assert list(searcher.search(states, depth=2, avoid=everything)) == []


@each_duel
def test_a_search_can_pause_anywhere(game_id: str) -> None:
    """Slices of one node give what one long run gives."""
    game = ludodrome.make(game_id)
    states = game.encode_array(next(reached(game, 1, seed=6, least=5)))
    whole, sliced = Searcher(game, table_bits=12), Searcher(game, table_bits=12)
    for searcher in (whole, sliced):
        actions = searcher._begin(states, ())
        searcher._set_root(actions, 2, -2 * WIN, 2 * WIN)
    assert whole.step(10**9)
    steps = 0
    while not sliced.step(sliced.nodes + 1):
        steps += 1
    assert steps > 10
    assert sliced.nodes == whole.nodes
    assert sliced._root.best == whole._root.best
    assert sliced._root.best_action == whole._root.best_action
    assert np.array_equal(sliced._table, whole._table)


def test_three_seats_think_too() -> None:
    game = ludodrome.make("santorini", players=3)
    searcher = Searcher(game, table_bits=12)
    for state in reached(game, 6 if COMPILED else 1, seed=7, least=12):
        states = game.encode_array(state)
        finding = last(searcher, states, depth=2)
        seat = int(game.kernels.mover(states))
        if can_force(game, states, 1, seat):
            assert finding.score == WIN - 1
        if finding.score > DECIDED:
            assert can_force(game, states, WIN - finding.score, seat)


def test_with_a_clock_one_move_of_several_is_searched_as_deep() -> None:
    """Where other moves are only left out, the move that is left is no forced one."""
    game = ludodrome.make("skysummit")
    states = game.encode_array(game.initial_state())
    buffer = game.buffer()
    _, *others = buffer[: game.kernels.legal(states, buffer)].tolist()
    with_clock, without = (last(Searcher(game), states, depth=2, avoid=others, time=time) for time in (600, None))
    assert with_clock.depth == without.depth == 2
    assert with_clock.score == without.score


@pytest.mark.skipif(not COMPILED, reason="proofs in five plies take plain Python minutes")
def test_what_was_proved_needs_no_second_search() -> None:
    """After the winning move and the answer expected one position is enough: the table has the proof."""
    game = ludodrome.make("skysummit")
    tactics = [tactic for tactic in read("skysummit") if tactic.task == "win in 5 plies"]
    assert tactics
    for tactic in tactics:
        states = game.encode_array(game.parse_state(tactic.position))
        searcher = Searcher(game)
        proof = last(searcher, states, nodes=500_000)
        assert proof.proven
        assert proof.score > DECIDED
        for action in proof.line[:2]:
            game.kernels.play(states, action)
        again = last(searcher, states, nodes=1)
        assert again.proven
        assert again.score >= proof.score + 2


def test_a_game_without_an_evaluator_is_refused() -> None:
    with pytest.raises(ValueError, match="alpha-beta needs an evaluator, and spaces has none"):
        Searcher(ludodrome.make("spaces"))


@pytest.mark.skipif(not COMPILED, reason="whole games take plain Python too long")
@each_race
def test_a_proven_win_is_never_lost(game_id: str, long: bool) -> None:
    """From the first proof on the winner thinks as little as before, the loser plays at random or thinks too."""
    game = ludodrome.make(game_id)
    proofs = 0
    for number in range(1000 if long else 12):
        proofs += play_out(game, number)
    assert proofs >= (900 if long else 8)


def play_out(game: Game, number: int) -> bool:
    """One game; whether a win was proven before it ended. The prover must win, and never loses the proof."""
    dice = random.Random(number)
    searchers = [Searcher(game, table_bits=14) for _ in range(game.seats)]
    states = game.encode_array(game.initial_state())
    prover = None
    while (seat := int(game.kernels.mover(states))) >= 0:
        buffer = game.buffer()
        legal = buffer[: game.kernels.legal(states, buffer)].tolist()
        finding = last(searchers[seat], states, nodes=2000)
        if prover == seat:
            assert finding.score > DECIDED, game.format_state(game.decode(states[0]))
        elif finding.score > DECIDED:
            assert prover is None
            prover = seat
        careless = prover != seat and dice.random() < (0.4 if number % 2 else 0.15)
        game.kernels.play(states, dice.choice(legal) if careless else finding.action)
    if prover is not None:
        assert game.kernels.winner(states) == prover
    return prover is not None


def known_searches() -> list[str]:
    """Searches with small budgets, a line each."""
    lines = []
    for game_id, options in [*((g, {}) for g in DUELS), ("santorini", {"players": 3})]:
        game = ludodrome.make(game_id, **options)
        searcher = Searcher(game, table_bits=10)
        for state in reached(game, 3, seed=8, least=8):
            finding = last(searcher, game.encode_array(state), nodes=150)
            line = " ".join(map(str, finding.line))
            lines.append(f"{game_id} {finding.action} {finding.score} {finding.depth} {finding.nodes} | {line}")
    return lines


def test_the_same_searches_find_the_same_everywhere() -> None:
    """Compiled or not, on every machine."""
    assert known_searches() == KNOWN.read_text().splitlines()


if __name__ == "__main__":
    KNOWN.write_text("\n".join(known_searches()) + "\n")
