"""Monte-Carlo tree search from Python: one searcher for each seat, for one position after another.

The compiled search is in ``mcts.py``. A searcher keeps its tree between two searches, and reuses
the part below the next position. With a budget of simulations the answer depends on the
game, the seed and the positions asked alone; with a budget of time it comes in time.
"""

import threading
import time as clock
from dataclasses import dataclass
from typing import Any

import numpy as np

from ludodrome.game import Game, checked_count, checked_seed, returns_of
from ludodrome.jit import Array, as_words, new_states
from ludodrome.search.mcts import MAX_SIMULATIONS, SCALE, TreeBuffers
from ludodrome.search.tree import (
    ACTION,
    BLOCK,
    BLOCKS,
    COUNT,
    ENDS,
    FIRST,
    NONE,
    SEAT,
    TOTAL,
    VISITS,
    Tree,
    new_tree,
)
from ludodrome.validation import show

NODES = 2_000_000
"""Default size of a tree: about 60 megabytes."""
MIN_NODES, MAX_NODES = 1 << 10, 1 << 28
NODES_A_BLOCK = 8
"""Nodes for each block: few positions have fewer moves."""
MAX_THREADS = 64
MAX_SECONDS = 10**6

# Chosen by matches at equal numbers of simulations; little changes around these values.
EXPLORATION = 0.6
FIRST_PLAY_URGENCY = 0.8
"""A move that has not been tried is tried when no other scores more than this."""
PATIENCE = 4
"""Visits after which a node is expanded."""

SLICE = 0.001
"""Seconds of search between two looks at the clock."""
RESERVE, RESERVED_SHARE = 0.003, 0.1
"""Seconds, or share of a short time, that a search stops early: other processes may interfere."""
FIRST_SLICE = 8
"""Simulations until the speed is known."""


@dataclass(frozen=True, slots=True)
class MoveStats:
    """What a search knows of one move."""

    action: int
    visits: int
    value: float
    """The mean return of the seat to move; exact if it is proven. 0 if nothing is known."""
    proven: bool


@dataclass(frozen=True, slots=True)
class TreeSearchResult:
    """What a search has found."""

    best: int
    """The action to play."""
    choices: tuple[MoveStats, ...]
    """All legal moves, by action."""
    line: tuple[int, ...]
    """The best action and what is likely to follow."""
    value: float
    """What the best action is worth to the seat to move."""
    proven: bool
    """Whether the position's value is certain."""
    simulations: int
    """Those of this search."""
    reused: int
    """Visits that were there before it."""
    seconds: float


def field_bits(dtype: np.dtype[Any]) -> Array:
    """The bits of a record's words that belong to fields; the others may be anything, and do not count."""
    memory = np.zeros(dtype.itemsize, np.uint8)
    parts: Any = dtype.fields
    for field, offset in (parts[name][:2] for name in dtype.names or ()):
        memory[offset : offset + field.itemsize] = 0xFF
    return memory.view(np.uint64)


