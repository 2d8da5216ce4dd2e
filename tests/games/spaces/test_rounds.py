"""The rules of spaces about rounds and matches, on concrete boards. Rulings are named in the docstrings."""

from typing import Any

import pytest

import ludodrome
from ludodrome import IllegalMove, spaces
from tests.games.spaces.boards import RUN, board, faults, lay, legal, played, reasons

pytestmark = pytest.mark.xdist_group("spaces")

BOTH = pytest.mark.parametrize("rules", ["written", "live"])


# A round


def test_r18_the_second_board_is_rotated() -> None:
    round_ = spaces.simulate(board("3:0:uuf"), board("3:0:uuf"), 3)
    assert [step.squares for step in round_.steps] == [
        [(2, 0), (0, 2)],
        [(1, 0), (1, 2)],
        [(0, 0), (2, 2)],
        [(-1, 0), (3, 2)],
    ]
    trap = spaces.simulate(board(RUN), board("3:0:6uuf"), 3).steps[1]
    assert trap.traps == [None, (0, 1)]
    assert trap.did == ["up", "trap right"]


@BOTH
def test_r18_swapping_the_boards_swaps_the_points(rules: str) -> None:
    codes = ["3:1:u6uf", "3:0:5uuf", RUN, "3:0:uuf", "3:2:l5uuf", "3:0:8ruuf"]
    for a in codes:
        for b in codes:
            points, ended = played(a, b, rules)
            assert played(b, a, rules) == (points[::-1], ended)


@BOTH
def test_r19_both_act_before_anything_is_judged(rules: str) -> None:
    """Ruling: a trap works in the step in which it is set, whichever came first."""
    given = reasons("3:1:u6uf", "3:0:5uuf", rules)
    assert given[:3] == [
        "seat 0 moves forward to row 1: +1",
        "seat 1 moves forward to row 1: +1",
        "seat 1 is caught by seat 0's trap at (1,2): -1",
    ]


def test_r19_a_collision_comes_before_traps() -> None:
    # both come to (2,2), which holds a trap of seat 0: each loses 1 of 2, not seat 1 both
    assert played("5:2:u8uuuf", "5:2:u1uuuf") == ([1, 1], "collision")


def test_r20_every_step_up_and_the_finish_earn_1() -> None:
    """Ruling: under live only a row nearer to the goal than ever before scores."""
    idle = "3:0:5555555uuf"
    assert played("3:1:uuf", idle) == ([3, 0], "goal")
    assert played("3:1:luuf", idle) == ([3, 0], "goal")
    assert played("3:1:uduuf", idle) == ([4, 0], "goal")
    assert played("3:1:uduuf", idle, "live") == ([3, 0], "goal")
    assert played("3:1:lurduuf", idle) == ([4, 0], "goal")
    assert played("3:1:lurduuf", idle, "live") == ([3, 0], "goal")


def test_r20_no_score_falls_below_0() -> None:
    """Ruling: scores never fall below 0, and nothing is owed."""
    assert played("2:0:ruf", "2:0:8uf") == ([0, 0], "trap")
    assert reasons("2:0:ruf", "2:0:8uf") == ["seat 0 is caught by seat 1's trap at (1,1): 0, it has nothing to lose"]
    # seat 0 loses again when seat 1 runs into it there, and seat 1 loses what it has just earned
    assert played("2:0:ruf", "2:0:8uf", "live") == ([0, 0], "collision")


@BOTH
def test_r21_a_collision_costs_both_1_and_ends_the_round(rules: str) -> None:
    assert played(RUN, RUN, rules) == ([0, 0], "collision")
    round_ = spaces.simulate(board("5:2:uuuuf"), board("5:2:uuuuf"), 5, rules)
    assert (round_.points, round_.ended, len(round_.steps)) == ([1, 1], "collision", 3)
    assert [event.points for event in round_.steps[-1].events] == [1, 1, -1, -1]


@BOTH
def test_r21_passing_through_is_no_collision(rules: str) -> None:
    """Ruling: two pieces that trade squares do not collide."""
    assert played("2:0:uf", "2:1:uf", rules) == ([2, 2], "goal")


def test_r21_a_stopped_piece_can_be_run_into() -> None:
    """Ruling: the stopped piece stays on its square, and both lose 1."""
    assert faults("5:2:u8uuuf", "live") == [(4, "R16")]  # between legal boards it cannot happen
    assert played("5:2:u8uuuf", "5:2:uuuuf", "live") == ([1, 0], "collision")
    assert played("5:2:u8uuuf", "5:2:uuuuf", "written") == ([1, 1], "trap")


