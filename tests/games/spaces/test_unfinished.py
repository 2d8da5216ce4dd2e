"""Unfinished boards: playable and not legal. Rounds worked out by hand, and kernel against oracle.

Ruling "two degrees of validity": the piece of an unfinished board stays where its last step leaves it, and a round ends
at the goal, on a collision, by a trap as the rule set says, or when both sequences are complete.
"""

import random
from collections import Counter
from typing import Any

import pytest

import ludodrome
from ludodrome import IllegalMove, spaces
from ludodrome.games.spaces.simulation import round_frames
from ludodrome.jit import COMPILED
from tests.games.spaces import oracle
from tests.games.spaces.boards import RUN, board, faults, squares
from tests.games.spaces.brute import best_by_force

pytestmark = pytest.mark.xdist_group("spaces")

RULES = ("written", "live")

Result = tuple[list[int], str, int]
"""Points, how it ended, how many steps it took."""

# Seat 0's board, seat 1's board, the result under `written`, the result under `live` if it differs.
# Seat 1 is rotated: on size 3 its start in column c is (0, 2 - c), up goes down the page, left goes right.
BY_HAND: dict[str, tuple[str, str, Result, Result | None]] = {
    "two starts and nothing else": ("3:0:", "3:0:", ([0, 0], "complete", 1), None),
    "two starts on the largest grid": ("100:0:", "100:99:", ([0, 0], "complete", 1), None),
    "one moves, one only starts": ("3:1:u", "3:0:", ([1, 0], "complete", 2), None),
    "one stops short of the other": ("3:1:u", "3:1:", ([1, 0], "complete", 2), None),
    "both stop on their last row": ("3:0:uu", "3:0:uu", ([2, 2], "complete", 3), None),
    "one goes on alone and does not finish": ("3:0:uu", "3:0:", ([2, 0], "complete", 3), None),
    "down and up again": ("3:0:udu", "3:0:", ([2, 0], "complete", 4), ([1, 0], "complete", 4)),
    "they trade squares": ("2:0:u", "2:1:u", ([1, 1], "complete", 2), None),
    "both last steps meet": ("3:1:u", "3:1:u", ([0, 0], "collision", 2), None),
    # run into a piece whose sequence is complete
    "into a piece at its start": ("3:1:uu", "3:1:", ([1, 0], "collision", 3), None),
    "a run that would finish is blocked": ("3:1:uuf", "3:1:", ([1, 0], "collision", 3), None),
    "into a piece that went aside": ("3:0:r", "3:1:uuf", ([0, 1], "collision", 3), None),
    "into a complete piece, both with a point": ("3:1:u", "3:1:5u", ([0, 0], "collision", 3), None),
    "a collision leaves no room for the trap of that step": ("5:2:uu5", "5:2:5uu", ([1, 1], "collision", 4), None),
    # one finishes
    "past a piece at its start": ("3:0:uuf", "3:1:", ([3, 0], "goal", 4), None),
    "the longer board is cut off": ("3:0:uuf", "3:1:lrlrlr", ([3, 0], "goal", 4), None),
    "the finish and a last step at once": ("3:0:uuf", "3:0:uu5", ([3, 2], "goal", 4), None),
    "the finish and a hit at once": ("2:0:6uf", "2:0:55u", ([2, 0], "goal", 4), None),
    "past the trap of a complete board": ("3:1:8", "3:0:uuf", ([0, 3], "goal", 4), None),
    # the traps of a complete board stay
    "onto the trap of a complete board": ("3:1:8", "3:1:5uuf", ([0, 0], "trap", 3), ([0, 0], "complete", 3)),
    "onto a trap set in the last step": ("3:1:8", "3:1:uuf", ([0, 0], "trap", 2), ([0, 0], "complete", 2)),
    "an own trap underfoot at the end": ("3:1:5", "3:0:", ([0, 0], "complete", 2), None),
    # traps set after the end of the other's sequence
    "a trap under a complete piece": ("3:0:u", "3:2:58", ([0, 0], "trap", 3), ([0, 0], "complete", 3)),
    "a trap under a complete piece, then the goal": ("3:0:u", "3:2:58luuf", ([0, 0], "trap", 3), ([0, 3], "goal", 7)),
    "a trap long after the end": ("4:0:uu", "4:3:5558", ([1, 0], "trap", 5), ([1, 0], "complete", 5)),
    "hit once, though trapped twice": ("4:0:uu", "4:3:588", ([1, 0], "trap", 3), ([1, 0], "complete", 4)),
    "nothing to lose": ("3:0:", "3:2:u8", ([0, 1], "trap", 3), ([0, 1], "complete", 3)),
    "traps where nobody stands": ("3:0:u", "3:0:555", ([1, 0], "complete", 4), None),
    # stopped pieces
    "both hit in their last step": ("3:0:u6", "3:1:u6", ([0, 0], "trap", 3), None),
    "one hit in its last step": ("3:0:u6", "3:1:u5", ([1, 0], "trap", 3), ([1, 0], "complete", 3)),
    "one stopped, one goes on to its end": ("3:0:u6u", "3:1:u5uf", ([1, 0], "trap", 3), ([2, 0], "complete", 4)),
    "a stopped piece is run into": ("3:1:8u", "3:1:uu", ([0, 0], "trap", 2), ([0, 0], "collision", 3)),
    "a stopped piece is run into for a point": ("4:1:u8u", "4:2:5u", ([1, 0], "trap", 3), ([1, 0], "collision", 4)),
    "the trap of a stopped piece bites": ("3:2:u4u", "3:1:4u", ([1, 0], "trap", 3), ([1, 0], "trap", 4)),
}


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("name", BY_HAND)
def test_rounds_worked_out_by_hand(name: str, rules: str) -> None:
    a, b, written, live = BY_HAND[name]
    expected = live if rules == "live" and live is not None else written
    size = int(a.partition(":")[0])
    for swapped in (False, True):  # R18: swap the boards, and the points swap
        boards = [board(b), board(a)] if swapped else [board(a), board(b)]
        points = expected[0][::-1] if swapped else expected[0]
        round_ = spaces.simulate(boards[0], boards[1], size, rules)
        assert (round_.points, round_.ended, len(round_.steps)) == (points, *expected[1:])
        assert oracle.simulate(boards[0], boards[1], size, rules) == (points, expected[1])
        own, other = spaces.simulate_matrix([board(a), boards[0]], [boards[1], board(b)], size, rules)
        assert [own[1, 0], other[1, 0]] == points


