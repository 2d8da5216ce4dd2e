"""Exhaustive search through the rules alone: what the puzzles claim, checked without evaluation, table or reductions.

Nothing here knows what the searches of the package know. ``Prover`` asks whether a seat can force a win within a number
of plies, whatever all others do; ``edge_values`` takes the undrawn edges of a dots position and works back
from the full board through all of their subsets. ``faults`` holds a puzzle against both.
"""

import functools
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

import ludodrome
from ludodrome.game_spec import Rules
from ludodrome.jit import Array, as_words, copy_state, kernel, new_states
from ludodrome.puzzle import MARGIN, RESPOND, SAVE, WIN, Puzzle

DEEPEST = 12
NO_LIMIT = 1 << 62


class TooLong(Exception):
    """A question that would take more positions than the prover may look at."""


def make_force(verbs: Rules) -> Callable[..., Any]:
    """The exhaustive search of one game."""
    legal, play, mover, winner = verbs.legal, verbs.play, verbs.mover, verbs.winner

    @kernel
    def at_once(states: Any, memory: Array, buffer: Array, count: int, level: int, attacker: int) -> Any:
        """Whether one of the actions wins at once."""
        for at in range(count):
            copy_state(memory, level + 1, memory, level)
            play(states[level + 1], buffer[at])
            if winner(states[level + 1]) == attacker:
                return True
        return False

    @kernel
    def prefer(buffer: Array, count: int, favourite: int) -> None:
        """What decided the last position at this level is tried first: it saves time and changes no answer."""
        for at in range(count):
            if buffer[at] == favourite:
                buffer[at] = buffer[0]
                buffer[0] = favourite

    @kernel
    def force(
        states: Any,
        memory: Array,
        buffers: Array,
        cursors: Array,
        favourites: Array,
        attacker: int,
        depth: int,
        limit: int,
    ) -> Any:
        """Whether a seat can force a win within ``depth`` plies of states[0], with any seat to move: 1 or 0.

        It is -1 if that is not known after listing the moves of ``limit`` positions.
        states: (levels,), a stack, and memory the same as words; buffers: (levels, max_legal) int16;
        cursors: (levels, 2) int64, next and end; favourites: (levels,) int64; there are more levels than plies.
        """
        favourites[:] = -1
        level, entering, won, nodes = 0, True, False, 0
        while level >= 0:
            state = states[level]
            choosing = mover(state) == attacker
            if entering and (mover(state) < 0 or level == depth):
                won = winner(state) == attacker
                level -= 1
                entering = False
                continue
            if entering:
                nodes += 1
                if nodes > limit:
                    return -1
                count = legal(state, buffers[level])
                won = choosing and at_once(states, memory, buffers[level], count, level, attacker)
                if won or (choosing and level == depth - 1):
                    level -= 1
                    entering = False
                    continue
                prefer(buffers[level], count, favourites[level])
                cursors[level, 0] = 0
                cursors[level, 1] = count
            elif won == choosing:  # one good move is enough for the attacker, one good answer for the others
                favourites[level] = buffers[level, cursors[level, 0] - 1]
                level -= 1
                continue
            at = cursors[level, 0]
            if at == cursors[level, 1]:
                won = not choosing
                level -= 1
                entering = False
                continue
            cursors[level, 0] = at + 1
            copy_state(memory, level + 1, memory, level)
            play(states[level + 1], buffers[level, at])
            level += 1
            entering = True
        return 1 if won else 0

    return force


@functools.cache
def _force(game_id: str) -> Callable[..., Any]:
    verbs: Rules = importlib.import_module(f"ludodrome.games.{game_id}.rules").RULES
    return make_force(verbs)


class Prover:
    """Exhaustive search in one game, with its memory."""

    def __init__(self, game: ludodrome.Game, limit: int = NO_LIMIT) -> None:
        self.game, self.limit = game, limit
        self._force = _force(game.id)
        self._stack = new_states(game.dtype, DEEPEST + 2)
        self._memory = as_words(self._stack)
        self._buffers = np.empty((DEEPEST + 2, game.max_legal), np.int16)
        self._cursors = np.empty((DEEPEST + 2, 2), np.int64)
        self._favourites = np.empty(DEEPEST + 2, np.int64)

    def legal(self, states: Any) -> list[int]:
        buffer = self.game.buffer()
        actions: list[int] = buffer[: self.game.kernels.legal(states, buffer)].tolist()
        return actions

    def forces(self, states: Any, action: int, seat: int, plies: int) -> bool:
        """Whether after an action a seat can force a win within ``plies`` more plies."""
        self._stack[0] = states[0]
        self.game.kernels.play(self._stack, action)
        memory = (self._memory, self._buffers, self._cursors, self._favourites)
        answer = int(self._force(self._stack, *memory, seat, plies, self.limit))
        if answer < 0:
            raise TooLong
        return answer == 1

    def winning(self, states: Any, plies: int) -> list[int]:
        """The actions with which the seat to move forces a win within ``plies`` plies."""
        seat = int(self.game.kernels.mover(states))
        actions = self.legal(states) if plies > 0 else []
        return [action for action in actions if self.forces(states, action, seat, plies - 1)]

    def holding(self, states: Any, plies: int) -> list[int]:
        """The actions after which the other of two seats cannot force a win within ``plies`` plies."""
        other = 1 - int(self.game.kernels.mover(states))
        return [action for action in self.legal(states) if not self.forces(states, action, other, plies)]


