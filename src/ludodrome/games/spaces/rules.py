"""The rules of spaces in compiled code, step by step. The R-numbers are those of RULES.md.

A move is a whole board, or a deck of ten (R25); an action is one step of it (R2). The record
holds the finished boards as actions, the results of their rounds, and the unfinished board.
``rounds.py`` plays two boards against each other (R18, R19, R20, R21, R22, R23); ``codec.py``
reads and writes states. Kernels trust their input.
"""

from functools import cache
from typing import Any

import numpy as np

from ludodrome.game_spec import GAME_OVER, Rules
from ludodrome.games.spaces.boards import DECK, FINISH, FIRST_TRAP, HERE, LEFT, PLACES, RIGHT, UP
from ludodrome.games.spaces.rounds import COL_OF_PLACE, LIVE_PLACES, ROW_OF_PLACE, pack, play_packed
from ludodrome.jit import Array, Int, Record, entry, kernel, record_dtype

MAX_ROUNDS = 100
PAIRINGS = DECK * DECK

RUNNING, HIGHER, EQUAL = range(3)
REASONS = ("", "higher total", "equal totals")


def longest(size: int) -> int:
    """The maximum number of steps of a legal board; it is below the limit of R7.

    R8, R9, R12: all squares of all rows but the top one, one there, a trap on every square (R10), the finish.
    """
    return size * (size - 1) + 1 + size * size + 1


def num_actions(size: int) -> int:
    """Starts, three piece steps, nine traps, the finish."""
    return size + FINISH + 1


def max_legal(size: int) -> int:
    """At the start one action per column; later at most three piece steps and nine traps."""
    return max(size, FINISH)


_TIERS = (5, 10, 100)
"""Records are laid out for one of these sizes, so that few kernels are compiled."""
_FEW_BOARDS = 2 * DECK


def dtype_of(size: int, rounds: int) -> np.dtype[Any]:
    """The record dtype for a size (R1) and a number of rounds (R24)."""
    tier = next(tier for tier in _TIERS if size <= tier)
    return _dtype(tier, _FEW_BOARDS if 2 * rounds <= _FEW_BOARDS else 2 * MAX_ROUNDS)


@cache
def _dtype(tier: int, slots: int) -> np.dtype[Any]:
    return record_dtype(
        [
            # options; kernels never change them
            ("side", np.uint8),  # the size; records already have an attribute `size`
            ("live", np.uint8),  # R5, R13 to R16, R20, R22
            ("deck", np.uint8),  # R25
            ("choice", np.uint8),  # R26: an index into CHOICES; matters to observations only
            ("rounds", np.uint8),  # R24
            ("winner", np.int8),  # -1: nobody
            ("reason", np.uint8),  # an index into REASONS
            # the unfinished board
            ("row", np.int8),
            ("col", np.uint8),
            ("entered", np.uint8),  # the column in which the piece entered its row
            ("trap_count", np.uint16),
            # the match
            ("laid", np.uint16),  # boards finished
            ("totals", np.uint16, (2,)),
            ("lengths", np.uint16, (slots,)),
            ("done", np.uint16, (slots,)),  # in the mode ``rounds``: the steps of each board that were carried out
            ("fogged", np.uint8, (slots,)),  # of an observation: 1 where a board is in fog, see ``fog.py``
            ("boards", np.uint8, (slots, longest(tier))),  # actions; see slot()
            ("results", np.uint8, (PAIRINGS, 3)),  # of each round: points of both seats, how it ended
            ("traps", np.uint8, (tier * tier,)),  # of the unfinished board: 1 where a trap is set
        ]
    )


# Faults: 0 is none, 1 is GAME_OVER
(
    NOT_STARTED,
    STARTED,
    FROM_TOP,
    EARLY_FINISH,
    OUTSIDE,
    VISITED,
    OWN_TRAP,
    NEEDS_PIECE,
    NEEDS_PIECE_LIVE,
    TRAP_OUTSIDE,
    OUT_OF_REACH,
    TRAP_TWICE,
    TRAP_ON_TOP,
    TOO_MANY_TRAPS,
    DEAD_END,
) = range(GAME_OVER + 1, GAME_OVER + 16)


# Turns