def test_r22_a_trap_hit_costs_1() -> None:
    """Ruling: under written it ends the round for both, under live it stops the piece that was hit."""
    assert played("3:1:u6uf", "3:0:5uuf", "written") == ([1, 0], "trap")
    assert played("3:1:u6uf", "3:0:5uuf", "live") == ([3, 0], "goal")
    steps = spaces.simulate(board("3:1:u6uf"), board("3:0:5uuf"), 3, "live").steps
    assert [step.did[1] for step in steps] == ["start 0", "trap here", "up", "stopped", "stopped"]
    assert [step.squares[1] for step in steps[2:]] == [(1, 2)] * 3
    assert [step.traps[1] for step in steps[3:]] == [None, None]


def test_r22_both_may_be_hit_in_one_step() -> None:
    for rules in ("written", "live"):
        assert played("4:1:u8luuf", "4:2:u8luuf", rules) == ([0, 0], "trap")


def test_r22_a_square_trapped_twice_costs_1_all_the_same() -> None:
    # seat 1 steps onto (2,2) in step 5 with 2 points, and seat 0 has trapped it once, or twice
    assert played("5:2:u8lluuuf", "5:2:u11uuuf") == ([1, 1], "trap")
    assert played("5:2:u88luuuf", "5:2:u11uuuf") == ([1, 1], "trap")


def test_r22_own_traps_do_no_harm() -> None:
    """Ruling: one's own traps never harm oneself, and a piece at the goal is out of their reach."""
    assert played("3:1:8uuf", "3:0:55555uuf") == ([3, 0], "goal")
    assert played("3:1:5uuf", "3:0:55555uuf") == ([3, 0], "goal")


def test_r22_traps_of_a_stopped_piece_still_bite() -> None:
    # seat 0 is stopped in step 3; in step 4 seat 1 steps on the trap that seat 0 had set in step 2
    assert legal("3:1:4uuf", "live")
    assert legal("3:2:u4uf", "live")
    assert played("3:1:4uuf", "3:2:u4uf", "live") == ([0, 1], "trap")
    assert played("3:1:4uuf", "3:2:u4uf", "written") == ([0, 1], "trap")
    assert len(spaces.simulate(board("3:1:4uuf"), board("3:2:u4uf"), 3, "written").steps) == 3


@BOTH
def test_r23_the_first_at_the_goal_ends_the_round(rules: str) -> None:
    """Ruling: boards of different lengths need nothing more."""
    round_ = spaces.simulate(board("3:0:uuf"), board("3:0:5ruluf" if rules == "written" else "3:0:5ruuf"), 3, rules)
    assert len(round_.steps) == 4
    assert round_.ended == "goal"


@BOTH
def test_r23_both_may_finish_in_one_step_and_both_score(rules: str) -> None:
    assert played("3:0:uuf", "3:0:uuf", rules) == ([3, 3], "goal")


def test_r23_goal_outranks_trap() -> None:
    """Ruling: goal is the word for a round in which somebody is hit while the other finishes."""
    assert played("2:0:6uf", "2:0:85uf") == ([2, 0], "goal")
    assert "seat 1 steps on seat 0's trap at (1,1): -1" in reasons("2:0:6uf", "2:0:85uf")


def test_r23_the_worked_example_is_3_to_3() -> None:
    """Ruling: the rules win over the example, which was published as 3 to 1."""
    for rules in ("written", "live"):
        round_ = spaces.simulate(board("3:1:uu4f"), board("3:0:u6uf"), 3, rules)
        assert (round_.points, round_.ended) == ([3, 3], "goal")
        assert [step.points for step in round_.steps] == [[0, 0], [1, 1], [2, 1], [2, 2], [3, 3]]
        assert [step.traps for step in round_.steps] == [
            [None, None],
            [None, None],
            [None, (1, 1)],
            [(0, 0), None],
            [None, None],
        ]


# The match


def test_r24_the_first_chooser_alternates() -> None:
    game = ludodrome.make("spaces", rounds=3)
    seats, rounds = [], []
    state = game.initial_state()
    while (seat := game.to_move(state)) is not None:
        seats.append(seat)
        rounds.append(state["round"])
        state = game.apply(state, board("3:0:uuf" if seat == 0 else "3:0:5uuf"))
    assert seats == [0, 1, 1, 0, 0, 1]
    assert rounds == [1, 1, 2, 2, 3, 3]
    assert [entry["boards"][0] for entry in state["history"]] == [board("3:0:uuf")] * 3
    assert [entry["points"] for entry in state["history"]] == [[3, 2]] * 3
    assert state["totals"] == [9, 6]
    assert state["round"] == 3


