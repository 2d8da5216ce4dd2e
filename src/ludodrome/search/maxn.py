"""Max-n: search for three or more seats, each of which maximises its own result.

A position has one value for each seat, and the seat to move takes the move with the highest value for itself. Only won
positions can be cut off, so max-n looks less far ahead than alpha-beta, in which all others play together against one
seat; but it does not expect moves that harm the seat that makes them.

Moves are ordered by the value of the position after them for the seat that moves. A *width* is how many of them, the
best first, are searched: all, or few for a seat whose moves are known well enough. At the last ply it is one, so that a
position's value for the other seats is computed once, not after every move.

It is generic: a game gives its ``Rules`` and its ``Evaluator``. Both the kernel and its Python side are here; deadlines
are in ``iterative.py``.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ludodrome.game import Game
from ludodrome.game_spec import Evaluator, Rules
from ludodrome.jit import Array, Int, Record, as_words, borrow, copy_state, kernel_of
from ludodrome.search.frames import DECIDED, WIN
from ludodrome.search.iterative import FINISHED, Deadline, SearchResult

PLIES = 24
"""The most plies that it looks ahead, forced replies and all."""

NODES, PLY, DEPTH, BEST, SEATS = range(5)
"""The numbers of a run: positions visited, the current ply (-1: done), the depth, the best action, the seats."""


class MaxNBuffers(NamedTuple):
    """What a search is about to do."""

    run: Array
    """int64 (5,)"""
    moves: Array
    """int16 (PLIES + 1, max_legal)"""
    counts: Array
    """int64 (PLIES + 1, 2): how many moves there are at a ply, and how many of them are done."""
    found: Array
    """int64 (PLIES + 1, seats): the best so far of a ply's position, by seat."""
    worth: Array
    """int64 (PLIES + 2, seats): what the position last left at a ply is worth, by seat."""
    scores: Array
    """int64 (max_legal,): for the order of moves."""
    widths: Array
    """int64 (seats,): how many moves of a seat are searched."""


def make_maxn(rules: Rules, evaluator: Evaluator) -> Callable[..., Any]:
    """The search kernel of one game."""
    legal, play, mover, winner = rules.legal, rules.play, rules.mover, rules.winner
    value, winning, in_check, evasions = evaluator.value, evaluator.winning, evaluator.in_check, evaluator.evasions
    gain, by_points = evaluator.gain, evaluator.by_points

    @kernel_of(legal)
    def award(worth: Array, ply: Int, seats: Int, won: Int, plies: Int) -> None:
        """Value a game that a seat has won after ``plies`` plies; -1: a draw."""
        for seat in range(seats):
            worth[ply, seat] = 0 if won < 0 else WIN - plies if seat == won else plies - WIN

    @kernel_of(legal)
    def one_ply_value(before: Record, after: Record, seat: Int) -> Int:
        """What a seat's move is worth to it at first sight."""
        following = mover(after)
        if by_points:
            return gain(before, after) + (0 if following < 0 else value(after, seat))
        if following < 0:
            won = winner(after)
            return 0 if won < 0 else WIN if won == seat else -WIN
        return 1 - WIN if winning(after) >= 0 else value(after, seat)

    @kernel_of(legal)
    def arrange(states: Any, words: Array, memory: Any, ply: Int, count: Int, width: Int) -> Int:
        """Keep the best ``width`` moves by their one-ply values, the best first; return how many."""
        moves, scores = memory.moves, memory.scores
        seat = mover(states[ply])
        kept = np.int64(0)
        for i in range(count):
            action = moves[ply, i]
            copy_state(words, ply + 1, words, ply)
            play(states[ply + 1], np.int64(action))
            score = one_ply_value(states[ply], states[ply + 1], seat)
            if kept == width:
                if scores[kept - 1] >= score:
                    continue
                kept -= 1
            at = kept
            while at > 0 and scores[at - 1] < score:
                scores[at] = scores[at - 1]
                moves[ply, at] = moves[ply, at - 1]
                at -= 1
            scores[at] = score
            moves[ply, at] = action
            kept += 1
        memory.run[NODES] += count
        return kept

    @kernel_of(legal)
    def enter(states: Any, words: Array, memory: Any, ply: Int) -> Any:
        """Judge a position at once: True, and ``worth`` has it. Or else list its moves: False."""
        s = states[ply]
        run, worth = memory.run, memory.worth
        run[NODES] += 1
        seat = mover(s)
        if seat < 0:
            award(worth, ply, run[SEATS], -1 if by_points else winner(s), ply)
            return True
        if winning(s) >= 0:
            award(worth, ply, run[SEATS], seat, ply + 1)
            return True
        threatened = in_check(s)
        if ply >= PLIES or (ply >= run[DEPTH] and not threatened):
            for one in range(run[SEATS]):
                worth[ply, one] = value(s, one)
            return True
        count = legal(s, memory.moves[ply])
        if threatened:
            count = evasions(s, memory.moves[ply], count)
            if count == 0:
                award(worth, ply, run[SEATS], (seat + 1) % run[SEATS], ply + 2)
                return True
        width = 1 if ply + 1 >= run[DEPTH] else memory.widths[seat]
        count = arrange(states, words, memory, ply, count, width)
        memory.counts[ply, 0], memory.counts[ply, 1] = count, 0
        memory.found[ply, :] = -WIN - 1
        return False

    @kernel_of(legal)
    def add_gain(memory: Any, ply: Int, own: Int, points: Int) -> None:
        """Count the points that the mover of a ply won with its move; the others share the loss."""
        seats = memory.run[SEATS]
        for seat in range(seats):
            memory.worth[ply + 1, seat] += points if seat == own else -points // (seats - 1)

    @kernel_of(legal)
    def retreat(states: Any, memory: Any, ply: Int) -> None:
        """The move in hand leads to worth[ply + 1]: it is the best so far, or not."""
        own = mover(states[ply])
        if by_points:
            add_gain(memory, ply, own, gain(states[ply], states[ply + 1]))
        if memory.worth[ply + 1, own] > memory.found[ply, own]:
            for seat in range(memory.run[SEATS]):
                memory.found[ply, seat] = memory.worth[ply + 1, seat]
            if ply == 0:
                memory.run[BEST] = memory.moves[0, memory.counts[0, 1]]
        memory.counts[ply, 1] += 1
        if memory.found[ply, own] > DECIDED and ply > 0:
            memory.counts[ply, 1] = memory.counts[ply, 0]

    @kernel_of(legal)
    def maxn(states: Any, words: Array, memory: Any, limit: Int) -> Any:
        """Search until ``limit`` nodes have been visited in total; return whether it is done.

        states: (PLIES + 2,) records, words: the same memory. The root's moves are listed before.
        """
        states, words = borrow(states), borrow(words)
        run, counts = memory.run, memory.counts
        while run[PLY] >= 0 and run[NODES] < limit:
            ply = run[PLY]
            if counts[ply, 1] < counts[ply, 0]:
                copy_state(words, ply + 1, words, ply)
                play(states[ply + 1], np.int64(memory.moves[ply, counts[ply, 1]]))
                if enter(states, words, memory, ply + 1):
                    retreat(states, memory, ply)
                else:
                    run[PLY] += 1
            else:
                for seat in range(run[SEATS]):
                    memory.worth[ply, seat] = memory.found[ply, seat]
                run[PLY] -= 1
                if ply > 0:
                    retreat(states, memory, ply - 1)
        return run[PLY] < 0

    return maxn


