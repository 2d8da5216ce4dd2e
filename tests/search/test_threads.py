"""Alpha-beta on several threads: the same proofs, nodes that add up, and helpers that end with the search."""

import random
import threading
import time
from typing import Any

import pytest

import ludodrome
from ludodrome.game import Game
from ludodrome.jit import COMPILED
from ludodrome.search.frames import DECIDED
from ludodrome.search.iterative import Deadline, Searcher, SearchResult
from tests.search.positions import reached
from tests.tactics import read

pytestmark = pytest.mark.skipif(not COMPILED, reason="plain Python holds the interpreter lock, and takes too long")

RACES = ("caldera", "santorini", "skysummit")
each_race = pytest.mark.parametrize("game_id", [pytest.param(g, marks=pytest.mark.xdist_group(g)) for g in RACES])


def last(searcher: Searcher, states: Any, **budget: Any) -> SearchResult:
    *_, found = searcher.search(states, **budget)
    return found


def early() -> tuple[Game, Any]:
    """A position that nothing is proven about for a long time."""
    game = ludodrome.make("santorini")
    return game, game.encode_array(game.initial_state())


def helpers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("search")]


@each_race
@pytest.mark.parametrize("threads", [2, 4])
def test_what_several_threads_prove_is_true(game_id: str, threads: int, long: bool) -> None:
    """A search without any reductions finds the same, at the depth of the proof."""
    game = ludodrome.make(game_id)
    several = Searcher(game, table_bits=14, threads=threads)
    alone = Searcher(game, table_bits=16, reductions=False)
    proven = 0
    for state in reached(game, 300 if long else 25, seed=11, least=14):
        states = game.encode_array(state)
        found = last(several, states, nodes=20_000)
        follow = states.copy()
        for action in found.line:
            assert game.kernels.fault(follow, action) == 0
            game.kernels.play(follow, action)
        if found.distance is not None and found.distance <= 7 and found.proven:
            proof = last(alone, states, depth=found.distance)
            assert proof.proven
            assert (proof.score > DECIDED) == (found.score > DECIDED)
            proven += 1
    assert proven >= 3
    assert not helpers()


@each_race
def test_tactics_are_solved_with_two_threads(game_id: str) -> None:
    game = ludodrome.make(game_id)
    searcher = Searcher(game, threads=2)
    for tactic in [tactic for tactic in read(game_id) if tactic.task == "win in 5 plies"][:5]:
        searcher.clear()
        found = last(searcher, game.encode_array(game.parse_state(tactic.position)), nodes=2_000_000)
        assert found.proven
        assert found.score > DECIDED


def test_nodes_add_up_and_are_limited() -> None:
    game, states = early()
    searcher = Searcher(game, threads=3)
    searcher.warm_up()
    for _ in searcher.search(states, nodes=300_000):
        pass
    parts = [int(searcher._search.nodes), *(int(helper._search.nodes) for helper in searcher._helpers)]
    assert searcher.nodes == sum(parts)
    assert all(parts)
    assert 300_000 <= searcher.nodes < 400_000


def test_one_thread_gives_the_same_again() -> None:
    game = ludodrome.make("caldera")
    searchers = [Searcher(game, table_bits=14, threads=1) for _ in range(2)]
    for state in reached(game, 5, seed=13, least=6):
        first, second = (last(searcher, game.encode_array(state), nodes=20_000) for searcher in searchers)
        assert (first.action, first.score, first.depth, first.nodes, first.line) == (
            second.action,
            second.score,
            second.depth,
            second.nodes,
            second.line,
        )


def test_no_helper_runs_between_results_or_after_the_last() -> None:
    game, states = early()
    searcher = Searcher(game, threads=4)
    searcher.warm_up()
    deepest = 0
    for result in searcher.search(states, depth=6, pulse=0.01):
        deepest, nodes = result.depth, searcher.nodes
        assert not helpers()
        time.sleep(0.001)
        assert searcher.nodes == nodes
    assert deepest == 6
    assert any(helper.nodes for helper in searcher._helpers)
    abandoned = searcher.search(states, time=600)
    while next(abandoned).depth < 4:
        pass
    del abandoned
    assert not helpers()
    assert last(searcher, states, depth=5).depth == 5


def test_an_interrupt_ends_the_helpers(monkeypatch: pytest.MonkeyPatch) -> None:
    """As Ctrl-C does: KeyboardInterrupt is raised between two slices of the search."""
    game, states = early()
    searcher = Searcher(game, threads=4)
    searcher.warm_up()
    pace = Deadline._pace
    seen = 0

    def interrupt(self: Deadline, *arguments: Any) -> None:
        nonlocal seen
        if self._search is searcher and helpers():
            seen = len(helpers())
            raise KeyboardInterrupt
        pace(self, *arguments)

    monkeypatch.setattr(Deadline, "_pace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        last(searcher, states, time=600)
    assert seen >= 1
    assert not helpers()
    monkeypatch.undo()
    assert last(searcher, states, depth=5).depth == 5


def test_what_fails_in_a_helper_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    game, states = early()
    searcher = Searcher(game, threads=2)

    def fail(limit: int) -> bool:
        raise RuntimeError("the helper failed")

    monkeypatch.setattr(searcher._helpers[0], "step", fail)
    with pytest.raises(RuntimeError, match="the helper failed"):
        last(searcher, states, nodes=300_000)


@pytest.mark.parametrize("threads", [0, 65, True, "2"])
def test_a_wrong_number_of_threads_is_refused(threads: Any) -> None:
    with pytest.raises(ValueError, match="the number of threads is a whole number from 1 to 64"):
        Searcher(ludodrome.make("santorini"), 10, threads=threads)


@pytest.mark.parametrize("spec", ["alphabeta:nodes=4000,threads=2", "expert:time=0.01,threads=2"])
@each_race
def test_bots_with_two_threads_play_legal_games(game_id: str, spec: str) -> None:
    game = ludodrome.make(game_id)
    bot = ludodrome.bot(spec, game, seed=1)
    dice = random.Random(17)
    state = game.initial_state()
    while (seat := game.to_move(state)) is not None:
        moves = game.legal_moves(state)
        move = bot.choose(game.observation(state, seat)) if seat == 0 else dice.choice(moves)
        assert move in moves
        state = game.apply(state, move)
    outcome = game.outcome(state)
    assert outcome is not None
    assert outcome.scores[0] == 1
    assert not helpers()