def test_there_are_enough_rounds_by_hand() -> None:
    assert len(BY_HAND) >= 30
    assert Counter(written[1] for _, _, written, _ in BY_HAND.values()).keys() == {
        "goal",
        "collision",
        "trap",
        "complete",
    }


@pytest.mark.parametrize("rules", RULES)
def test_kernel_and_oracle_agree_on_rounds_with_unfinished_boards(rules: str) -> None:
    rng = random.Random(f"unfinished {rules}")
    ends: Counter[str] = Counter()
    for _ in range(2_000 if COMPILED else 150):
        size = rng.choice([2, 3, 3, 4, 5, 7])
        other = rng.choice([oracle.random_unfinished, oracle.random_legal, oracle.random_playable])
        pair = [oracle.random_unfinished(size, rules, rng), other(size, rules, rng)]
        rng.shuffle(pair)
        assert not any(spaces.check_playable(one, size, rules) for one in pair)
        expected = oracle.simulate(pair[0], pair[1], size, rules)
        round_ = spaces.simulate(pair[0], pair[1], size, rules)
        assert (round_.points, round_.ended) == expected, [spaces.encode_board(one) for one in pair]
        own, others = spaces.simulate_matrix([pair[0]], [pair[1]], size, rules)
        assert [int(own[0, 0]), int(others[0, 0])] == expected[0]
        ends[round_.ended] += 1
    if COMPILED:
        assert min(ends[word] for word in ("goal", "collision", "trap", "complete")) >= 50, ends


@pytest.mark.parametrize("rules", RULES)
def test_a_matrix_of_finished_and_unfinished_boards(rules: str) -> None:
    rng = random.Random(7)
    make = [oracle.random_unfinished, oracle.random_legal, oracle.random_playable]
    lists = [[rng.choice(make)(4, rules, rng) for _ in range(12)] for _ in range(2)]
    own, other = spaces.simulate_matrix(lists[0], lists[1], 4, rules)
    packed = [spaces.Packed(boards, 4, rules) for boards in lists]
    assert (spaces.simulate_matrix(packed[0], packed[1], 4, rules)[0] == own).all()
    for i, a in enumerate(lists[0]):
        for j, b in enumerate(lists[1]):
            assert oracle.simulate(a, b, 4, rules)[0] == [own[i, j], other[i, j]]


