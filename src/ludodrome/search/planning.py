"""Tree search with a network: many trees side by side, whose priors and values come from outside.

Each round every tree chooses one leaf by PUCT (Silver and others 2018); the caller evaluates all
leaves at once and passes priors and values back; every tree backs up its own. There is no loop
over trees in Python. Search with random playouts is in ``mcts.py``.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ludodrome.game import Game, checked_count, checked_seed
from ludodrome.game_spec import Rules
from ludodrome.jit import Array, Int, as_words, copy_state, kernel, kernel_of

NONE = -1

# The rows of Plan.whole
ACTION = 0
"""The move that leads to a node."""
VISITS = 1
FIRST = 2
"""Its first child, or NONE."""
COUNT = 3
"""How many children."""
SEAT = 4
"""Who moves there, -1 when the game is over."""

# The rows of Plan.real
PRIOR = 0
TOTAL = 1
"""The returns of the seat that chose the node, added up."""
OWN = 2
"""The same of the seat that moves there."""

# The columns of Plan.used
NODES, DEPTH = range(2)


class Plan(NamedTuple):
    """n trees of a fixed number of nodes. Node 0 is the root; the children of a node are adjacent."""

    whole: Array
    """(n, 5, nodes) int32"""
    real: Array
    """(n, 3, nodes) float32"""
    path: Array
    """(n, max_game_length + 1) int32: the way to the leaf."""
    used: Array
    """(n, 2) int64: nodes in use, the leaf's depth."""


@kernel
def best_child(whole: Array, real: Array, node: Int, weight: Any) -> Int:
    """PUCT. A child that has not been visited is taken to be worth what its parent has brought so far.

    whole: (5, nodes); real: (3, nodes).
    """
    first = np.int64(whole[FIRST, node])
    parent_visits = np.float64(whole[VISITS, node])
    hope = np.float64(real[OWN, node]) / parent_visits
    exploration = weight * np.sqrt(parent_visits)
    best: Int = first
    best_score = -np.inf
    for child in range(first, first + np.int64(whole[COUNT, node])):
        visits = np.float64(whole[VISITS, child])
        value = np.float64(real[TOTAL, child]) / visits if visits > 0 else hope
        score = value + exploration * np.float64(real[PRIOR, child]) / (1.0 + visits)
        if score > best_score:
            best_score = score
            best = child
    return best


@kernel
def add_children(whole: Array, real: Array, used: Array, leaf: Int, buffer: Array, count: Int, priors: Array) -> None:
    """Give a leaf its children, if there is room. Priors of legal moves are scaled to add up to 1.

    used: (2,); priors: (num_actions,) float32.
    """
    first = used[NODES]
    if first + count > whole.shape[1]:
        return
    total = 0.0
    for k in range(count):
        total += np.float64(priors[buffer[k]])
    for k in range(count):
        child = first + k
        whole[ACTION, child] = buffer[k]
        whole[VISITS, child] = 0
        whole[FIRST, child] = NONE
        real[PRIOR, child] = np.float64(priors[buffer[k]]) / total if total > 0 else 1.0 / count
        real[TOTAL, child] = 0.0
        real[OWN, child] = 0.0
    whole[FIRST, leaf] = first
    whole[COUNT, leaf] = count
    used[NODES] = first + count


@kernel
def stir(whole: Array, real: Array, noise: Array, share: float) -> None:
    """Mix noise into the priors of the root's children; noise: (num_actions,), any positive numbers."""
    first = np.int64(whole[FIRST, 0])
    if first == NONE:
        return
    children = range(first, first + np.int64(whole[COUNT, 0]))
    total = 0.0
    for child in children:
        total += noise[whole[ACTION, child]]
    for child in children:
        fresh = noise[whole[ACTION, child]] / total
        real[PRIOR, child] = (1.0 - share) * np.float64(real[PRIOR, child]) + share * fresh


class PlanKernels(NamedTuple):
    """The compiled passes over all trees."""

    plan_select: Callable[..., Any]
    plan_back_up: Callable[..., Any]


