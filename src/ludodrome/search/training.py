"""Games side by side for learners, in compiled code: a learner's moves, opponents' answers, ends, masks, planes.

It knows no game: rules come as ``Verbs``, observations from a room's ``planes.py``. Each pass goes over all games;
their order, what happens when a game ends, and everything for people is in ``envs/``. Opponents that think are in
``answering.py``.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ludodrome.jit import GOLDEN, Array, below, kernel_of, lent, mix
from ludodrome.room import Verbs

LOSS = -1.0
"""What an illegal action costs."""


class Lessons(NamedTuple):
    """n games, and what is known of each."""

    states: Any
    """(n,) records"""
    lots: Array
    """(n,) uint64: each game's own random stream."""
    views: Array
    """(n,) int8: the learner's seat; where it plays all seats, the one whose turn it is."""
    opponents: Array
    """(n,) int16: the number of the opponent, the same for a whole game."""
    over: Array
    """(n,) bool: it has ended, and the learner has been told."""
    ended: Array
    """(n,) bool: it ended in this step."""
    illegal: Array
    """(n,) bool: it ended because the learner's action was illegal."""
    rewards: Array
    """(n,) float64: what this step brought the learner."""
    returns: Array
    """(n, seats) float32: what the game came to, by seat; 0 while it runs."""


class Sights(NamedTuple):
    """What learners are shown, row after row."""

    choices: Array
    """(rows, most_legal) int16: the legal actions, ascending; so many of them count"""
    counts: Array
    """(rows,) int32"""
    mask: Array
    """(rows, num_actions) int8: 1 where an action is legal."""
    planes: Array
    """(rows, planes, cells)"""


class TrainingKernels(NamedTuple):
    """The compiled passes over all games."""

    begin_many: Callable[..., Any]
    act_many: Callable[..., Any]
    settle_many: Callable[..., Any]
    look_many: Callable[..., Any]
    movers_many: Callable[..., Any]
    answer_random: Callable[..., Any]


def make_training(verbs: Verbs, observe: Callable[..., Any]) -> TrainingKernels:
    """The training kernels of one game; ``observe`` (s, seat, out) fills the planes (planes, cells)."""
    reset, legal, fault, play, mover, winner = (
        verbs.reset,
        verbs.legal,
        verbs.fault,
        verbs.play,
        verbs.mover,
        verbs.winner,
    )

    @kernel_of(legal)
    def begin_many(lessons: Lessons, where: Array, seat: int, kinds: int) -> None:
        """Begins game i anew where where[i], with one of ``kinds`` opponents; seat -1: by lot."""
        seats = lessons.returns.shape[1]
        for i in range(len(where)):
            if where[i]:
                lot = lessons.lots[i]
                reset(lessons.states[i], mix(lot + GOLDEN))
                drawn = below(mix(lot + GOLDEN + GOLDEN), seats)
                lot += GOLDEN + GOLDEN + GOLDEN
                lessons.views[i] = drawn if seat < 0 else seat
                lessons.opponents[i] = below(mix(lot), kinds)
                lessons.lots[i] = lot
                lessons.over[i] = False
                lessons.returns[i, :] = 0.0

    @kernel_of(legal)
    def answer_random(lessons: Lessons, which: int, buffer: Array) -> None:
        """Opponent number ``which`` plays by lot until it is the learner's turn; buffer: (most_legal,) int16."""
        states, buffer = lent(lessons.states), lent(buffer)
        for i in range(len(lessons.views)):
            if lessons.opponents[i] != which:
                continue
            s = states[i]
            seat = mover(s)
            while seat >= 0 and seat != lessons.views[i]:
                count = legal(s, buffer)
                lessons.lots[i] += GOLDEN
                play(s, np.int64(buffer[below(mix(lessons.lots[i]), count)]))
                seat = mover(s)

    @kernel_of(legal)
    def act_many(lessons: Lessons, actions: Array, limit: int, fresh: Array, lots: int, buffer: Array) -> None:
        """The learner's actions, (n,) int64 below ``limit``; not where a game is over, or fresh[i]: just begun.

        Opponent number ``lots``, or none if that is -1, answers by lot at once: that saves small rooms a call.
        """
        states = lent(lessons.states)
        for i in range(len(actions)):
            lessons.illegal[i] = False
            s = states[i]
            if lessons.over[i] or fresh[i] or mover(s) < 0:
                continue
            action = actions[i]
            if action < 0 or action >= limit or fault(s, action) != 0:
                lessons.illegal[i] = True
            else:
                play(s, action)
        if lots >= 0:
            answer_random(lessons, lots, buffer)

    @kernel_of(legal)
    def settle_many(lessons: Lessons, fresh: Array, alone: bool) -> None:
        """Which games have ended, and what for; ``alone``: the learner plays all seats, and next comes who is to move.

        A game that ends before its learner's first turn ends for it with its first step, not when it begins.
        """
        seats = lessons.returns.shape[1]
        for i in range(len(fresh)):
            lessons.rewards[i] = 0.0
            lessons.ended[i] = False
            if lessons.over[i] or fresh[i]:
                continue
            view = lessons.views[i]
            seat = mover(lessons.states[i])
            if lessons.illegal[i]:
                lessons.returns[i, view] = LOSS
            elif seat < 0:
                best = winner(lessons.states[i])
                if best >= 0:
                    lessons.returns[i, :] = -1.0 / (seats - 1)
                    lessons.returns[i, best] = 1.0
            else:
                if alone:
                    lessons.views[i] = seat
                continue
            lessons.over[i] = True
            lessons.ended[i] = True
            lessons.rewards[i] = lessons.returns[i, view]

    @kernel_of(legal)
    def look_many(states: Any, rows: Array, views: Array, sights: Sights) -> None:
        """What views[i] sees of the games whose numbers i are in ``rows``, one row after the other; views: (n,) int8.

        Whoever is not to move has no legal action.
        """
        states, all_choices, masks, planes = lent(states), lent(sights.choices), lent(sights.mask), lent(sights.planes)
        for row in range(len(rows)):
            i = rows[row]
            s = states[i]
            view = np.int64(views[i])
            choices, mask = all_choices[row], masks[row]
            mask[:] = 0  # all of it: clearing only what was set takes longer
            count = 0
            if mover(s) == view:
                count = legal(s, choices)
            sights.counts[row] = count
            for k in range(count):
                mask[choices[k]] = 1
            observe(s, view, planes[row])

    @kernel_of(legal)
    def movers_many(states: Any, movers: Array) -> None:
        """Who is to move; movers: (n,) int8, -1 where a game is over."""
        for i in range(len(movers)):
            movers[i] = mover(states[i])

    return TrainingKernels(begin_many, act_many, settle_many, look_many, movers_many, answer_random)
