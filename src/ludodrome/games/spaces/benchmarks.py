"""The benchmarks of spaces beside those of every game: rounds a second."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from ludodrome.bench import THREADS, Done, Work
from ludodrome.games import make
from ludodrome.games.spaces.simulation import Packed, simulate_matrix

SIZE, MATCHES = 3, 5
"""Grid size of the boards, and the matches that they come from."""


def works() -> Iterator[Work]:
    """Rounds under both rule sets, on one thread and on two."""
    for rules, what in (("written", "simulate"), ("live", "simulate live")):
        for threads in THREADS:
            yield simulate_work(rules, what, threads)


def simulate_work(rules: str, what: str, threads: int) -> Work:
    """Rounds: all boards of one list against all of another, packed beforehand."""
    first, second = (Packed(boards, SIZE, rules) for boards in random_boards(rules))

    def once(_: int) -> None:
        simulate_matrix(first, second, SIZE, rules)

    def run(amount: int) -> Done:
        with ThreadPoolExecutor(threads) as pool:
            begin = time.perf_counter()
            for _ in pool.map(once, range(amount)):
                pass
            return Done({"rounds": amount * len(first) * len(second)}, time.perf_counter() - begin)

    return Work("spaces", what, threads, ("rounds",), threads, run)


def random_boards(rules: str) -> tuple[list[Any], list[Any]]:
    """The boards of two random players in MATCHES games of a hundred rounds."""
    game = make("spaces", size=SIZE, rules=rules, rounds=100)
    lists: tuple[list[Any], list[Any]] = ([], [])
    for number in range(MATCHES):
        states, wins = game.blank(), np.zeros(game.seats + 1, np.int64)
        game.kernels.playouts(states, game.buffer(), np.uint64(0), number, 1, wins)
        for played in game.decode(states[0])["history"]:
            for boards, board in zip(lists, played["boards"], strict=True):
                boards.append(board)
    return lists