class MaxN:
    """A searcher for games of three seats and more."""

    def __init__(self, game: Game) -> None:
        if game.evaluator is None:
            raise ValueError(f"max-n needs an evaluator, and {game.id} has none")
        if game.seats < 3:
            raise ValueError(f"max-n is for three seats or more, and this game of {game.id} has {game.seats}")
        self.game = game
        self._states = game.new_states(PLIES + 2)
        self._memory = MaxNBuffers(
            np.zeros(5, np.int64),
            np.zeros((PLIES + 1, game.max_legal), np.int16),
            np.zeros((PLIES + 1, 2), np.int64),
            np.zeros((PLIES + 1, game.seats), np.int64),
            np.zeros((PLIES + 2, game.seats), np.int64),
            np.zeros(game.max_legal, np.int64),
            np.zeros(game.seats, np.int64),
        )

    @property
    def _kernels(self) -> Any:
        return self.game.kernels

    @property
    def nodes(self) -> int:
        """How many positions the present search has visited."""
        return int(self._memory.run[NODES])

    def step(self, limit: int) -> bool:
        """Search until ``limit`` nodes have been visited in total; return whether it is done."""
        return bool(self._kernels.maxn(self._states, as_words(self._states), self._memory, limit))

    def search(
        self,
        states: Any,
        depth: int | None = None,
        nodes: int | None = None,
        time: float | None = None,
        widths: Sequence[int] | None = None,
    ) -> Iterator[SearchResult]:
        """Search states[0], a running game, and yield a result after each depth; the last is the best.

        ``widths``: by seat how many moves are searched after the first one (default: all). ``nodes`` can be exceeded by
        the moves of one position. A result is proven only if its action wins at once: the other seats' moves are not
        certain.
        """
        deadline = Deadline(self, nodes, time)
        memory, seat = self._memory, int(self.game.kernels.mover(states))
        memory.run[NODES], memory.run[SEATS] = 0, self.game.seats
        memory.widths[:] = widths or self.game.max_legal
        actions = self._listed(states)
        result = None
        for level in range(1, min(depth or PLIES, PLIES) + 1):
            self._states[0] = states[0]
            memory.moves[0, : len(actions)] = actions
            memory.counts[0] = len(actions), 0
            memory.found[0] = -WIN - 1
            memory.run[PLY], memory.run[DEPTH], memory.run[BEST] = 0, level, -1
            done = deadline.run() == FINISHED
            if (best := int(memory.run[BEST])) >= 0:
                score = int(memory.found[0, seat])
                result = SearchResult(best, score, level, self.nodes, deadline.seconds, score == WIN - 1, (best,))
                actions.remove(best)
                actions.insert(0, best)
                yield result
            forced = len(actions) == 1 and time is not None
            if not done or forced or (result and result.proven):
                break
        if result is None:  # not even one move was searched: take the first
            yield SearchResult(actions[0], 0, 0, self.nodes, deadline.seconds, False, (actions[0],))

    def _listed(self, states: Any) -> list[int]:
        """The legal actions of the root: what wins at once or looks good comes first."""
        buffer = self.game.buffer()
        legal: list[int] = buffer[: self._kernels.legal(states, buffer)].tolist()
        won = int(self._kernels.winning(states))
        return sorted(legal, key=lambda action: (action != won, -int(self._kernels.move_score(states, action))))
