"""Max-n finds what a plain recursive search finds, keeps its budgets, and pauses without changing its mind."""

import random
from collections.abc import Sequence
from typing import Any

import pytest

import ludodrome
from ludodrome.bots.alphabeta import PREDICTED, SELECTED
from ludodrome.bots.baselines import OnePlyEvaluator
from ludodrome.jit import COMPILED
from ludodrome.search.frames import DECIDED, WIN
from ludodrome.search.maxn import MaxN

pytestmark = pytest.mark.xdist_group("santorini")
SEATS = 3


def positions(count: int, seed: int = 3) -> list[Any]:
    """Running games of three players after some random moves."""
    game = ludodrome.make("santorini", players=SEATS)
    rng = random.Random(seed)
    found: list[Any] = []
    while len(found) < count:
        state = game.initial_state()
        for _ in range(rng.randint(6, 30)):
            moves = game.legal_moves(state)
            state = game.apply(state, rng.choice(moves)) if moves else state
        if game.outcome(state) is None:
            states = game.new_states(1)
            states[0] = game.encode(state)
            found.append(states)
    return found


def plain(game: ludodrome.Game, states: Any, depth: int, widths: Sequence[int], ply: int = 0) -> list[int]:
    """What a position is worth to each seat, by recursion; the rules of thumb are those of the kernel's page."""
    kernels: Any = game.kernels
    seat = int(kernels.mover(states))
    if seat < 0:
        return award(int(kernels.winner(states)), ply)
    if kernels.winning(states) >= 0:
        return award(seat, ply + 1)
    threatened = kernels.in_check(states)
    if ply >= depth and not threatened:
        return [int(kernels.value(states, one)) for one in range(SEATS)]
    best = [-WIN - 1] * SEATS
    buffer = game.buffer()
    actions = buffer[: kernels.legal(states, buffer)].tolist()
    if threatened:
        buffer[: len(actions)] = actions
        actions = buffer[: kernels.evasions(states, buffer, len(actions))].tolist()
        if not actions:
            return award((seat + 1) % SEATS, ply + 2)
    width = 1 if ply + 1 >= depth else widths[seat]
    values = OnePlyEvaluator(game).values(states, actions)
    order = sorted(range(len(actions)), key=lambda one: -values[one])
    for action in [actions[one] for one in order[:width]] if ply else actions:
        after = states.copy()
        kernels.play(after, action)
        worth = plain(game, after, depth, widths, ply + 1)
        if worth[seat] > best[seat]:
            best = worth
        if best[seat] > DECIDED and ply > 0:
            break
    return best


def award(won: int, plies: int) -> list[int]:
    return [0 if won < 0 else WIN - plies if seat == won else plies - WIN for seat in range(SEATS)]


@pytest.mark.parametrize("widths", [(200, 200, 200), (4, 1, 2)])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_it_finds_what_a_plain_search_finds(depth: int, widths: tuple[int, ...]) -> None:
    game = ludodrome.make("santorini", players=SEATS)
    searcher = MaxN(game)
    for states in positions((12 if depth < 3 else 1) if COMPILED else 2 if depth == 1 else 0):
        *_, finding = searcher.search(states, depth=depth, widths=widths)
        if finding.depth < depth:
            assert finding.proven
            continue
        seat = int(game.kernels.mover(states))
        expected = WIN - 1 if finding.proven else plain(game, states, depth, widths)[seat]
        assert finding.score == expected
        after = states.copy()
        game.kernels.play(after, finding.action)
        assert finding.proven or plain(game, after, depth, widths, 1)[seat] == expected


def test_pausing_changes_nothing() -> None:
    game = ludodrome.make("santorini", players=SEATS)
    for states in positions(3 if COMPILED else 1):
        nodes = 3000 if COMPILED else 60
        *_, whole = MaxN(game).search(states, nodes=nodes)
        pausing = MaxN(game)
        step = pausing.step
        limits: list[int] = []

        def short(limit: int, step: Any = step, pausing: MaxN = pausing, limits: list[int] = limits) -> bool:
            limits.append(limit)
            done = False
            while not done and pausing.nodes < limit:
                done = step(min(limit, pausing.nodes + 1))
            return done

        pausing.step = short  # type: ignore[method-assign]
        *_, sliced = pausing.search(states, nodes=nodes)
        assert (sliced.action, sliced.score, sliced.depth) == (whole.action, whole.score, whole.depth)
        assert limits


def test_budgets() -> None:
    game = ludodrome.make("santorini", players=SEATS)
    searcher = MaxN(game)
    (states,) = positions(1)
    *_, finding = searcher.search(states, nodes=50)
    assert finding.nodes < 50 + game.max_legal
    *_, finding = searcher.search(states, nodes=0)
    assert finding.depth == 0
    *_, finding = searcher.search(states, time=0.0)
    assert game.kernels.fault(states, finding.action) == 0


@pytest.mark.skipif(not COMPILED, reason="a hundred searches take plain Python minutes; the kernel is compared above")
def test_it_wins_at_once_and_stops_the_next_seat() -> None:
    game = ludodrome.make("santorini", players=SEATS)
    kernels: Any = game.kernels
    bot = ludodrome.bot("expert:nodes=2000", game)
    wins = blocks = 0
    for states in positions(150, seed=8):
        state = game.decode(states[0])
        after = game.apply(state, bot.choose(state))
        buffer = game.buffer()
        if kernels.winning(states) >= 0:
            outcome = game.outcome(after)
            assert outcome is not None
            assert outcome.winner == game.to_move(state)
            wins += 1
        elif kernels.in_check(states) and kernels.evasions(states, buffer, kernels.legal(states, buffer)):
            following = game.new_states(1)
            following[0] = game.encode(after)
            assert kernels.winning(following) < 0
            blocks += 1
    assert wins
    assert blocks


def test_other_games_are_refused() -> None:
    with pytest.raises(ValueError, match="needs an evaluator, and spaces has none"):
        MaxN(ludodrome.make("spaces"))
    with pytest.raises(ValueError, match="three seats or more, and this game of skysummit has 2"):
        MaxN(ludodrome.make("skysummit"))


@pytest.mark.skipif(not COMPILED, reason="games of a search take plain Python minutes")
def test_expert_learns_which_seats_play_the_best_move_at_one_ply() -> None:
    game = ludodrome.make("santorini", players=SEATS)
    bots: list[Any] = [ludodrome.bot(spec, game, seed=1) for spec in ("expert:nodes=3000", "greedy", "random")]
    expert = bots[0]
    state = game.initial_state()
    known = []
    while game.outcome(state) is None:
        seat = game.to_move(state)
        assert seat is not None
        state = game.apply(state, bots[seat].choose(state))
        known.append([expert.predicted.is_predictable(one) for one in range(SEATS)])
    assert known[3] == [False] * SEATS  # nobody is known after one round
    assert known[-1] == [False, True, False]
    expert.start({"seed": 2})
    assert not expert.predicted.is_predictable(1)
    assert expert._widths(0) == [game.max_legal] * SEATS
    expert.predicted._in_a_row = [0, PREDICTED, PREDICTED]
    assert expert._widths(0) == [SELECTED, 1, 1]
    assert expert._widths(2) == [game.max_legal, 1, game.max_legal]