def make_planning(rules: Rules) -> PlanKernels:
    """The planning kernels of one game."""
    legal, play, mover, winner = rules.legal, rules.play, rules.mover, rules.winner

    @kernel_of(legal)
    def plan_select(
        plan: Plan, roots: Array, states: Any, state_words: Array, buffer: Array, weight: float, mask: Array
    ) -> None:
        """Brings states[i] to the leaf of tree i and says what is legal there.

        roots: (n, words); states: (n,), and state_words the same memory; mask: (n, num_actions) bool.
        """
        for i in range(len(states)):
            copy_state(state_words, i, roots, i)
            s = states[i]
            whole, real = plan.whole[i], plan.real[i]
            node, depth = np.int64(0), 0
            plan.path[i, 0] = 0
            while whole[FIRST, node] != NONE:
                node = best_child(whole, real, node, weight)
                play(s, whole[ACTION, node])
                depth += 1
                plan.path[i, depth] = node
            plan.used[i, DEPTH] = depth
            whole[SEAT, node] = mover(s)
            mask[i, :] = False
            for k in range(legal(s, buffer)):
                mask[i, buffer[k]] = True

    @kernel_of(legal)
    def plan_back_up(
        plan: Plan, states: Any, buffer: Array, priors: Array, values: Array, noise: Array, share: float
    ) -> None:
        """Takes in what the leaves are worth; a finished game knows that itself.

        priors: (n, num_actions) float32; values: (n, seats) float32, changed where a game is over;
        noise: (n, num_actions) float64 for the roots, or no rows.
        """
        seats = values.shape[1]
        for i in range(len(states)):
            s = states[i]
            whole, real = plan.whole[i], plan.real[i]
            depth = plan.used[i, DEPTH]
            leaf = np.int64(plan.path[i, depth])
            count = legal(s, buffer)
            if count > 0:
                add_children(whole, real, plan.used[i], leaf, buffer, count, priors[i])
                if len(noise) > 0:
                    stir(whole, real, noise[i], share)
            else:
                best = winner(s)
                for seat in range(seats):
                    values[i, seat] = 0.0 if best < 0 else (1.0 if seat == best else -1.0 / (seats - 1))
            for at in range(depth + 1):
                node = plan.path[i, at]
                whole[VISITS, node] += 1
                if whole[SEAT, node] >= 0:
                    real[OWN, node] += values[i, whole[SEAT, node]]
                if at > 0:
                    real[TOTAL, node] += values[i, whole[SEAT, plan.path[i, at - 1]]]

    return PlanKernels(plan_select, plan_back_up)