class TreeWorker:
    """One tree, and the arrays that its kernels work in."""

    def __init__(self, game: Game, seed: Any, nodes: int) -> None:
        self.game = game
        self.seats = game.seats
        self.seed = seed
        self.tree: Tree = new_tree(nodes, nodes // NODES_A_BLOCK)
        self.states = new_states(game.dtype, 2)
        self.settings = np.array(
            [game.seats, round(EXPLORATION * SCALE), round(FIRST_PLAY_URGENCY * SCALE), PATIENCE], np.int64
        )
        self.fields = field_bits(game.dtype)
        self._bind(as_words(new_states(game.dtype, 1)))
        self.clear()

    def _bind(self, root: Array) -> None:
        """Set the kernels, and the buffers: one of them is a view of ``states``."""
        game = self.game
        self.kernels = game.kernels
        path = np.zeros((3, game.max_game_length + 1), np.int32)
        self.work = TreeBuffers(root, as_words(self.states), game.buffer(), path)

    def __getstate__(self) -> dict[str, Any]:
        """The tree and its root; the other buffers hold nothing between two calls."""
        return {**vars(self), "kernels": None, "states": None, "work": self.work.root}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.states = new_states(self.game.dtype, 2)
        self._bind(state["work"])

    def clear(self) -> None:
        """Drop the tree; ``turn_to`` begins a new one."""
        self.tree.used[BLOCKS] = 0

    def turn_to(self, states: Any) -> None:
        """Make a position the root."""
        self.kernels.reroot(self.tree, self.work, self.states, self.settings, as_words(states) & self.fields)

    def simulate(self, simulations: int) -> int:
        """Run simulations, fewer if the result becomes certain; return their number."""
        return int(self.kernels.simulate(self.tree, self.work, self.states, self.settings, self.seed, simulations))

    def simulate_until(self, deadline: float, stop: threading.Event) -> int:
        """Run simulations in slices until the deadline or a proved result; return their number."""
        done, simulations = 0, FIRST_SLICE
        begin = clock.perf_counter()
        while not stop.is_set():
            count = self.simulate(simulations)
            done += count
            if count < simulations:
                stop.set()
            now = clock.perf_counter()
            if now >= deadline:
                break
            speed = count / max(now - begin, 1e-9)
            simulations = max(1, min(8 * simulations, int(speed * min(SLICE, deadline - now))))
            begin = now
        return done


class TreeSearch:
    """A Monte-Carlo tree search that is asked for one position of a game after another.

    With a budget of time, ``threads`` trees are searched in parallel and their visits added up; a budget of
    simulations is spent on one tree. A tree has at most ``nodes`` nodes: when it is full, the search goes on
    without expanding it.
    """

    def __init__(self, game: Game, seed: int = 0, threads: int = 1, nodes: int = NODES) -> None:
        threads = checked_count(threads, "the number of threads", low=1, high=MAX_THREADS)
        nodes = checked_count(nodes, "the number of a tree's nodes", low=MIN_NODES, high=MAX_NODES)
        self.game = game
        word = int(checked_seed(seed))
        self.workers = [TreeWorker(game, checked_seed(word + (number << 32)), nodes) for number in range(threads)]
        self._compile()

    def _compile(self) -> None:
        """Compile or load the kernels before a clock runs."""
        worker = TreeWorker(self.game, np.uint64(0), MIN_NODES)
        states = self.game.blank()
        self.game.kernels.reset(states, np.uint64(0))
        self.game.kernels.mover(states)
        worker.turn_to(states)
        worker.simulate(1)

    def clear(self) -> None:
        """Drop the trees: the next search starts from nothing."""
        for worker in self.workers:
            worker.clear()

    def search(self, states: Any, sims: int | None = None, time: float | None = None) -> TreeSearchResult:
        """Search a position, an array of one record, for ``sims`` simulations or ``time`` seconds.

        It ends sooner when the value of the position is certain.
        """
        begin = clock.perf_counter()
        if (sims is None) == (time is None):
            raise ValueError("a search needs a budget: sims, a number of simulations, or time, in seconds")
        if states.dtype != self.game.dtype or states.shape != (1,):
            raise ValueError(f"a search of {self.game.id} takes an array of one record of its dtype")
        if self.game.kernels.mover(states) < 0:
            raise ValueError("the game is over: there is nothing to search")
        if time is None:
            sims = checked_count(sims, "sims", low=1, high=MAX_SIMULATIONS)
            workers = self.workers[:1]
        else:
            if isinstance(time, bool) or not isinstance(time, int | float) or not 0 <= time <= MAX_SECONDS:
                raise ValueError(f"time is a number of seconds from 0 to {MAX_SECONDS}, not {show(time)}")
            workers = self.workers
        for worker in workers:
            worker.turn_to(states)
        reused = sum(int(worker.tree.nodes[VISITS, 0]) for worker in workers)
        done = (
            workers[0].simulate(sims) if sims is not None else _simulate_together(workers, begin + _usable(time or 0))
        )
        return _found(workers, done, reused, begin)


def _usable(seconds: float) -> float:
    """How much of a time may be searched."""
    return seconds - min(RESERVE, RESERVED_SHARE * seconds)


def _simulate_together(workers: list[TreeWorker], deadline: float) -> int:
    """Every tree on a thread of its own, the first on this one; how many simulations in all."""
    stop = threading.Event()
    counts = [0] * len(workers)

    def run(number: int) -> None:
        counts[number] = workers[number].simulate_until(deadline, stop)

    others = [threading.Thread(target=run, args=(number,), daemon=True) for number in range(1, len(workers))]
    for thread in others:
        thread.start()
    try:
        run(0)
    finally:
        stop.set()
        for thread in others:
            thread.join()
    return sum(counts)


class _Children:
    """The children of a node in one or more trees, by action: their visits and totals added up, their ends joined."""

    def __init__(self, trees: list[Tree], blocks: list[int], seats: int) -> None:
        parts = []
        for tree, block in zip(trees, blocks, strict=True):
            nodes = slice(tree.blocks[FIRST, block], tree.blocks[FIRST, block] + tree.blocks[COUNT, block])
            order = np.argsort(tree.nodes[ACTION, nodes])
            parts.append([tree.nodes[row, nodes][order] for row in (ACTION, VISITS, TOTAL, ENDS)])
        self.seat = int(trees[0].blocks[SEAT, blocks[0]])
        self.actions: Array = parts[0][0]
        self.visits: Array = sum(part[1].astype(np.int64) for part in parts)  # type: ignore[assignment]
        self.totals: Array = sum(part[2].astype(np.int64) for part in parts)  # type: ignore[assignment]
        ends = np.bitwise_and.reduce([part[3] for part in parts])
        self.known: Array = ends != (2 << seats) - 1
        self.won: Array = ends == 1 << self.seat
        self.drawn: Array = ends == 1 << seats
        win, *_, loss = sorted(returns_of(self.seat, seats), reverse=True)
        means = self.totals / np.maximum(self.visits, 1) / (seats - 1)
        self.values: Array = np.where(self.known, np.where(self.won, win, np.where(self.drawn, 0.0, loss)), means)

    @property
    def settled(self) -> bool:
        return bool(self.won.any() or self.known.all())

    def best(self) -> int:
        """The place of the move to play: a win that is certain, else the most visited one that is not lost.

        A certain draw is better than what has been losing.
        """
        lost = self.known & ~self.won & ~self.drawn
        candidates = self.won if self.won.any() else ~lost if not lost.all() else lost
        place = int(np.argmax(np.where(candidates, self.visits, -1)))
        if self.drawn.any() and self.values[place] < 0:
            place = int(np.argmax(np.where(self.drawn, self.visits, -1)))
        return place


def _found(workers: list[TreeWorker], done: int, reused: int, begin: float) -> TreeSearchResult:
    """The trees' common answer."""
    seats = workers[0].seats
    grown = [worker.tree for worker in workers if worker.tree.used[BLOCKS] > 0]
    children = _Children(grown, [int(tree.nodes[BLOCK, 0]) for tree in grown], seats)
    place = children.best()
    columns = (children.actions, children.visits, children.values, children.known)
    choices = tuple(MoveStats(*row) for row in zip(*(column.tolist() for column in columns), strict=True))
    best = choices[place]
    return TreeSearchResult(
        best=best.action,
        choices=choices,
        line=max((_line(tree, best.action, seats) for tree in grown), key=len),
        value=best.value,
        proven=children.settled,
        simulations=done,
        reused=reused,
        seconds=clock.perf_counter() - begin,
    )


def _line(tree: Tree, action: int, seats: int) -> tuple[int, ...]:
    """An action at the root, and the best ones after it as far as the tree goes."""
    line: list[int] = []
    block = 0
    while block != NONE:
        if line:
            children = _Children([tree], [block], seats)
            place = children.best()
            if not (children.visits[place] or children.known[place]):
                break
            action = int(children.actions[place])
        line.append(action)
        first, count = int(tree.blocks[FIRST, block]), int(tree.blocks[COUNT, block])
        node = first + int(np.flatnonzero(tree.nodes[ACTION, first : first + count] == action)[0])
        block = int(tree.nodes[BLOCK, node])
    return tuple(line)