def test_r24_all_rounds_are_played() -> None:
    """Ruling: even when the match is decided before."""
    game = ludodrome.make("spaces", rounds=3)
    state = lay(game, "3:0:uuf", "3:0:5uuf", "3:0:5uuf", "3:0:uuf")
    assert state["totals"] == [6, 4]
    assert game.outcome(state) is None
    assert game.to_move(state) == 0


DECK = ",".join(["3:1:uuf", "3:1:u6uf"] + ["3:0:uuf"] * 8)
OTHER = ",".join(["3:0:5uuf"] * 9 + ["3:1:uuf"])


def test_r25_decks_meet_in_all_pairings() -> None:
    """Ruling: repeats allowed; 100 games in row order; cumulative score; rounds is 1."""
    game = ludodrome.make("spaces", mode="deck")
    assert game.options["rounds"] == 1
    state = lay(game, DECK, OTHER)
    history = state["history"]
    assert len(history) == 100
    own, other = DECK.split(","), OTHER.split(",")
    for index, entry in enumerate(history):
        a, b = own[index // 10], other[index % 10]
        assert entry["boards"] == [board(a), board(b)]
        assert (entry["points"], entry["ended"]) == played(a, b)
    assert state["totals"] == [sum(entry["points"][seat] for entry in history) for seat in (0, 1)]
    assert state["to_move"] is None
    assert state["chosen"] is None


def test_r25_a_deck_is_ten_legal_boards() -> None:
    game = ludodrome.make("spaces", mode="deck")
    state = game.initial_state()
    ten = [board(RUN)] * 10
    assert game.is_legal(state, {"deck": ten})
    for wrong in ({"deck": ten[:9]}, {"deck": [*ten, ten[0]]}, board(RUN), ten, {"deck": ten, "name": ""}):
        assert not game.is_legal(state, wrong)
    with pytest.raises(IllegalMove, match=r"^board 4: step 4: .*\(R12\)"):
        game.apply(state, {"deck": [*ten[:3], board("3:1:uu4f"), *ten[:6]]})
    with pytest.raises(ValueError, match="rounds"):
        ludodrome.make("spaces", mode="deck", rounds=5)
    assert ludodrome.make("spaces", mode="deck", rounds=1).options["rounds"] == 1


@pytest.mark.parametrize(
    ("options", "codes", "hidden"),
    [
        ({}, [RUN], False),
        ({"choice": "blind"}, [RUN], True),
        ({"choice": "blind"}, [RUN, RUN, RUN], True),
        ({"mode": "deck"}, [DECK], True),
        ({"mode": "deck", "choice": "blind"}, [DECK], True),
    ],
)
def test_r26_what_is_laid_first_may_be_face_down(options: dict[str, Any], codes: list[str], hidden: bool) -> None:
    """Ruling: deck mode hides by itself; past rounds are public."""
    game = ludodrome.make("spaces", **options)
    state = lay(game, *codes)
    answering = game.to_move(state)
    assert answering is not None
    assert state["chosen"] is not None
    assert game.observation(state, 1 - answering) == state
    for seat in (answering, None):
        assert game.observation(state, seat) == ({**state, "chosen": None} if hidden else state)
    following = game.apply(state, game.parse_move(codes[-1], state))
    for seat in (0, 1, None):
        assert game.observation(following, seat) == following


def test_r27_the_higher_total_wins() -> None:
    game = ludodrome.make("spaces", rounds=1)
    for codes, winner in ((["3:0:uuf", "3:0:5uuf"], 0), (["3:0:5uuf", "3:0:uuf"], 1)):
        state = lay(game, *codes)
        outcome = game.outcome(state)
        assert outcome is not None
        assert (outcome.winner, outcome.reason) == (winner, "higher total")
        assert outcome.scores == ([3.0, 2.0] if winner == 0 else [2.0, 3.0])
        assert outcome.returns == ([1.0, -1.0] if winner == 0 else [-1.0, 1.0])
        assert (state["winner"], state["reason"], state["to_move"]) == (winner, "higher total", None)


def test_r27_equal_totals_are_a_draw() -> None:
    game = ludodrome.make("spaces", rounds=2)
    state = lay(game, "3:0:uuf", "3:0:5uuf", "3:0:uuf", "3:0:5uuf")
    outcome = game.outcome(state)
    assert outcome is not None
    assert (outcome.winner, outcome.reason) == (None, "equal totals")
    assert (outcome.scores, outcome.returns) == ([5.0, 5.0], [0.0, 0.0])
    assert state["winner"] is None
    assert game.legal_moves(state) == []
    with pytest.raises(IllegalMove, match="over"):
        game.apply(state, board(RUN))