class Planner:
    """n searches side by side, judged from outside.

        states, mask = planner.select()
        priors, values = judge(states, mask)
        planner.expand_and_backup(priors, values)

    and so on, as often as wanted; then ``visits`` and ``best``. ``noise`` is (alpha, share): so much of the
    roots' priors is drawn from Dirichlet's distribution with that alpha. A tree that is full is searched on
    without getting deeper.
    """

    def __init__(
        self,
        game: Game,
        states: Any,
        nodes: int = 1 << 14,
        c_puct: float = 1.5,
        noise: tuple[float, float] | None = None,
        seed: int = 0,
    ) -> None:
        n = len(states)
        nodes = checked_count(nodes, "the number of a tree's nodes", low=game.max_legal + 1, high=1 << 28)
        if not c_puct > 0:
            raise ValueError(f"c_puct is a number above 0, not {c_puct}")
        if noise is not None and not (noise[0] > 0 and 0 <= noise[1] <= 1):
            raise ValueError(f"noise is an alpha above 0 and a share from 0 to 1, not {noise}")
        self.game = game
        self.c_puct = float(c_puct)
        self.noise = noise
        self._random = np.random.default_rng(int(checked_seed(seed)))
        self._plan = Plan(
            np.zeros((n, SEAT + 1, nodes), np.int32),
            np.zeros((n, OWN + 1, nodes), np.float32),
            np.zeros((n, game.max_game_length + 1), np.int32),
            np.zeros((n, 2), np.int64),
        )
        self._roots = game.new_states(n)
        self._states = game.new_states(n)
        self._mask: Array = np.zeros((n, game.num_actions), np.bool_)
        self._buffer = game.buffer()
        self.restart(states)

    def __len__(self) -> int:
        return len(self._roots)

    def restart(self, states: Any) -> None:
        """New roots, (n,) records; nothing is known of them. Finished games stay as they are."""
        if states.dtype != self.game.dtype or states.shape != self._roots.shape:
            raise ValueError(f"this planner of {self.game.id} takes {len(self)} records of its dtype")
        self._roots[:] = states
        self._plan.used[:, NODES] = 1
        self._plan.whole[:, VISITS, 0] = 0
        self._plan.whole[:, FIRST, 0] = NONE
        self._plan.real[:, OWN, 0] = 0
        self._fresh = True
        self._chosen = False

    def select(self) -> tuple[Any, Array]:
        """The leaves: (n,) records, and (n, num_actions) booleans, all False where a game is over.

        Both arrays are the planner's own and change with the next call.
        """
        self.game.kernels.plan_select(
            self._plan,
            as_words(self._roots),
            self._states,
            as_words(self._states),
            self._buffer,
            self.c_puct,
            self._mask,
        )
        self._chosen = True
        return self._states, self._mask

    def expand_and_backup(self, priors: ArrayLike, values: ArrayLike) -> None:
        """Expand the leaves, and back their values up.

        priors: (n, num_actions), not negative; what they give to illegal moves does not count.
        values: (n, seats), the returns that are expected. Where a game is over neither counts.
        """
        if not self._chosen:
            raise ValueError("expand_and_backup comes after select, once")
        noise: Array = np.empty((0, 0))
        if self._fresh and self.noise is not None:
            noise = np.maximum(self._random.standard_gamma(self.noise[0], self._mask.shape), 1e-300)
        self.game.kernels.plan_back_up(
            self._plan,
            self._states,
            self._buffer,
            self._judged(priors, "priors", self.game.num_actions, least=0),
            self._judged(values, "values", self.game.seats, least=-1).copy(),
            noise,
            0.0 if self.noise is None else float(self.noise[1]),
        )
        self._fresh = self._chosen = False

    def _judged(self, given: ArrayLike, what: str, width: int, least: float) -> Array:
        judged = np.ascontiguousarray(given, np.float32)
        if judged.shape != (len(self), width):
            raise ValueError(f"{what} have the shape {(len(self), width)}, not {judged.shape}")
        if not (np.isfinite(judged).all() and (judged >= least).all()):
            raise ValueError(f"{what} are finite numbers, none below {least}")
        return judged

    def visits(self) -> Array:
        """(n, num_actions) int32: how often each move of a root was chosen: the search's policy, when scaled."""
        counts: Array = np.zeros(self._mask.shape, np.int32)
        rows, actions, children = self._root_children()
        counts[rows, actions] = self._plan.whole[rows, VISITS, children]
        return counts

    def values(self) -> Array:
        """(n, num_actions) float32: what each move of a root has brought the seat to move; 0 where nothing is known."""
        means: Array = np.zeros(self._mask.shape, np.float32)
        rows, actions, children = self._root_children()
        visits = np.maximum(self._plan.whole[rows, VISITS, children], 1)
        means[rows, actions] = self._plan.real[rows, TOTAL, children] / visits
        return means

    def best(self) -> Array:
        """(n,) int64: the most visited move of each root, -1 where there is none."""
        counts = self.visits()
        return np.where(counts.any(axis=1), counts.argmax(axis=1), -1)

    def _root_children(self) -> tuple[Array, Array, Array]:
        """The roots' children: the tree, the action, the node of each."""
        whole = self._plan.whole
        counts = np.where(whole[:, FIRST, 0] == NONE, 0, whole[:, COUNT, 0])
        places = np.arange(self.game.max_legal)
        rows, places = np.nonzero(places < counts[:, None])
        children = whole[rows, FIRST, 0] + places
        return rows, whole[rows, ACTION, children], children
