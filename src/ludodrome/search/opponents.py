"""Opponents that search, in compiled code: many games in one call, each answered independently.

``greedy`` takes the best move at one ply, as the bot of that name does; alpha-beta looks a few plies ahead, with an
empty table for each move, so that games do not depend on each other.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ludodrome.game import Game
from ludodrome.game_spec import Evaluator, Rules
from ludodrome.jit import GOLDEN, Array, Int, as_words, below, copy_state, kernel_of, mix, new_states
from ludodrome.search.frames import DECIDED, KILLERS, PLIES, WIN, frame_dtype, search_dtype
from ludodrome.search.iterative import begin_search, set_root
from ludodrome.search.network import NETWORK_VARIANT, NetworkMemory, no_memory
from ludodrome.search.symmetry import SYMMETRIES
from ludodrome.search.transposition_table import NO_MOVE_ID, new_table
from ludodrome.search.vector import VecState

TABLE_BITS = 10
"""Emptied for every move, so it is small."""
_INFINITE = 2 * WIN
_ALL_NODES = 1 << 62


class SearchWorkspace(NamedTuple):
    """The arrays that a searching opponent works in."""

    states: Any
    """(PLIES + 1,) records, the first one the position; and another one that is blank"""
    blank: Any
    """(1,) record"""
    words: Array
    """The memory of ``states``."""
    keys: Array
    """(PLIES + 1, 8) uint64"""
    moves: Array
    """(PLIES, max_legal) int16"""
    frames: Any
    """(PLIES + 1,)"""
    searches: Any
    """(1,)"""
    table: Array
    net: NetworkMemory


def new_workspace(game: Game, table_bits: int = TABLE_BITS, net: NetworkMemory | None = None) -> SearchWorkspace:
    """A workspace for a game that has an evaluator; ``net``: the memory of its network."""
    if game.evaluator is None:
        raise ValueError(f"alpha-beta needs an evaluator, and {game.id} has none")
    states = game.new_states(PLIES + 1)
    return SearchWorkspace(
        states,
        game.new_states(1),
        as_words(states),
        np.zeros((PLIES + 1, SYMMETRIES), np.uint64),
        np.zeros((PLIES, game.max_legal), np.int16),
        new_states(frame_dtype(game.max_legal), PLIES + 1),
        new_states(search_dtype(game.evaluator.num_move_ids), 1),
        new_table(table_bits),
        net or no_memory(),
    )


def make_answer_greedy(rules: Rules, best: Callable[..., Any]) -> Callable[..., Any]:
    """The greedy opponent of one game.

    ``best`` (states, words, buffer, count) keeps the best legal actions of states[0]; how many. It may use states[1].
    """
    legal, play, mover = rules.legal, rules.play, rules.mover

    @kernel_of(legal)
    def answer_greedy(
        vec: VecState, vec_words: Array, which: int, buffer: Array, workspace: Any, workspace_words: Array
    ) -> None:
        """Opponent number ``which`` plays until it is the learner's turn; ties are broken at random.

        vec_words: the memory of the states; buffer: (max_legal,) int16; workspace: (2,) records, and their memory.
        """
        for i in range(len(vec.agent_seat)):
            if vec.opponents[i] != which:
                continue
            s = vec.states[i]
            seat = mover(s)
            while seat >= 0 and seat != vec.agent_seat[i]:
                copy_state(workspace_words, 0, vec_words, i)
                count = best(workspace, workspace_words, buffer, legal(s, buffer))
                vec.rng[i] += GOLDEN
                play(s, np.int64(buffer[below(mix(vec.rng[i]), count)]))
                seat = mover(s)

    return answer_greedy


def make_one_ply(rules: Rules, evaluator: Evaluator) -> Callable[..., Any]:
    """Keep the best moves at one ply, for games that are won, not scored: see ``bots/baselines.py``."""
    play, mover, winner = rules.play, rules.mover, rules.winner
    value, winning = evaluator.value, evaluator.winning

    @kernel_of(rules.legal)
    def worth_of(s: Any, seat: Int) -> Int:
        """What a position is worth to the seat that has just moved."""
        if mover(s) < 0:
            best = winner(s)
            return 0 if best < 0 else WIN - 1 if best == seat else 1 - WIN
        if winning(s) >= 0:
            return 2 - WIN
        return np.int64(value(s, seat))

    @kernel_of(rules.legal)
    def glance(states: Any, state_words: Array, buffer: Array, count: Int) -> Int:
        """Of the legal actions of states[0] keeps those that look best; how many."""
        seat = mover(states[0])
        highest: Int = -_INFINITE
        kept = 0
        for k in range(count):
            action = buffer[k]
            copy_state(state_words, 1, state_words, 0)
            play(states[1], np.int64(action))
            worth = worth_of(states[1], seat)
            if worth > highest:
                highest = worth
                kept = 0
            if worth == highest:
                buffer[kept] = action
                kept += 1
        return kept

    return glance


def make_best_action(
    rules: Rules,
    evaluator: Evaluator,
    alphabeta: Callable[..., Any],
    refresh_at: Callable[..., Any] | None = None,
) -> Callable[..., Any]:
    """A whole search of one game in compiled code; ``refresh_at`` computes an accumulator, if there is a network."""
    legal, mover = rules.legal, rules.mover
    update_hash, move_context, move_score = evaluator.update_hash, evaluator.move_context, evaluator.move_score
    compiled = partial(kernel_of, legal, variant="" if refresh_at is None else NETWORK_VARIANT)

    @compiled()
    def arrange(workspace: SearchWorkspace, count: Int) -> None:
        """Sort the root's moves by their scores; equal ones keep their order."""
        s = workspace.states[0]
        moves = workspace.moves[0]
        scores = workspace.frames[0].ranks
        seen = move_context(s)
        for k in range(count):
            action = moves[k]
            score = move_score(s, seen, np.int64(action))
            at = k
            while at > 0 and scores[at - 1] < score:
                scores[at] = scores[at - 1]
                moves[at] = moves[at - 1]
                at -= 1
            scores[at] = score
            moves[at] = action

    @compiled()
    def set_up(workspace: SearchWorkspace, seats: Int, forget: Int) -> Int:
        """Prepare the root; return the number of its moves. ``forget``: empty the table and the history."""
        s = workspace.states[0]
        root, search = workspace.frames[0], workspace.searches[0]
        seat = mover(s)
        for k in range(SYMMETRIES):
            workspace.keys[0, k] = 0
        update_hash(workspace.blank[0], s, workspace.keys, 0)
        for k in range(SYMMETRIES):
            workspace.keys[0, k] = workspace.keys[1, k]
        if forget:
            workspace.table[:] = 0
            search.history[:] = 0
        for ply in range(PLIES + 1):
            for k in range(KILLERS):
                workspace.frames[ply].killers[k] = NO_MOVE_ID
        begin_search(search, root, seats, seat, 0, 1)
        search.shortest = 0
        if refresh_at is not None:
            refresh_at(s, workspace.net, 0)
        count = legal(s, workspace.moves[0])
        arrange(workspace, count)
        return count

    @compiled()
    def best_action(workspace: SearchWorkspace, seats: Int, depth: Int, nodes: Int, forget: Int) -> Any:
        """Search workspace.states[0] by iterative deepening: (best action, its score, whether it is proven)."""
        count = set_up(workspace, seats, forget)
        moves, root = workspace.moves[0], workspace.frames[0]
        score: Int = np.int64(0)
        proven: Any = False
        for level in range(1, depth + 1):
            set_root(workspace.searches[0], root, count, level, -_INFINITE, _INFINITE)
            done = alphabeta(
                workspace.states,
                workspace.words,
                workspace.keys,
                workspace.moves,
                workspace.frames,
                workspace.searches,
                workspace.table,
                workspace.net,
                nodes,
            )
            if root.best_action < 0:
                break
            score = np.int64(root.best)
            best = np.int16(root.best_action)
            at = 0
            while moves[at] != best:
                at += 1
            while at > 0:
                moves[at] = moves[at - 1]
                at -= 1
            moves[0] = best
            proven = score > DECIDED or (done and score < -DECIDED)
            if proven or not done:
                break
        return np.int64(moves[0]), score, proven

    return best_action


def make_answer_alphabeta(rules: Rules, evaluator: Evaluator, alphabeta: Callable[..., Any]) -> Callable[..., Any]:
    """The opponent of one game that searches; ``alphabeta`` is the game's search kernel."""
    legal, play, mover = rules.legal, rules.play, rules.mover
    best_action = make_best_action(rules, evaluator, alphabeta)

    @kernel_of(legal)
    def answer_alphabeta(vec: VecState, vec_words: Array, which: int, workspace: SearchWorkspace, depth: int) -> None:
        """Opponent number ``which`` plays until it is the learner's turn."""
        seats = vec.returns.shape[1]
        for i in range(len(vec.agent_seat)):
            if vec.opponents[i] != which:
                continue
            s = vec.states[i]
            seat = mover(s)
            while seat >= 0 and seat != vec.agent_seat[i]:
                copy_state(workspace.words, 0, vec_words, i)
                action, _, _ = best_action(workspace, seats, depth, _ALL_NODES, 1)
                play(s, action)
                seat = mover(s)

    return answer_alphabeta
