"""Alpha-beta between two sides, in compiled code with its own stack, so that it can pause after any node.

Principal variation search (null windows after the first move), a transposition table over the eight symmetries,
late-move reductions and pruning, reverse futility pruning, and searches on until a position is quiet. It is generic: a
game gives its ``Rules`` and its ``Evaluator``. Move ordering (killers, history) is in ``move_ordering.py``; iterative
deepening and deadlines are in ``iterative.py``.

Values are those of the side to move. Beyond ``DECIDED`` they are WIN minus the plies to a win, or the
negative of it: such a value is never a guess, because it comes from the ends of games alone. Any other value is
*exact* if all of the lines below it were followed to the end of the game. Pruning by static values gives values
between, which are never exact; without ``search.reductions`` nothing is pruned or reduced. Games of points are not
pruned: it made dots weaker.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ludodrome.game_spec import Evaluator, Network, Rules
from ludodrome.jit import Array, Int, Record, borrow, copy_state, kernel_of
from ludodrome.search.frames import (
    ADVANCE,
    BY_SCORE,
    DECIDED,
    DONE,
    ENTER,
    FUTILITY_DEPTH,
    FUTILITY_MARGIN,
    MAX_DEPTH,
    MAX_QUIESCENCE,
    NO_STATIC,
    NULL,
    PLIES,
    REDUCED,
    RETREAT,
    UNORDERED,
    WHOLE,
    WIN,
    aim,
    canonical,
    late,
    nearer,
    reduction,
    take,
)
from ludodrome.search.move_ordering import (
    MAX_SORTED_MOVES,
    SEARCHED,
    pick_best,
    rank,
    rank_places,
    store_killer,
    update_history,
)
from ludodrome.search.network import NETWORK_VARIANT, NetworkMemory, apply_changes, borrow_memory, output
from ludodrome.search.symmetry import INVERSE
from ludodrome.search.transposition_table import (
    LOWER,
    NO_MOVE_ID,
    UPPER,
    VALUE,
    bound_of,
    depth_of,
    expect,
    is_exact,
    move_id_of,
    pack,
    probe,
    store,
    value_of,
)


def make_static_value(rules: Rules, evaluator: Evaluator, network: Network | None) -> Callable[..., Any]:
    """The static value of the position at a ply for the side to move, by the evaluator or by the network."""
    legal, value = rules.legal, evaluator.value

    @kernel_of(legal, inline=True)
    def by_evaluator(states: Any, frames: Any, search: Record, net: NetworkMemory, ply: Int) -> Int:
        worth = value(states[ply], search.pov_seat)
        return worth if frames[ply].side == 0 else -worth

    if network is None:
        return by_evaluator
    list_changes, bucket, nothing = network.list_changes, network.bucket, network.num_features

    @kernel_of(legal, inline=True, variant=NETWORK_VARIANT)
    def by_network(states: Any, frames: Any, search: Record, net: NetworkMemory, ply: Int) -> Int:
        phase = bucket(states[ply])
        if phase < 0:
            return by_evaluator(states, frames, search, net, ply)
        source = ply
        while not frames[source].accumulated:  # the root's always is
            source -= 1
        while source < ply:  # ply by ply: sibling positions begin at the same accumulator
            count = list_changes(states[source], states[source + 1], net.removed, net.added)
            apply_changes(net, source + 1, source, count, nothing)
            source += 1
            frames[source].accumulated = 1
        base: Int = by_evaluator(states, frames, search, net, ply) if net.share[phase] else 0
        return output(net, ply, np.int64(frames[ply].side), phase, base)  # with two seats, a side is a seat

    return by_network


def make_alphabeta(rules: Rules, evaluator: Evaluator, network: Network | None = None) -> Callable[..., Any]:
    """The search kernel of one game; with a network, that is what judges positions."""
    legal, play, mover, winner = rules.legal, rules.play, rules.mover, rules.winner
    winning, in_check, evasions = evaluator.winning, evaluator.in_check, evaluator.evasions
    static_value = make_static_value(rules, evaluator, network)
    compiled = partial(kernel_of, legal, variant="" if network is None else NETWORK_VARIANT)
    move_context, move_score, gain, move_id, update_hash = (
        evaluator.move_context,
        evaluator.move_score,
        evaluator.gain,
        evaluator.move_id,
        evaluator.update_hash,
    )
    is_tactical = evaluator.is_tactical
    symmetries, by_points, has_no_tactics = evaluator.move_id_symmetries, evaluator.by_points, evaluator.has_no_tactics

    @compiled()
    def ended(s: Record, pov_seat: Int, side: Int) -> Int:
        """The value of a game that is over."""
        who = winner(s)
        if by_points or who < 0:
            return 0
        return WIN if (who == pov_seat) == (side == 0) else -WIN

    @compiled(inline=True)
    def look_up(states: Any, keys: Array, frames: Any, search: Record, table: Array, ply: Int) -> None:
        """Find the key of a position, so that the table can be asked soon."""
        update_hash(states[ply - 1], states[ply], keys, ply - 1)
        canonical(keys, frames, search, ply)
        expect(table, frames[ply].key)

    @compiled(inline=True)
    def known(frames: Any, search: Record, table: Array, ply: Int) -> Any:
        """Whether the table answers; else it may recommend a move."""
        f = frames[ply]
        word = probe(table, f.key)
        f.recommended = NO_MOVE_ID
        if word == np.uint64(0):
            return False
        stored = move_id_of(word)
        if stored != NO_MOVE_ID:
            f.recommended = symmetries[INVERSE[f.lane], stored]
        worth = value_of(word)
        exact = is_exact(word)
        if depth_of(word) < f.depth and (search.shortest or not exact):
            return False
        bound = bound_of(word)
        if bound == VALUE or (bound == LOWER and worth >= f.beta) or (bound == UPPER and worth <= f.alpha):
            search.value = worth
            search.exact = exact
            return True
        return False

    @compiled(inline=True)
    def futile(frames: Any, ply: Int) -> Any:
        """Whether a position is so good for its side that a null window is not worth a shallow search."""
        f = frames[ply]
        if f.beta - f.alpha > 1 or f.depth > FUTILITY_DEPTH or abs(np.int64(f.beta)) >= DECIDED:
            return False
        return f.static - FUTILITY_MARGIN * f.depth >= f.beta

    @compiled(inline=True)
    def bring(states: Any, moves: Array, frames: Any, ply: Int) -> None:
        """Put the recommended move first."""
        f = frames[ply]
        for i in range(f.count):
            action = moves[ply, i]
            if move_id(states[ply], np.int64(action)) == f.recommended:
                moves[ply, i] = moves[ply, 0]
                moves[ply, 0] = action
                return
        f.recommended = NO_MOVE_ID

    @compiled(inline=True)
    def order(states: Any, moves: Array, frames: Any, search: Record, ply: Int) -> None:
        """Give the moves that are left their scores."""
        f = frames[ply]
        s = states[ply]
        f.ordered = BY_SCORE
        ranks, history = f.ranks, search.history[f.side]
        begin, end = np.int64(f.next), np.int64(f.count)
        first, second = np.int64(f.killers[0]), np.int64(f.killers[1])
        for i in range(begin):
            ranks[i] = SEARCHED
        seen = move_context(s)
        for i in range(begin, end):
            action = np.int64(moves[ply, i])
            name = move_id(s, action)
            ranks[i] = rank(np.int64(history[name]), move_score(s, seen, action), name == first, name == second, i)
        for i in range(end, rank_places(end)):
            ranks[i] = SEARCHED

    @compiled(inline=True)
    def only_tactical(states: Any, moves: Array, ply: Int, count: Int) -> Int:
        """Keep the tactical moves; return their number."""
        kept = 0
        for i in range(count):
            action = moves[ply, i]
            if is_tactical(states[ply], np.int64(action)):
                moves[ply, kept] = action
                kept += 1
        return kept

    @compiled(inline=True)
    def enter(
        states: Any, keys: Array, moves: Array, frames: Any, search: Record, table: Array, net: NetworkMemory, ply: Int
    ) -> Any:
        """Judge a position at once: True, and the search has its value. Or else list its moves: False."""
        f = frames[ply]
        s = states[ply]
        search.nodes += 1
        f.length = 0
        search.exact = True
        keyed = f.depth > 0  # others are judged at once, as a rule, and need no key
        if keyed:
            look_up(states, keys, frames, search, table, ply)
        seat = mover(s)
        if seat < 0:
            search.value = ended(s, search.pov_seat, f.side)
            return True
        action = winning(s)
        if action >= 0:
            f.line[0] = action
            f.length = 1
            search.value = WIN - 1
            return True
        # With three seats, a threat of another opponent of the point-of-view seat does not count.
        enemy_next = f.side == 0 or (seat + 1) % search.seats == search.pov_seat
        threatened = enemy_next and in_check(s)
        if threatened:  # forced replies cost little, and nothing can be judged before they are made
            f.depth = max(f.depth, 0) + 1
        f.static = NO_STATIC
        if not threatened or ply >= PLIES - 1:
            f.static = static_value(states, frames, search, net, ply)
            f.improving = ply >= 2 and frames[ply - 2].side == f.side and f.static > frames[ply - 2].static
        if f.depth <= 0 or ply >= PLIES - 1:
            search.value = f.static
            search.exact = False
            if has_no_tactics or f.depth <= MAX_QUIESCENCE or search.value >= f.beta or ply >= PLIES - 1:
                return True
            f.best = search.value
            f.alpha = max(f.alpha, f.best)
            f.recommended = NO_MOVE_ID
        else:
            f.best = -WIN - 1
            if not keyed:
                look_up(states, keys, frames, search, table, ply)
            if known(frames, search, table, ply):
                return True
            if search.reductions and not by_points and not threatened and futile(frames, ply):
                search.value = f.static
                search.exact = False
                return True
        count = legal(s, moves[ply])
        if threatened:
            count = evasions(s, moves[ply], count)
            if count == 0:
                search.value = 2 - WIN
                search.exact = True
                return True
        elif f.depth <= 0:
            count = only_tactical(states, moves, ply, count)
            if count == 0:
                return True
            update_hash(states[ply - 1], s, keys, ply - 1)
        f.count = count
        f.next = 0
        f.exact = f.depth > 0
        f.ordered = UNORDERED
        f.reducible = search.reductions and not threatened
        f.best_action = -1
        if f.recommended != NO_MOVE_ID:  # as a rule it is good enough, and the others need no order
            bring(states, moves, frames, ply)
        return False

    @compiled(inline=True)
    def advance(states: Any, words: Array, moves: Array, frames: Any, search: Record, ply: Int) -> None:
        """Make the next move."""
        f = frames[ply]
        child = frames[ply + 1]
        if f.ordered == UNORDERED and (f.next > 0 or f.recommended == NO_MOVE_ID):
            order(states, moves, frames, search, ply)
        if f.ordered == BY_SCORE and f.next < MAX_SORTED_MOVES:
            pick_best(f.ranks, moves, ply, np.int64(f.next), np.int64(f.count))
        action = np.int64(moves[ply, f.next])
        copy_state(words, ply + 1, words, ply)
        before, after = states[ply], states[ply + 1]
        play(after, action)
        child.accumulated = 0
        f.gain = gain(before, after) if by_points else 0
        seat = mover(after)
        if seat < 0:
            child.side = 1 - f.side
        else:
            child.side = 0 if seat == search.pov_seat else 1
        f.stage = WHOLE
        if f.next > 0 and f.depth > 0:
            f.stage = NULL
            if (
                f.reducible
                and reduction(f.depth, f.next) > 0
                and not (not has_no_tactics and is_tactical(before, action))
            ):
                f.stage = REDUCED
        aim(frames, ply)

    @compiled(inline=True)
    def retreat(states: Any, moves: Array, frames: Any, search: Record, ply: Int) -> Any:
        """Take back the move in hand; False if it has to be searched once more, with more care."""
        f = frames[ply]
        worth = np.int64(search.value)
        if frames[ply + 1].side != f.side:
            worth = -worth
        worth = f.gain + nearer(worth)
        if f.stage == REDUCED and worth > f.alpha:
            f.stage = NULL
            aim(frames, ply)
            return False
        if f.stage == NULL and f.alpha < worth < f.beta:
            f.stage = WHOLE
            aim(frames, ply)
            return False
        action = np.int64(moves[ply, f.next])
        f.next += 1
        if worth > f.best:
            f.best = worth
            f.best_action = action
            take(frames, ply, action)
        if worth > f.alpha:
            f.alpha = worth
        if worth >= f.beta:
            f.exact = search.exact
            refute(states, moves, frames, search, ply)
            f.count = f.next
        else:
            f.exact = f.exact and search.exact
        return True

    @compiled(inline=True)
    def refute(states: Any, moves: Array, frames: Any, search: Record, ply: Int) -> None:
        """The last move was too good for the other side to let it happen: learn from it."""
        f = frames[ply]
        if f.depth <= 0:
            return
        s = states[ply]
        bonus: Int = min(np.int64(f.depth) * np.int64(f.depth), 400)
        last = f.next - 1
        name = move_id(s, np.int64(moves[ply, last]))
        store_killer(f.killers, name)
        history = search.history[f.side]
        update_history(history, name, bonus)
        for i in range(last):
            update_history(history, move_id(s, np.int64(moves[ply, i])), -bonus)

    @compiled(inline=True)
    def leave(states: Any, frames: Any, search: Record, table: Array, ply: Int) -> None:
        """All moves are done, or enough: the value of the position, into the table too."""
        f = frames[ply]
        search.value = f.best
        complete = f.next >= f.count  # no move was left out, or one was good enough
        search.exact = (f.exact and complete) or abs(np.int64(f.best)) > DECIDED
        if f.depth <= 0 or ply == 0:
            return
        bound = VALUE
        if f.best >= f.beta:
            bound = LOWER
        elif f.best <= f.floor:
            bound = UPPER
        name: Int = NO_MOVE_ID
        if f.best_action >= 0:
            name = np.int64(symmetries[f.lane, move_id(states[ply], np.int64(f.best_action))])
        depth = min(np.int64(f.depth), MAX_DEPTH)
        store(table, f.key, pack(np.int64(f.best), depth, bound, search.exact, search.generation, name))

    @compiled()
    def alphabeta(
        states: Any,
        words: Array,
        keys: Array,
        moves: Array,
        frames: Any,
        searches: Any,
        table: Array,
        net: NetworkMemory,
        limit: Int,
    ) -> Any:
        """Search until ``limit`` nodes have been visited in total; return whether it is done.

        states: (PLIES + 1,) records; words: the same memory; keys: (PLIES + 1, 8) uint64; moves: (PLIES, max_legal)
        int16; frames: (PLIES + 1,) of ``frame_dtype``; searches: (1,) of ``search_dtype``; table: see
        transposition_table.py; net: the network's memory, its first accumulator that of the root.
        """
        states, words, keys, moves = borrow(states), borrow(words), borrow(keys), borrow(moves)
        frames, searches, table = borrow(frames), borrow(searches), borrow(table)
        net = borrow_memory(net)
        search = searches[0]
        ply: Int = np.int64(search.ply)
        mode: Int = np.int64(search.mode)
        while search.nodes < limit and mode != DONE:
            if mode == ENTER:
                if enter(states, keys, moves, frames, search, table, net, ply):
                    mode = RETREAT
                    ply -= 1
                else:
                    mode = ADVANCE
            elif mode == RETREAT:
                if retreat(states, moves, frames, search, ply):
                    mode = ADVANCE
                else:
                    mode = ENTER
                    ply += 1
            elif frames[ply].next < frames[ply].count and (by_points or not late(frames, ply)):
                advance(states, words, moves, frames, search, ply)
                mode = ENTER
                ply += 1
            else:
                leave(states, frames, search, table, ply)
                mode = RETREAT if ply > 0 else DONE
                ply -= 1
        search.ply, search.mode = ply, mode
        return mode == DONE

    return alphabeta
