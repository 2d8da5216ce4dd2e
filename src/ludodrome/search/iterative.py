"""Iterative deepening: run alpha-beta at increasing depths until the budget is spent or the value is proven.

With several threads (lazy SMP), helpers search the same position with stacks of their own; all share one transposition
table, which needs no lock. They run only while the search itself does.
"""

import threading
import time as clock
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from ludodrome.game import Game, checked_count
from ludodrome.jit import Array, Int, Record, as_words, kernel, new_states, python
from ludodrome.search.frames import (
    ADVANCE,
    AS_GIVEN,
    DECIDED,
    MAX_DEPTH,
    NO_STATIC,
    PLIES,
    WHOLE,
    WIN,
    frame_dtype,
    search_dtype,
)
from ludodrome.search.network import NetworkWeights, new_memory, no_memory
from ludodrome.search.symmetry import INVERSE, SYMMETRIES
from ludodrome.search.transposition_table import GENERATIONS, NO_MOVE_ID, UPPER, TableEntry, lookup, new_table

TABLE_BITS = 20
MAX_THREADS = 64
_FIRST_SHARED_DEPTH = 4
"""Helpers are not woken for lower depths: those take less time than waking them."""
_SLICE_SECONDS = 0.001
_FIRST_SLICE = 256
_LEAST_SLICE, _LEAST_UNTIMED_SLICE = 64, 1024
"""Nodes of a slice, at least: on a busy machine a slice takes long, however short it is."""
_MOVE_OVERHEAD = 0.0005
"""Seconds reserved for returning the result: a search stops this long before its time limit."""
_ASPIRATION_DELTA = 40
"""Half the width of the first aspiration window, in hundredths."""
_INFINITE = 2 * WIN

FINISHED, SPENT, PAUSED = range(3)
"""Results of ``Deadline.run``."""


# The root of a search. Python runs these as they are written (``jit.python``), opponents run them compiled.


@kernel
def begin_search(search: Record, root: Record, seats: Int, seat: Int, generation: Int, reductions: Int) -> None:
    """Begin a search for the seat to move; with more than two seats, it is the point-of-view seat."""
    pov_seat = 0 if seats == 2 else seat
    search.nodes = 0
    search.seats = seats
    search.pov_seat = pov_seat
    search.key = np.uint64(pov_seat)
    search.generation = generation
    search.reductions = reductions
    root.side = 0 if seat == pov_seat else 1
    root.accumulated = 1


