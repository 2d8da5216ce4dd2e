"""Checks for the evaluators of both tower games, against the rules alone."""

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

import ludodrome
from ludodrome.jit import COMPILED, as_words
from ludodrome.search.symmetry import INVERSE, SYMMETRIES, cell_turns

NAMES = [row + column for row in "ABCDE" for column in "12345"]
TURNS = cell_turns(5, 5)
BLANK_ROWS = "/".join(["00000"] * 5)


def enough(compiled: int, plain: int) -> int:
    """How many examples; without compilation a few must do."""
    return compiled if COMPILED else plain


def states_of(game: ludodrome.Game, line: str) -> Any:
    """An array of one record."""
    return game.codec.parse_line(line, game.options)


def walks(game: ludodrome.Game, count: int, seed: int, start: Any = None) -> Iterator[Any]:
    """The running positions of random games, each an array of its own."""
    rng = random.Random(seed)
    for _ in range(count):
        states = game.new_states(1)
        as_words(states)[:] = as_words(states_of(game, game.format_state(start or game.initial_state())))
        while actions := legal(game, states):
            yield copied(game, states)
            game.kernels.play(states, rng.choice(actions))


def heights_of(rng: random.Random) -> list[int]:
    """Heights with many possible climbs."""
    return rng.choices(range(5), weights=[3, 4, 6, 6, 3], k=25)


def built_positions(game: ludodrome.Game, count: int, seed: int, plies: tuple[int, ...]) -> Iterator[Any]:
    """Running positions with random high towers and workers anywhere."""
    rng = random.Random(seed)
    made = 0
    while made < count:
        heights = heights_of(rng)
        grounds = [cell for cell in range(25) if heights[cell] <= 2]
        if len(grounds) < 2 * game.seats:
            continue
        rng.shuffle(grounds)
        workers = ["".join(NAMES[cell] for cell in grounds[2 * seat : 2 * seat + 2]) for seat in range(game.seats)]
        states = states_of(game, line_of(heights, workers, rng.choice(plies)))
        if game.kernels.mover(states) >= 0:
            made += 1
            yield states


def line_of(heights: list[int], workers: list[str], ply: int) -> str:
    rows = "/".join("".join(map(str, heights[row : row + 5])) for row in range(0, 25, 5))
    return " ".join([rows, *workers, str(ply)])


def turned_line(line: str, symmetry: int) -> str:
    """The same position on a board that a symmetry has turned."""
    rows, *groups, ply = line.split()
    digits = rows.replace("/", "")
    heights = [0] * 25
    for cell in range(25):
        heights[TURNS[symmetry, cell]] = int(digits[cell])
    workers = [
        "-" if group == "-" else "".join(NAMES[TURNS[symmetry, NAMES.index(group[at : at + 2])]] for at in (0, 2))
        for group in groups
    ]
    if int(ply) < 2:  # placed workers stand in the order of their cells
        workers = ["".join(sorted([group[:2], group[2:]])) if len(group) == 4 else group for group in workers]
    return line_of(heights, workers, int(ply))


def swapped_line(line: str, seat: int) -> str:
    """The same position with the two workers of a seat changing places."""
    parts = line.split()
    parts[1 + seat] = parts[1 + seat][2:] + parts[1 + seat][:2]
    return " ".join(parts)


def copied(game: ludodrome.Game, states: Any) -> Any:
    copy = game.new_states(1)
    as_words(copy)[:] = as_words(states)
    return copy


def legal(game: ludodrome.Game, states: Any) -> list[int]:
    buffer = game.buffer()
    return [int(action) for action in buffer[: game.kernels.legal(states, buffer)]]


def after(game: ludodrome.Game, states: Any, action: int) -> Any:
    copy = copied(game, states)
    game.kernels.play(copy, action)
    return copy


def updated_keys(game: ludodrome.Game, before: Any, then: Any, keys: Any) -> Any:
    """The keys after a change, from those before."""
    pair = game.new_states(2)
    as_words(pair)[0], as_words(pair)[1] = as_words(before)[0], as_words(then)[0]
    rows = np.zeros((2, SYMMETRIES), np.uint64)
    rows[0] = keys
    kernels: Any = game.kernels
    kernels.update_hash(pair, rows)
    return rows[1]


def keys_of(game: ludodrome.Game, states: Any) -> Any:
    """The keys of a position, from scratch."""
    return updated_keys(game, np.zeros(1, game.dtype), states, np.zeros(SYMMETRIES, np.uint64))


