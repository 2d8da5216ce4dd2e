"""Benchmarks: plies, games, rounds, steps and turns a second, for ``ludodrome bench``.

Each benchmark runs once to compile, then with growing amounts until its speed is known, then three times with an amount
that takes a third of the time; the best of the three counts, since the machine may be shared.
"""

import random
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ludodrome.bots.networks import network_weights
from ludodrome.game import Game, TooManyMoves
from ludodrome.game_extras import extra
from ludodrome.games import make
from ludodrome.jit import Array, as_words, below, entry, mix, new_states, stream
from ludodrome.search.batch import Batch
from ludodrome.search.iterative import Searcher
from ludodrome.search.mcts_search import TreeSearch
from ludodrome.search.playouts import CHUNK, playouts

GAMES_A_BATCH = 4096
OPENING = 6
"""Random turns before the position for alpha-beta."""
REPETITIONS = 3
THREADS = (1, 2)


class Row(NamedTuple):
    """One result."""

    game: str
    what: str
    threads: int
    unit: str
    per_second: float


class Done(NamedTuple):
    """The counts of each unit, and the seconds they took."""

    counts: dict[str, int]
    seconds: float


class Work(NamedTuple):
    """A benchmark. ``run`` does an amount of work; amounts are multiples of ``grain``."""

    game: str
    what: str
    threads: int
    units: tuple[str, ...]
    grain: int
    run: Callable[[int], Done]


def measure(game_ids: Iterable[str], seconds: float, report: Callable[[str], None]) -> Iterator[Row]:
    """Measure games and yield the rows. ``seconds``: time for each benchmark; ``report`` is called with progress."""
    for game_id in game_ids:
        report(f"preparing {game_id}'s kernels ...")
        works = list(works_of(game_id))
        for work in works:
            work.run(work.grain)
        for work in works:
            cores = "one core" if work.threads == 1 else f"{work.threads} cores"
            report(f"measuring {game_id}: {work.what}, {cores} ...")
            rates = best_rates(work, seconds)
            for unit in work.units:
                yield Row(game_id, work.what, work.threads, unit, rates[unit])


def best_rates(work: Work, seconds: float) -> dict[str, float]:
    """The best rate of each unit in three runs."""
    share = seconds / REPETITIONS
    amount = work.grain
    while (took := work.run(amount).seconds) < share / 4:
        amount *= 4
    amount = max(1, round(amount * share / took / work.grain)) * work.grain
    results = [work.run(amount) for _ in range(REPETITIONS)]
    return {unit: max(done.counts[unit] / done.seconds for done in results) for unit in work.units}


def works_of(game_id: str) -> Iterator[Work]:
    """The benchmarks of a game."""
    game = make(game_id)
    for threads in THREADS:
        yield playouts_work(game, threads)
    own = extra(game.benchmarks_module, "works")
    if own is not None:
        yield from own()
    if game.actions_a_turn == 1:
        yield batch_work(game)
    yield mcts_work(game)
    yield bare_work(game)
    try:
        game.legal_moves(game.initial_state())
    except TooManyMoves:
        return
    yield json_work(game)
    if game.evaluator is not None:
        yield search_work(game)
    if network_weights(game) is not None:
        yield search_work(game, network=True)


def playouts_work(game: Game, threads: int) -> Work:
    """Random games to the end in compiled code."""

    def run(amount: int) -> Done:
        begin = time.perf_counter()
        result = playouts(game, amount, seed=amount, threads=threads)
        return Done({"plies": result.plies, "games": result.games}, time.perf_counter() - begin)

    units = ("plies", "games") if game.evaluator is not None and game.evaluator.by_points else ("plies",)
    return Work(game.id, "playouts", threads, units, CHUNK * threads, run)


def mcts_work(game: Game) -> Work:
    """Simulations of tree search from the initial position, with an empty tree."""
    search = TreeSearch(game)
    states = game.encode_array(game.initial_state())

    def run(amount: int) -> Done:
        search.clear()
        begin = time.perf_counter()
        found = search.search(states, sims=amount)
        return Done({"simulations": found.simulations}, time.perf_counter() - begin)

    return Work(game.id, "mcts", 1, ("simulations",), CHUNK, run)


def bare_work(game: Game) -> Work:
    """Playouts from the same position without a tree, to compare."""

    def run(amount: int) -> Done:
        begin = time.perf_counter()
        playouts(game, amount)
        return Done({"playouts": amount}, time.perf_counter() - begin)

    return Work(game.id, "mcts", 1, ("playouts",), CHUNK, run)


def batch_work(game: Game) -> Work:
    """Steps of many games side by side; only step and legal_mask are timed."""
    batch = Batch(game, GAMES_A_BATCH)
    mask = batch.legal_mask()
    actions = np.zeros(len(batch), np.int64)

    def run(amount: int) -> Done:
        steps, seconds = 0, 0.0
        for round_ in range(amount):
            batch.reset(round_, batch.done)
            batch.legal_mask(mask)
            choose(mask, np.uint64(round_), actions)
            begin = time.perf_counter()
            batch.step(actions)
            batch.legal_mask(mask)
            seconds += time.perf_counter() - begin
            steps += len(batch)
        return Done({"steps": steps}, seconds)

    return Work(game.id, "batch", 1, ("steps",), 1, run)


@entry
def choose(mask: Array, seed: Any, actions: Array) -> None:
    """A random legal action a game. mask: [n, num_actions] bool, no row all False; actions: [n] int64, filled."""
    for i in range(len(mask)):
        legal = np.flatnonzero(mask[i])
        actions[i] = legal[below(mix(stream(seed, i)), len(legal))]


def json_work(game: Game) -> Work:
    """Random games from Python: list the moves, apply one of them."""
    dice = random.Random(0)

    def run(amount: int) -> Done:
        begin = time.perf_counter()
        state = game.initial_state()
        for _ in range(amount):
            moves = game.legal_moves(state)
            if not moves:
                state = game.initial_state()
                moves = game.legal_moves(state)
            state = game.apply(state, dice.choice(moves))
        return Done({"turns": amount}, time.perf_counter() - begin)

    return Work(game.id, "json", 1, ("turns",), 8, run)


def search_work(game: Game, network: bool = False) -> Work:
    """Positions visited by alpha-beta with an empty table, from one early position; ``network``: with the game's."""
    dice = random.Random(0)
    state = game.initial_state()
    for _ in range(OPENING):
        state = game.apply(state, dice.choice(game.legal_moves(state)))
    states = game.encode_array(state)
    searcher = Searcher(game, weights=network_weights(game) if network else None)

    def run(amount: int) -> Done:
        searcher.clear()
        begin = time.perf_counter()
        for _ in searcher.search(states, nodes=amount):
            pass
        return Done({"nodes": searcher.nodes}, time.perf_counter() - begin)

    return Work(game.id, "alphabeta, network" if network else "alphabeta", 1, ("nodes",), 20_000, run)


def compile_perft(game: Game, state: Any) -> None:
    """Compile the perft kernel, so that what follows can be timed."""
    root = game.encode_array(state)
    stack = new_states(game.dtype, 2)
    firsts = game.buffer()
    if game.kernels.legal(root, firsts):
        stack[0] = root[0]
        game.kernels.play(stack, int(firsts[0]))
    stack[0] = root[0]
    # The kernel returns at once when one more action reaches the target.
    target = game.kernels.turns(root) + (1 if game.actions_a_turn == 1 else 0)
    buffers = np.empty((2, game.max_legal), np.int16)
    game.kernels.perft(stack, as_words(stack), buffers, np.empty((2, 2), np.int64), target, np.empty(0, np.int64))