@kernel
def set_root(search: Record, root: Record, count: Int, depth: Int, low: Int, high: Int) -> None:
    """Set the window, the depth and the number of moves of the next iteration."""
    root.alpha = low
    root.floor = low
    root.beta = high
    root.best = -2 * WIN - 1
    root.best_action = -1
    root.depth = depth
    root.count = count
    root.next = 0
    root.length = 0
    root.ordered = AS_GIVEN
    root.stage = WHOLE
    root.exact = 1
    root.reducible = search.reductions
    root.static = NO_STATIC
    search.ply = 0
    search.mode = ADVANCE


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The result of a search."""

    action: int
    score: int
    """For the seat to move: hundredths, or WIN minus the plies to a win (see ``alphabeta.py``)."""
    depth: int
    nodes: int
    seconds: float
    proven: bool
    """Whether the score is proven, rather than an evaluation."""
    line: tuple[int, ...]
    """The principal variation, beginning with ``action``."""

    @property
    def distance(self) -> int | None:
        """Plies to the end if the score is a win or a loss, else None."""
        return WIN - abs(self.score) if abs(self.score) > DECIDED else None


class SlicedSearch(Protocol):
    """A search that can be run in slices."""

    @property
    def nodes(self) -> int:
        """How many positions were visited."""

    def step(self, limit: int) -> bool:
        """Search until ``limit`` positions have been visited in total; return whether it is done."""


class Searcher:
    """Iterative deepening for one game. It keeps its transposition table and history between searches.

    With one thread, the same searches with the same nodes give the same results; with more they may not.
    """

    def __init__(
        self,
        game: Game,
        table_bits: int = TABLE_BITS,
        reductions: bool = True,
        shortest: bool = False,
        threads: int = 1,
        table: Array | None = None,
        weights: NetworkWeights | None = None,
    ) -> None:
        """``table_bits``: log2 of the entries of the transposition table.

        ``reductions``: whether late moves are searched less deeply; ``shortest``: whether a win must be the
        shortest within the depth, not just a win. ``threads``: how many threads search; their nodes are added up, and
        a limit of nodes is kept but for a few thousand. ``table``: a transposition table to share. ``weights``: those
        of the game's network, which then judges positions; without them the evaluator does.
        """
        if game.evaluator is None:
            raise ValueError(f"alpha-beta needs an evaluator, and {game.id} has none")
        self.game = game
        self.reductions, self.shortest = reductions, shortest
        self._generation = 0
        self._states = game.new_states(PLIES + 1)
        self._keys = np.zeros((PLIES + 1, SYMMETRIES), np.uint64)
        self._moves = np.zeros((PLIES, game.max_legal), np.int16)
        self._frames = new_states(frame_dtype(game.max_legal), PLIES + 1)
        self._searches = new_states(search_dtype(game.evaluator.num_move_ids), 1)
        self._table = new_table(table_bits) if table is None else table
        self._net = no_memory()
        self.has_network = weights is not None
        if weights is not None:
            if game.network is None:
                raise ValueError(f"this game of {game.id} has no network for these weights")
            self._net = new_memory(game.network, weights, PLIES + 1)
        threads = checked_count(threads, "the number of threads", low=1, high=MAX_THREADS)
        self._helpers = [
            Searcher(game, 0, reductions, shortest, table=self._table, weights=weights) for _ in range(threads - 1)
        ]
        self._helping: list[Iterator[SearchResult]] = []
        """The searches of the helpers, each to be resumed by one thread at a time."""
        self._bind()
        self.clear()

    def _bind(self) -> None:
        """Set what refers to other parts: the kernels, and views of arrays."""
        self._kernels = self.game.kernels
        self._root = self._frames[0]
        self._search = self._searches[0]

    def __getstate__(self) -> dict[str, Any]:
        """Everything that a search remembers; one that is in progress goes on only in the original."""
        return {**vars(self), "_kernels": None, "_root": None, "_search": None, "_helping": []}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._bind()

    def clear(self) -> None:
        """Clear the table and the history, so that the next search does not depend on earlier ones."""
        self._table[:] = 0
        self._generation = 0
        for searcher in (self, *self._helpers):
            searcher._searches["history"] = 0

    def reset_nodes(self) -> None:
        """Reset the node counter."""
        for searcher in (self, *self._helpers):
            searcher._search.nodes = 0

    def warm_up(self) -> None:
        """Compile or load the kernels of a search before a clock runs."""
        states = self.game.blank()
        self.game.kernels.reset(states, np.uint64(0))
        for result in self.search(states, depth=1, nodes=1):
            self._kernels.move_id(states, result.action)  # otherwise called only on a table hit
        self.reset_nodes()

    @property
    def nodes(self) -> int:
        """How many positions the present search has visited, on all threads."""
        return sum((helper.nodes for helper in self._helpers), int(self._search.nodes))

    def search(
        self,
        states: Any,
        depth: int | None = None,
        nodes: int | None = None,
        time: float | None = None,
        avoid: Sequence[int] = (),
        first: int = 1,
        pulse: float | None = None,
    ) -> Iterator[SearchResult]:
        """Search states[0], a running game, and yield a result after each depth.

        The last result is the best. The search ends when the value is proven, the budget is spent, or at MAX_DEPTH.
        ``avoid``: actions that are not considered; ``first``: the first depth; ``pulse``: yield the last result again
        about every ``pulse`` seconds, with the nodes visited so far; the caller can pause the search there.
        """
        self.reset_nodes()
        deadline = Deadline(self, nodes, time, pulse)
        actions = self._begin(states, avoid)
        if not actions:
            return
        self._share(depth, avoid)
        result = self._win_from_table(actions, deadline)
        if result:
            yield result
            return
        for level in range(first, min(depth or MAX_DEPTH, MAX_DEPTH) + 1):
            done = yield from self._deepen(actions, level, result, deadline)
            if self._root.best_action >= 0 and (done or self._root.best > self._root.floor):
                result = self._result(level, done, deadline)
                actions.remove(result.action)
                actions.insert(0, result.action)
                yield result
            forced = len(actions) == 1 and not avoid and time is not None  # searching on would only cost time
            if not done or forced or (result and result.proven):
                break
        if result is None:  # not even one move was searched: take the first
            yield SearchResult(actions[0], 0, 0, self.nodes, deadline.seconds, False, (actions[0],))

    def _begin(self, states: Any, avoid: Sequence[int]) -> list[int]:
        """Set up the root; return its actions, best move scores first."""
        game, search = self.game, self._search
        self._states[0] = states[0]
        pair = game.new_states(2)
        pair[1] = states[0]
        self._keys[0] = 0
        self._kernels.update_hash(pair, self._keys)
        self._keys[0] = self._keys[1]
        if self.has_network:
            self._kernels.refresh(states, self._net)
        seat = int(game.kernels.mover(states))
        self._generation = (self._generation + 1) % GENERATIONS
        python(begin_search)(search, self._root, game.seats, seat, self._generation, self.reductions)
        search.shortest = self.shortest
        self._frames["killers"] = NO_MOVE_ID
        self._searches["history"] //= 8  # age the history
        buffer = game.buffer()
        legal: list[int] = buffer[: game.kernels.legal(states, buffer)].tolist()
        kept = [action for action in legal if action not in avoid]
        return sorted(kept, key=lambda action: -int(self._kernels.move_score(states, action)))

    def _win_from_table(self, actions: list[int], deadline: "Deadline") -> SearchResult | None:
        """Return a proven win that is still in the table, if there is one.

        A new search with few nodes could miss it.
        """
        found = self._probe(self._keys[0])
        if self.shortest or found is None or not found[0].exact or found[0].bound == UPPER:
            return None
        entry, move_id = found
        state = self._states[:1]
        action = next((action for action in actions if self._kernels.move_id(state, action) == move_id), None)
        if entry.value <= DECIDED or action is None:
            return None
        line = self._extend_pv([action], WIN - entry.value)
        return SearchResult(action, entry.value, 1, self.nodes, deadline.seconds, True, line)

    def _probe(self, keys: Any) -> tuple[TableEntry, int] | None:
        """Probe the table with a position's eight keys; return the entry, and its move id on this board."""
        evaluator = self.game.evaluator
        assert evaluator is not None
        lane = int(np.argmin(keys))
        entry = lookup(self._table, int(keys[lane] ^ self._search.key))
        if entry is None or entry.move_id == NO_MOVE_ID:
            return None
        return entry, int(evaluator.move_id_symmetries[INVERSE[lane], entry.move_id])

    def _deepen(
        self, actions: list[int], level: int, result: SearchResult | None, deadline: "Deadline"
    ) -> Generator[SearchResult, None, bool]:
        """Search one depth with an aspiration window that widens on failure; return whether it was finished."""
        score = result.score if result else 0
        span = _ASPIRATION_DELTA
        low, high = -_INFINITE, _INFINITE
        if level > 3 and abs(score) < DECIDED:
            low, high = score - span, score + span
        while True:
            self._set_root(actions, level, low, high)
            while (outcome := self._run(deadline, level)) == PAUSED:
                so_far = result or SearchResult(actions[0], 0, 0, 0, 0, False, (actions[0],))
                yield replace(so_far, nodes=self.nodes, seconds=deadline.seconds)
            if outcome == SPENT:
                return False
            best = int(self._root.best)
            if low < best < high:
                return True
            span *= 4
            if best <= low:
                low = best - span if best > -DECIDED else -_INFINITE
            else:
                high = best + span if best < DECIDED else _INFINITE

    def _set_root(self, actions: list[int], level: int, low: int, high: int) -> None:
        self._moves[0, : len(actions)] = actions
        python(set_root)(self._search, self._root, len(actions), level, low, high)

    def _share(self, depth: int | None, avoid: Sequence[int]) -> None:
        """Set the helpers on the position of the search, each second one a ply ahead of the others."""
        self._helping = []
        for number, helper in enumerate(self._helpers):
            helper._generation = self._generation - 1  # it begins with the next one
            first = _FIRST_SHARED_DEPTH + (number + 1) % 2
            self._helping.append(helper.search(self._states[:1].copy(), depth, avoid=avoid, first=first, pulse=0.0))

    def _run(self, deadline: "Deadline", level: int) -> int:
        """Run the search at one depth, and the helpers just as long."""
        if not self._helping or level < _FIRST_SHARED_DEPTH:
            return deadline.run()
        stop = threading.Event()
        with ThreadPoolExecutor(len(self._helping), "search") as pool:
            helpers = [pool.submit(_help, searching, deadline, stop) for searching in self._helping]
            try:
                outcome = deadline.run()
            finally:
                stop.set()
        for helper in helpers:
            helper.result()
        return outcome

    def step(self, limit: int) -> bool:
        """Search until ``limit`` nodes have been visited in total; return whether it is done."""
        own = limit - sum(helper.nodes for helper in self._helpers)
        memory = (as_words(self._states), self._keys, self._moves, self._frames, self._searches, self._table, self._net)
        search = self._kernels.alphabeta_net if self.has_network else self._kernels.alphabeta
        return bool(search(self._states, *memory, own))

    def _result(self, level: int, done: bool, deadline: "Deadline") -> SearchResult:
        root = self._root
        score = int(root.best)
        line = self._extend_pv(root.line[: int(root.length)].tolist(), level)
        # One winning move proves a win. A loss needs all moves, and two seats: three need not play together.
        complete = done and self.game.seats == 2
        proven = score > DECIDED or (complete and (score < -DECIDED or bool(self._search.exact)))
        return SearchResult(int(root.best_action), score, level, self.nodes, deadline.seconds, proven, line)

    def _extend_pv(self, line: list[int], depth: int) -> tuple[int, ...]:
        """Extend a principal variation that a table hit cut short by the table's best moves."""
        game = self.game
        follow = game.new_states(2)
        follow[1] = self._states[0]
        state = follow[1:]
        for action in line:
            game.kernels.play(state, action)
        keys = np.zeros((2, SYMMETRIES), np.uint64)
        buffer = game.buffer()
        while len(line) < depth and game.kernels.mover(state) >= 0:
            self._kernels.update_hash(follow, keys)
            found = self._probe(keys[1])
            if found is None:
                break
            wanted = found[1]
            legal = buffer[: game.kernels.legal(state, buffer)].tolist()
            fitting = [action for action in legal if self._kernels.move_id(state, action) == wanted]
            if not fitting:
                break
            game.kernels.play(state, fitting[0])
            line.append(fitting[0])
        return tuple(line)