def values(game: ludodrome.Game, states: Any) -> list[int]:
    kernels: Any = game.kernels
    return [int(kernels.value(states, seat)) for seat in range(game.seats)]


def check_symmetry(game: ludodrome.Game, states: Any) -> None:
    """A turned position has the same values and the same keys in another order; so have swapped workers."""
    line = game.codec.format_line(states[0])
    keys, worth = keys_of(game, states), values(game, states)
    for symmetry in range(SYMMETRIES):
        turned = states_of(game, turned_line(line, symmetry))
        assert values(game, turned) == worth
        turned_keys = keys_of(game, turned)
        assert turned_keys[0] == keys[symmetry]
        assert sorted(turned_keys) == sorted(keys)
    for seat in range(game.seats):
        if game.kernels.turns(states) >= 2:
            swapped = states_of(game, swapped_line(line, seat))
            assert values(game, swapped) == worth
            assert list(keys_of(game, swapped)) == list(keys)


def check_keys_along(game: ludodrome.Game, seed: int) -> None:
    """Keys that are changed ply by ply are those from scratch, to the end of the game and beyond one seat's turn."""
    before, keys = None, None
    for states in walks(game, 1, seed):
        keys = keys_of(game, states) if before is None else updated_keys(game, before, states, keys)
        assert list(keys) == list(keys_of(game, states))
        before = states


def wins(game: ludodrome.Game, states: Any, reason: int) -> list[int]:
    """The actions with which the seat to move wins at once for that reason."""
    seat = game.kernels.mover(states)
    found = []
    for action in legal(game, states):
        then = after(game, states, action)
        if game.kernels.winner(then) == seat and then["reason"][0] == reason:
            found.append(action)
    return found


def check_threats(game: ludodrome.Game, positions: Iterator[Any], most: int) -> set[str]:
    """Check winning, in_check and evasions against the rules, each case at most ``most`` times; return those met."""
    met: Counter[str] = Counter()
    for states in positions:
        case = threat_case(game, states)
        met[case] += 1
        if met[case] > most:
            continue
        climbs = wins(game, states, reason=1)
        assert (case == "winning") == bool(climbs)
        if climbs:
            kernels: Any = game.kernels
            assert kernels.winning(states) in climbs
            continue
        passed = copied(game, states)
        passed["ply"] += 1
        assert (case != "calm") == bool(wins(game, passed, reason=1))
        if case != "calm":
            actions = legal(game, states)
            assert narrowed(game, states) == [
                action for action in actions if not wins(game, after(game, states, action), reason=1)
            ]
    return set(met)


def narrowed(game: ludodrome.Game, states: Any) -> list[int]:
    buffer = game.buffer()
    kernels: Any = game.kernels
    return [int(action) for action in buffer[: kernels.evasions(states, buffer, kernels.legal(states, buffer))]]


def threat_case(game: ludodrome.Game, states: Any) -> str:
    """The evaluator's answers for a position."""
    kernels: Any = game.kernels
    if kernels.winning(states) >= 0:
        return "winning"
    if not kernels.in_check(states):
        return "calm"
    return "saved" if narrowed(game, states) else "lost"


def check_move_ids(game: ludodrome.Game, states: Any, symmetries: Any) -> None:
    """No two legal actions share a move id, and move ids follow the symmetries of the board."""
    kernels: Any = game.kernels
    actions = legal(game, states)
    move_ids = [int(kernels.move_id(states, action)) for action in actions]
    assert len(set(move_ids)) == len(move_ids)
    assert max(move_ids) < symmetries.shape[1]
    line = game.codec.format_line(states[0])
    for symmetry in range(SYMMETRIES):
        turned = states_of(game, turned_line(line, symmetry))
        found = {int(kernels.move_id(turned, action)): action for action in legal(game, turned)}
        assert sorted(found) == sorted(symmetries[symmetry, move_ids])
        for move_id, action in list(zip(move_ids, actions, strict=True))[::7]:
            there = after(game, turned, found[int(symmetries[symmetry, move_id])])
            here = turned_line(game.codec.format_line(after(game, states, action)[0]), symmetry)
            assert list(keys_of(game, there)) == list(keys_of(game, states_of(game, here)))


def check_inverses(symmetries: Any, move_ids: int) -> None:
    """A symmetry and its inverse map a move id to itself."""
    assert symmetries.shape == (SYMMETRIES, move_ids)
    assert symmetries.dtype == np.uint16
    assert list(symmetries[0]) == list(range(move_ids))
    for symmetry in range(SYMMETRIES):
        assert list(symmetries[INVERSE[symmetry]][symmetries[symmetry]]) == list(range(move_ids))