def edge_values(game: ludodrome.Game, states: Any) -> dict[int, int]:
    """The final margin of boxes that each undrawn edge leads to, for the seat to move of a dots position."""
    drawn = int(states["edges"][0])
    everything = (1 << game.num_actions) - 1
    free = [edge for edge in range(game.num_actions) if not drawn >> edge & 1]
    boxes = [box & ~drawn & everything for box in _sides(game) if box & ~drawn]
    narrow = [sum(1 << i for i, edge in enumerate(free) if box >> edge & 1) for box in boxes]
    beside = np.zeros((len(free), 2), np.uint32)
    for i in range(len(free)):
        own = [box for box in narrow if box >> i & 1]
        beside[i, : len(own)] = own
    values = np.zeros(1 << len(free), np.int8)
    gains = np.zeros(len(free), np.int64)
    _work_back(len(free), beside, values, gains)
    seat = int(game.kernels.mover(states))
    owned = [int(own).bit_count() for own in states["boxes"][0]]
    lead = owned[seat] - owned[1 - seat]
    return {edge: int(gain) + lead for edge, gain in zip(free, gains, strict=True)}


def _sides(game: ludodrome.Game) -> list[int]:
    """The four edges of each box as a set, by the edge order of the rules: all H row by row, then all V."""
    rows, cols = game.options["rows"], game.options["cols"]
    first = (rows + 1) * cols
    return [
        1 << row * cols + col
        | 1 << (row + 1) * cols + col
        | 1 << first + row * (cols + 1) + col
        | 1 << first + row * (cols + 1) + col + 1
        for row in range(rows)
        for col in range(cols)
    ]


@kernel
def _work_back(count: int, beside: Array, values: Array, gains: Array) -> None:
    """Set of drawn edges among ``count`` -> margin to come, from the full set down; for the empty set by edge.

    beside: (count, 2) uint32, the boxes at an edge as sets; 0 where there is none.
    """
    for drawn in range((1 << count) - 2, -1, -1):
        best = -127
        for edge in range(count):
            if drawn >> edge & 1:
                continue
            after = drawn | 1 << edge
            closed = 0
            for side in range(2):
                box = np.int64(beside[edge, side])
                if box != 0 and after & box == box:
                    closed += 1
            worth = closed + values[after] if closed > 0 else -values[after]
            if drawn == 0:
                gains[edge] = worth
            best = max(best, worth)
        values[drawn] = best


def faults(puzzle: Puzzle, prover: Prover | None = None) -> list[str]:
    """What is wrong with a puzzle's claims."""
    game = puzzle.game()
    state = game.parse_state(puzzle.position)
    if puzzle.kind == RESPOND:
        answer = game.parse_move(puzzle.solution, state)
        return _wrong(_margin(game, state, answer), puzzle.goal, "the margin")
    states = game.encode_array(state)
    solution = game.action(game.parse_move(puzzle.solution, state), state)
    if puzzle.kind == MARGIN:
        values = edge_values(game, states)
        others = [value for edge, value in values.items() if edge != solution]
        return _wrong((values[solution], max(others)), (puzzle.goal, puzzle.bound), "the margins")
    prover, seat = prover or Prover(game), int(game.kernels.mover(states))
    if puzzle.kind == WIN:
        return (
            _wrong(prover.winning(states, puzzle.goal - 1), [], "what wins sooner")
            + _wrong(prover.forces(states, solution, seat, puzzle.goal - 1), True, "whether the solution wins in time")
            + _wrong(prover.winning(states, puzzle.bound), [solution], "what wins at all")
        )
    assert puzzle.kind == SAVE
    wrong = _wrong(prover.holding(states, puzzle.goal), [solution], "what holds")
    if puzzle.goal > 1:
        wrong += _wrong(len(prover.holding(states, puzzle.goal - 2)) > 1, True, "whether some lose no sooner")
    return wrong + _wrong(prover.forces(states, solution, 1 - seat, puzzle.bound), False, "whether the solution loses")


def _margin(game: ludodrome.Game, state: Any, board: Any) -> int:
    points = game.apply(state, board)["history"][-1]["points"]
    seat = game.to_move(state)
    assert seat is not None
    return int(points[seat] - points[1 - seat])


def _wrong(found: Any, claimed: Any, what: str) -> list[str]:
    return [] if found == claimed else [f"{what}: {found}, not {claimed}"]