def test_a_complete_side_is_shown_where_it_stands() -> None:
    round_ = spaces.simulate(board("3:0:u"), board("3:2:58luuf"), 3, "live")
    assert [step.did[0] for step in round_.steps] == ["start 0", "up", "complete", *["stopped"] * 4]
    assert {step.squares[0] for step in round_.steps[1:]} == {(1, 0)}
    assert [event.reason for event in round_.steps[2].events] == ["seat 0 is caught by seat 1's trap at (1,0): -1"]
    assert len(round_frames(round_, 3)) == 7


# Playable and legal


@pytest.mark.parametrize("rules", RULES)
def test_an_unfinished_board_is_playable_and_not_legal(rules: str) -> None:
    for code in ("3:1:", "3:1:u", "3:1:uu", "3:1:ulrdu", "3:0:5"):
        assert spaces.check_playable(board(code), 3, rules) == []
        assert (len(board(code)["sequence"]), "R6") in faults(code, rules)
        assert oracle.playable(board(code), 3, rules)
        assert [layer.passed for layer in spaces.validate(board(code), 3, rules)][-1] is True
    for wrong, rule in (
        (board("3:0:4"), "R5"),
        (board("3:0:l"), "R4"),
        (board("3:1:uf"), "R6"),
        (board("3:1:uuff"), "R6"),
        (board("3:1:" + "5" * 36), "R7"),
        (squares(3, "p1,1 p0,1"), "R3"),
        ({"boardSize": 3, "sequence": []}, "R2"),
    ):
        assert [fault.rule for fault in spaces.check_playable(wrong, 3, rules)] == [rule]
        assert not oracle.playable(wrong, 3, rules)
        with pytest.raises(IllegalMove, match=rf"^the board of seat 0: .*\({rule}\)"):
            spaces.simulate(wrong, board(RUN), 3, rules)


@pytest.mark.parametrize("rules", RULES)
def test_playable_means_the_same_to_both(rules: str) -> None:
    rng = random.Random(5)
    verdicts: Counter[bool] = Counter()
    for _ in range(400):
        one = oracle.random_unfinished(3, rng.choice(RULES), rng)
        step = rng.choice(one["sequence"])
        if rng.random() < 0.5:
            step["position"]["row"] += rng.choice([-1, 1])
        playable = not spaces.check_playable(one, 3, rules)
        assert playable == oracle.playable(one, 3, rules)
        assert [(fault.step, fault.rule) for fault in spaces.check(one, 3, rules)] == oracle.faults(one, 3, rules)
        verdicts[playable] += 1
    assert min(verdicts.values()) >= 50


def test_a_match_and_a_deck_need_finished_boards() -> None:
    game = ludodrome.make("spaces")
    state = game.initial_state()
    with pytest.raises(IllegalMove, match=r"^step 2: .*without reaching the goal \(R6\)"):
        game.apply(state, board("3:1:u"))
    with pytest.raises(IllegalMove, match=r"\(R6\)"):
        game.parse_move("3:1:u", state)
    decks = ludodrome.make("spaces", mode="deck")
    deck: dict[str, Any] = {"deck": [*[board(RUN)] * 9, board("3:1:uu")]}
    with pytest.raises(IllegalMove, match=r"^board 10: step 3: .*\(R6\)"):
        decks.apply(decks.initial_state(), deck)


def test_codes_of_unfinished_boards() -> None:
    for code in ("3:1:", "3:1:u6", "100:99:uuul5"):
        assert spaces.encode_board(board(code)) == code
        assert oracle.decode_code(code) == board(code)
        assert spaces.draw_board(board(code))
        assert spaces.box_board(board(code))
        assert spaces.board_svg(board(code))


# Answers


@pytest.mark.parametrize(("size", "rules"), [(2, "written"), (2, "live"), (3, "live")])
def test_the_best_answer_to_an_unfinished_board(size: int, rules: str) -> None:
    rng = random.Random(11)
    asked = [oracle.random_unfinished(size, rules, rng) for _ in range(40 if COMPILED else 4)]
    waiting = spaces.Packed(asked, size, rules).waiting(4 * size * size + 1)
    _, margins, points = best_by_force(waiting, size, rules)
    for one, margin, most in zip(asked, margins, points, strict=True):
        found = spaces.respond(one, size, rules)
        assert (found.margin, found.proven) == (margin, True), spaces.encode_board(one)
        assert spaces.simulate(found.board, one, size, rules).points == list(found.points)
        assert spaces.respond(one, size, rules, objective="points").points[0] == most


def test_a_mixture_has_finished_boards() -> None:
    with pytest.raises(IllegalMove, match=r"^board 1: it is unfinished"):
        spaces.respond_to_mixture([board(RUN), board("3:1:u")], [1, 1], 3)
