"""Random play to the end, through complete lists of legal moves."""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from ludodrome.game import Game, checked_count, checked_seed
from ludodrome.game_spec import Rules
from ludodrome.jit import GOLDEN, Array, below, kernel_of, mix, stream

CHUNK = 4096
"""Games a compiled call: between two calls there is time for Ctrl-C and for progress."""

MAX_GAMES = 10**15
MAX_THREADS = 1024

_FOLD = np.uint64(0x100000001B3)
_WORD = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class Playouts:
    """The results of n random games.

    >>> import ludodrome
    >>> result = ludodrome.playouts(ludodrome.make("dots", rows=2, cols=2), 1000, seed=1)
    >>> result.games == sum(result.wins) + result.draws, result.plies
    (True, 12000)
    """

    games: int
    wins: list[int]
    """Games won, by seat."""
    draws: int
    plies: int
    digest: str
    """A fingerprint of every action of every game: it depends on the game, the seed and n alone."""


def make_playouts(rules: Rules) -> Callable[..., Any]:
    """The playout kernel of one game."""
    reset, legal, play, winner = rules.reset, rules.legal, rules.play, rules.winner

    @kernel_of(legal)
    def playouts(states: Any, buffer: Array, seed: Any, first: int, count: int, wins: Array) -> Any:
        """Play games first .. first+count-1 of a seed in states[0].

        buffer: (max_legal,) int16; wins: (seats + 1,) int64, the last one counts draws.
        Return the number of plies and the sum of the games' fingerprints.
        """
        s = states[0]
        plies = 0
        digest = np.uint64(0)
        for game in range(first, first + count):
            random = stream(seed, game)
            reset(s, random)
            fingerprint = random
            choices = legal(s, buffer)
            while choices > 0:
                random += GOLDEN
                action = buffer[below(mix(random), choices)]
                play(s, action)
                fingerprint = (fingerprint ^ np.uint64(action)) * _FOLD
                plies += 1
                choices = legal(s, buffer)
            wins[winner(s)] += 1
            digest += mix(fingerprint)
        return plies, digest

    return playouts


def playouts(
    game: Game, n: int, seed: int = 0, threads: int = 1, progress: Callable[[int], None] | None = None
) -> Playouts:
    """Play n random games to the end.

    Game number i of a seed is always the same game, so the result does not depend on the
    threads. ``progress`` is called with the number of games just finished.

    >>> import ludodrome
    >>> game = ludodrome.make("dots", rows=2, cols=2)
    >>> ludodrome.playouts(game, 100, seed=1) == ludodrome.playouts(game, 100, seed=1, threads=2)
    True
    """
    n = checked_count(n, "the number of playouts", low=0, high=MAX_GAMES)
    threads = checked_count(threads, "the number of threads", low=1, high=MAX_THREADS)
    word = checked_seed(seed)

    def run(first: int) -> tuple[Array, int, int]:
        count = min(CHUNK, n - first)
        wins = np.zeros(game.seats + 1, np.int64)
        plies, digest = game.kernels.playouts(game.blank(), game.buffer(), word, first, count, wins)
        if progress:
            progress(count)
        return wins, int(plies), int(digest)

    total = np.zeros(game.seats + 1, np.int64)
    plies = digest = 0
    for part, more, fingerprint in _in_order(run, range(0, n, CHUNK), threads):
        total += part
        plies += more
        digest = (digest + fingerprint) & _WORD
    *wins, draws = total.tolist()
    return Playouts(n, wins, draws, plies, f"{digest:016x}")


def _in_order(run: Callable[[int], Any], firsts: range, threads: int) -> Iterator[Any]:
    """Yield the results of run(first) in order, with at most ``threads`` running and as many waiting."""
    if threads == 1:
        yield from map(run, firsts)
        return
    with ThreadPoolExecutor(threads) as pool:
        at_work: deque[Future[Any]] = deque()
        for first in firsts:
            at_work.append(pool.submit(run, first))
            if len(at_work) > 2 * threads:
                yield at_work.popleft().result()
        while at_work:
            yield at_work.popleft().result()