def _help(searching: Iterator[SearchResult], deadline: "Deadline", stop: threading.Event) -> None:
    """Resume a search until ``stop`` is set or all nodes are spent; it pauses after each slice."""
    for _ in searching:
        if stop.is_set() or deadline.nodes_spent:
            return


class Deadline:
    """Runs a search in slices, and stops it when its budget is spent."""

    def __init__(
        self, search: SlicedSearch, nodes: int | None, seconds: float | None, pulse: float | None = None
    ) -> None:
        self._begin = clock.perf_counter()
        self._pulse = pulse
        self._search = search
        self._most_nodes = nodes
        self._most_seconds = None if seconds is None else seconds - _MOVE_OVERHEAD
        self._slice = _FIRST_SLICE

    @property
    def nodes_spent(self) -> bool:
        """Whether as many nodes as allowed have been visited."""
        return self._most_nodes is not None and self._search.nodes >= self._most_nodes

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return clock.perf_counter() - self._begin

    def run(self) -> int:
        """Run the search until it is FINISHED, its budget is SPENT, or it has PAUSED after ``pulse`` seconds."""
        search = self._search
        begin = then = self.seconds
        while self._most_seconds is None or then < self._most_seconds:
            before = search.nodes
            limit = before + self._slice
            if self.nodes_spent:
                return SPENT
            if self._most_nodes is not None:
                limit = min(limit, self._most_nodes)
            if search.step(limit):
                return FINISHED
            now = self.seconds
            self._pace(limit - before, now - then, now)
            then = now
            if self._pulse is not None and now - begin > self._pulse:
                return PAUSED
        return SPENT

    def _pace(self, nodes: int, seconds: float, now: float) -> None:
        """Set the next slice to about a millisecond, or less if less time is left."""
        left, least = _SLICE_SECONDS, _LEAST_UNTIMED_SLICE
        if self._most_seconds is not None:
            left, least = min(left, max(self._most_seconds - now, 0.0)), _LEAST_SLICE
        self._slice = max(least, min(2 * self._slice, int(nodes * left / max(seconds, 1e-6))))