@kernel
def mover(s: Record) -> Int:
    """R24: the seats take turns at laying first; R25: seat 0's deck, then seat 1's; -1 when over."""
    if s.reason != RUNNING:
        return -1
    laid = np.int64(s.laid)
    if s.deck:
        return laid // DECK
    return (laid // 2 + laid) % 2


@kernel
def turns(s: Record) -> Int:
    """The number of boards laid, or of decks."""
    laid = np.int64(s.laid)
    return laid // DECK if s.deck else laid


@kernel
def slot(s: Record) -> Int:
    """The index of the unfinished board: by round and seat, in a deck by seat and number."""
    laid = np.int64(s.laid)
    return laid if s.deck else laid // 2 * 2 + mover(s)


@kernel
def winner(s: Record) -> Int:
    """The seat that has won, or -1."""
    return np.int64(s.winner)


@kernel
def reset(s: Record, seed: Any) -> None:
    """R24: nothing laid. Nothing is random. Clears only what was used."""
    for k in range(len(s.lengths)):
        for step in range(s.lengths[k]):
            s.boards[k, step] = 0
        s.lengths[k] = 0
        s.done[k] = 0
        s.fogged[k] = 0
    for k in range(PAIRINGS):
        for column in range(3):
            s.results[k, column] = 0
    s.totals[0] = 0
    s.totals[1] = 0
    s.laid = 0
    s.winner = -1
    s.reason = RUNNING
    _clear(s)


@kernel
def _clear(s: Record) -> None:
    """Start an empty board."""
    s.row = 0
    s.col = 0
    s.entered = 0
    s.trap_count = 0
    for cell in range(np.int64(s.side) * np.int64(s.side)):
        s.traps[cell] = 0


# Legal steps (R17)


@kernel
def last_done(s: Record, k: int) -> Int:
    """The action of the last step in slot k, minus size; the board has at least one step."""
    return np.int64(s.boards[k, np.int64(s.lengths[k]) - 1]) - np.int64(s.side)


@kernel
def can_trap(s: Record, done: int) -> bool:
    """Whether any trap may follow a step that did ``done``."""
    if done == HERE:  # R11
        return False
    if not s.live:
        return True
    return not FIRST_TRAP <= done < FINISH and s.trap_count < s.side - 1  # R15, R14


@kernel
def side_fault(s: Record, what: Int) -> Int:
    """R4, R8, R16: a piece step to the left or to the right.

    The squares of its row that the piece has visited lie between where it entered the row and where
    it is (R9), so it may only go on in the same direction.
    """
    size = np.int64(s.side)
    col = np.int64(s.col)
    to = col - 1 if what == LEFT else col + 1
    if to < 0 or to >= size:
        return OUTSIDE
    if (col > s.entered) if what == LEFT else (col < s.entered):
        return VISITED
    if s.live and s.traps[np.int64(s.row) * size + to]:
        return OWN_TRAP
    return 0


@kernel
def up_fault(s: Record) -> Int:
    """R16: a step up goes to a square that was never visited (R9), but that may hold a trap."""
    above = (np.int64(s.row) - 1) * np.int64(s.side) + np.int64(s.col)
    return OWN_TRAP if s.live and s.traps[above] else 0


@kernel
def place_fault(s: Record, place: Int) -> Int:
    """R5, R10, R13, R17: a trap in one of the nine places, if ``can_trap``."""
    size = np.int64(s.side)
    row = np.int64(s.row) + ROW_OF_PLACE[place]
    col = np.int64(s.col) + COL_OF_PLACE[place]
    if row < 0 or row >= size or col < 0 or col >= size:
        return TRAP_OUTSIDE
    if s.live and not LIVE_PLACES[place]:
        return OUT_OF_REACH
    if s.traps[row * size + col]:
        return TRAP_TWICE
    if s.live:
        if row == 0:
            return TRAP_ON_TOP
        if row < s.row and side_fault(s, LEFT) != 0 and side_fault(s, RIGHT) != 0:
            return DEAD_END
    return 0


@kernel
def legal(s: Record, buffer: Array) -> Int:
    """R17: all legal actions, ascending."""
    if s.reason != RUNNING:
        return 0
    size = np.int64(s.side)
    k = slot(s)
    if s.lengths[k] == 0:  # R3
        for col in range(size):
            buffer[col] = col
        return size
    if s.row == 0:  # R12, R6
        buffer[0] = size + FINISH
        return 1
    count = 0
    if up_fault(s) == 0:
        buffer[count] = size + UP
        count += 1
    for what in (LEFT, RIGHT):
        if side_fault(s, what) == 0:
            buffer[count] = size + what
            count += 1
    if can_trap(s, last_done(s, k)):
        for place in range(len(PLACES)):
            if place_fault(s, place) == 0:
                buffer[count] = size + FIRST_TRAP + place
                count += 1
    return count


@kernel
def fault(s: Record, action: int) -> Int:
    """0 if the action is legal, else the first fault."""
    if s.reason != RUNNING:
        return GAME_OVER
    k = slot(s)
    what = action - np.int64(s.side)
    if s.lengths[k] == 0:  # R3
        return 0 if what < 0 else NOT_STARTED
    if what < 0:
        return STARTED
    if s.row == 0:  # R12
        return 0 if what == FINISH else FROM_TOP
    if what == FINISH:  # R6
        return EARLY_FINISH
    if what == UP:
        return up_fault(s)
    if what < FIRST_TRAP:
        return side_fault(s, what)
    done = last_done(s, k)
    if can_trap(s, done):
        return place_fault(s, what - FIRST_TRAP)
    if done == HERE:
        return NEEDS_PIECE
    return NEEDS_PIECE_LIVE if FIRST_TRAP <= done < FINISH else TOO_MANY_TRAPS


# Playing


@kernel
def play(s: Record, action: int) -> None:
    """Take a legal step."""
    size = np.int64(s.side)
    k = slot(s)
    s.boards[k, s.lengths[k]] = action
    s.lengths[k] += 1
    what = action - size
    if what < 0:  # R3
        s.row = size - 1
        s.col = action
        s.entered = action
    elif what == UP:
        s.row -= 1
        s.entered = s.col
    elif what == LEFT:
        s.col -= 1
    elif what == RIGHT:
        s.col += 1
    elif what < FINISH:
        place = what - FIRST_TRAP
        row = np.int64(s.row) + ROW_OF_PLACE[place]
        s.traps[row * size + np.int64(s.col) + COL_OF_PLACE[place]] = 1
        s.trap_count += 1
    else:
        _lay(s)


@kernel
def _lay(s: Record) -> None:
    """Finish a board; once both sides have laid, play the rounds (R24, R25)."""
    s.laid += 1
    _clear(s)
    laid = np.int64(s.laid)
    boards = DECK if s.deck else 1
    if laid % (2 * boards) == 0:
        _play_rounds(s, laid - 2 * boards, boards)
        if laid == 2 * boards * np.int64(s.rounds):
            _decide_winner(s)


@kernel
def _play_rounds(s: Record, first: Int, boards: int) -> None:
    """Play each board of seat 0, from slot ``first`` on, against each of seat 1, in row order."""
    steps = s.boards.shape[1]
    cells = np.empty((2, steps), np.uint16)
    score = np.empty((2, steps), np.uint16)
    since = np.empty((2, len(s.traps)), np.uint16)
    done = first // 2
    for i in range(boards):
        length_a = _pack(s, first + i, 0, cells, score, since)
        for j in range(boards):
            length_b = _pack(s, first + boards + j, 1, cells, score, since)
            a, b, ended, last, hit_a, hit_b = play_packed(
                cells[0, :length_a],
                score[0, :length_a],
                since[0],
                cells[1, :length_b],
                score[1, :length_b],
                since[1],
                s.live != 0,
            )
            s.results[done, 0] = a
            s.results[done, 1] = b
            s.results[done, 2] = ended
            s.totals[0] += a
            s.totals[1] += b
            done += 1
            if not s.deck:
                s.done[first] = min(last, hit_a) + 1
                s.done[first + 1] = min(last, hit_b) + 1


@kernel
def _pack(s: Record, k: Int, seat: int, cells: Array, score: Array, since: Array) -> Int:
    """Pack the board in slot k as the given seat's; return its length."""
    length = np.int64(s.lengths[k])
    pack(s.boards[k, :length], np.int64(s.side), s.live != 0, seat == 1, cells[seat], score[seat], since[seat])
    return length


@kernel
def _decide_winner(s: Record) -> None:
    """R27: the higher total wins."""
    if s.totals[0] == s.totals[1]:
        s.reason = EQUAL
    else:
        s.reason = HIGHER
        s.winner = 0 if s.totals[0] > s.totals[1] else 1


RULES = Rules(reset, legal, fault, play, mover, winner, turns)


# From Python


@entry
def lay_steps(states: Any, actions: Array) -> Int:
    """Play steps in order; stop at the first that is not legal (a step down never is) and return how many were."""
    s = states[0]
    for k in range(len(actions)):
        if actions[k] - np.int64(s.side) > FINISH or fault(s, actions[k]) != 0:
            return k
        play(s, actions[k])
    return len(actions)


@entry
def current_slot(states: Any) -> Int:
    """``slot`` for Python."""
    return slot(states[0])
