"""The rules of spaces about boards, on concrete ones. Rulings are named in the docstrings.

Rounds and matches, R18 to R27, are in test_rounds.py.
"""

import re
from typing import Any

import pytest

import ludodrome
from ludodrome import IllegalMove, spaces
from tests.games.spaces.boards import RUN, board, faults, lay, legal, played, squares, words

pytestmark = pytest.mark.xdist_group("spaces")

BOTH = pytest.mark.parametrize("rules", ["written", "live"])


# What can be played at all


@pytest.mark.parametrize("size", [2, 3, 10, 11, 100])
@BOTH
def test_r1_grids_from_2_to_100(size: int, rules: str) -> None:
    straight = f"{size}:{size - 1}:{'u' * (size - 1)}f"
    assert legal(straight, rules)
    game = ludodrome.make("spaces", size=size, rules=rules, rounds=1)
    assert lay(game, straight)["chosen"] == board(straight)


@pytest.mark.parametrize("size", [-1, 0, 1, 101, 10**9, True, 3.0, "3", None])
def test_r1_no_other_sizes(size: Any) -> None:
    with pytest.raises(ValueError, match="size"):
        ludodrome.make("spaces", size=size)
    with pytest.raises(ValueError, match="size"):
        spaces.check(board(RUN), size)


def test_r1_the_goal_is_not_inside() -> None:
    assert (4, "R4") in faults(squares(3, "p2,1 p1,1 p0,1 p-1,1"))
    assert (4, "R5") in faults(squares(3, "p2,1 p1,1 p0,1 t-1,1 f-1,1"))


def test_r2_the_orders_count_from_1_without_gaps() -> None:
    for orders in ([1, 2, 4, 5], [0, 1, 2, 3], [1, 2, 2, 3], [1, 2, 3, True]):
        wrong = board(RUN)
        for step, order in zip(wrong["sequence"], orders, strict=True):
            step["order"] = order
        assert faults(wrong) == [(0, "R2")]
    assert faults(RUN) == []


@pytest.mark.parametrize(
    "damage",
    [
        lambda it: it.update(boardSize=4),
        lambda it: it.update(boardSize=3.0),
        lambda it: it.update(sequence=[]),
        lambda it: it.update(sequence={}),
        lambda it: it.pop("boardSize"),
        lambda it: it.update(name="mine"),
        lambda it: it["sequence"][1].pop("type"),
        lambda it: it["sequence"][1].update(type="jump"),
        lambda it: it["sequence"][1].update(type=None),
        lambda it: it["sequence"][1].update(colour=1),
        lambda it: it["sequence"][1].update(position=[1, 1]),
        lambda it: it["sequence"][1]["position"].update(row=1.0),
        lambda it: it["sequence"][1]["position"].update(col=True),
        lambda it: it["sequence"][1]["position"].update(z=0),
    ],
)
def test_r2_a_board_has_its_shape_and_nothing_else(damage: Any) -> None:
    wrong = board("3:1:uu4f")
    damage(wrong)
    found = spaces.check(wrong, 3, "live")
    assert [(fault.step, fault.rule) for fault in found] == [(0, "R2")]
    with pytest.raises(IllegalMove, match="R2"):
        spaces.simulate(wrong, board(RUN), 3)


def test_r2_a_grid_must_follow_from_the_sequence() -> None:
    """Ruling: the sequence counts; a trap outranks a piece; the finish leaves no mark; a state keeps no grid."""
    plain = board("3:1:l5u6uf")
    right = [["piece", "empty", "empty"], ["piece", "trap", "empty"], ["trap", "piece", "empty"]]
    drawn = {**plain, "grid": right}
    assert spaces.check(drawn, 3) == []
    assert spaces.simulate(drawn, drawn, 3) == spaces.simulate(plain, plain, 3)
    game = ludodrome.make("spaces")
    state = game.apply(game.initial_state(), drawn)
    assert state["chosen"] == plain
    for wrong in (right[::-1], right[:2], [[*row, "empty"] for row in right], None, "grid", [["trap"] * 3] * 3):
        found = spaces.check({**plain, "grid": wrong}, 3)
        assert [(fault.step, fault.rule) for fault in found] == [(0, "R2")]
        assert not game.is_legal(game.initial_state(), {**plain, "grid": wrong})


def test_r3_the_start_is_a_piece_on_the_bottom_row() -> None:
    """Ruling: sequence[0] is the start; it is step 1 and scores nothing."""
    assert words("3:1:")  # any column that is inside
    assert [step["position"]["col"] for step in spaces.steps([], 3)] == [0, 1, 2]
    for start in ("p1,1", "p0,1", "p2,-1", "p2,3", "t2,1", "f2,1"):
        assert faults(squares(3, f"{start} p1,1 p0,1 f-1,1"))[0] == (1, "R3")
    first = spaces.simulate(board(RUN), board(RUN), 3).steps[0]
    assert first.step == 1
    assert first.did == ["start 1", "start 1"]
    assert first.points == [0, 0]
    assert first.events == []


def test_r3_nothing_else_is_judged_of_step_1() -> None:
    assert faults(squares(3, "p0,5 p0,1 f-1,1"))[:2] == [(1, "R3"), (2, "R4")]
    assert faults(squares(3, f"p2,{10**30} p1,1 p0,1 f-1,1"))[:2] == [(1, "R3"), (2, "R4")]
    # a trap in place of the start lies there, with the piece on top
    assert faults(squares(3, "t2,1 t2,1 p1,1 p0,1 f-1,1")) == [(1, "R3"), (2, "R10"), (2, "R11")]
    # a finish in place of the start ends the board
    assert faults(squares(3, "f2,1 p1,1 f0,1")) == [(1, "R3"), (2, "R6"), (3, "R6")]


@pytest.mark.parametrize("step", ["p1,0", "p1,2", "p0,1", "p2,1", "p3,1", "p2,3", "p-1,1"])
@BOTH
def test_r4_a_piece_goes_one_square_up_down_left_or_right(step: str, rules: str) -> None:
    assert (2, "R4") in faults(squares(3, f"p2,1 {step} f-1,1"), rules)
    with pytest.raises(IllegalMove, match=r"step 2: .*\(R4\)"):
        spaces.simulate(squares(3, f"p2,1 {step} f-1,1"), board(RUN), 3, rules)


def test_r4_a_playable_board_may_go_down() -> None:
    assert {rule for _, rule in faults("3:1:uldruuf")} == {"R8", "R9"}
    assert played("3:1:ulduuf", "3:0:5555555uuf") == ([4, 0], "goal")


@pytest.mark.parametrize("pad", "123456789")
def test_r5_traps_go_to_the_eight_neighbours_and_underfoot(pad: str) -> None:
    """Ruling: adjacent is any of the eight under written; up, left, right under live."""
    code = f"4:1:u{pad}{'l' if pad == '8' else ''}uuf"
    assert legal(code, "written")
    assert faults(code, "live") == ([] if pad in "4568" else [(3, "R5")])


@BOTH
def test_r5_traps_are_inside_and_in_reach(rules: str) -> None:
    for trap in ("t0,1", "t2,3", "t5,1", "t3,1", "t-1,1"):
        assert (3, "R5") in faults(squares(3, f"p2,1 p2,0 {trap} p1,0 p0,0 f-1,0"), rules)
    assert (2, "R5") in faults("3:0:4uuf", rules)
    with pytest.raises(IllegalMove, match=r"step 2: .*\(R5\)"):
        spaces.simulate(board(RUN), board("3:0:4uuf"), 3, rules)


@BOTH
def test_r6_the_finish_goes_from_row_0_straight_up_and_ends_the_board(rules: str) -> None:
    assert faults("3:1:uf", rules) == [(3, "R6")]
    assert faults(squares(3, "p2,1 p1,1 p0,1 f-1,0"), rules) == [(4, "R6")]
    assert faults(squares(3, "p2,1 p1,1 p0,1 f0,1"), rules) == [(4, "R6")]
    assert faults("3:1:uuff", rules) == [(5, "R6")]
    assert faults(squares(3, "p2,1 p1,1 p0,1 f-1,1 p9,9 t9,9"), rules) == [(5, "R6"), (6, "R6")]
    assert faults("3:1:uu", rules) == [(3, "R6")]
    assert faults("3:1:", rules) == [(1, "R6")]
    # in the order of the rules, where the last step has other faults too
    assert faults(squares(3, "p2,1 p1,1 p2,1"), rules) == [(3, "R6"), (3, "R8"), (3, "R9")]


def test_r7_at_most_four_times_size_times_size_steps() -> None:
    """Ruling: two degrees of validity, playable and legal."""
    longest = "2:0:" + "5" * 13 + "uf"
    assert len(board(longest)["sequence"]) == 16
    assert {rule for _, rule in faults(longest)} == {"R10", "R11"}
    assert played(longest, longest) == ([2, 2], "goal")
    assert faults("2:0:" + "5" * 14 + "uf") == [(17, "R7")]
    assert faults("2:0:" + "9" * 40) == [(17, "R7")]
    with pytest.raises(IllegalMove, match=r"step 17: .*\(R7\)"):
        spaces.simulate(board("2:0:" + "5" * 14 + "uf"), board(longest), 2)


def test_r7_playable_boards_can_be_simulated_and_not_be_laid() -> None:
    game = ludodrome.make("spaces")
    for code in ("3:1:uu4f", "3:1:66uuf", "3:1:uduuf", "3:1:lruuf"):
        assert played(code, "3:0:55555555uuf") == ([4 if code == "3:1:uduuf" else 3, 0], "goal")
        assert not game.is_legal(game.initial_state(), board(code))
    # a trap on row 0 is within reach, and so playable under live; a diagonal one is not
    assert played("3:1:u8luf", "3:0:uuf", "live")[1] == "goal"
    with pytest.raises(IllegalMove, match="R5"):
        spaces.simulate(board("3:1:9uuf"), board(RUN), 3, "live")


# What is legal under both rule sets


@BOTH
def test_r8_no_square_is_visited_twice(rules: str) -> None:
    assert faults("3:1:lruuf", rules) == [(3, "R8")]
    assert faults("3:1:udluuf", rules) == [(3, "R8"), (3, "R9")]
    assert faults(squares(3, "p2,1 p2,1 p1,1 p0,1 f-1,1"), rules) == [(2, "R4"), (2, "R8")]
    assert "p2,1" not in words("3:1:l", rules)
    # setting a trap on a visited square is fine
    assert legal("3:1:l6uuf", rules)
    assert legal("3:1:u2uf", "written")


@BOTH
def test_r9_no_piece_goes_down(rules: str) -> None:
    assert (4, "R9") in faults("3:1:uld", rules)
    assert (3, "R9") in faults(squares(4, "p3,1 p1,1 p2,2"), rules)  # a jump that ends lower, too
    assert not any(word.startswith("p2") for word in words("3:1:ul", rules))


def test_r10_one_trap_a_square() -> None:
    assert faults("3:1:66uuf") == [(3, "R10")]
    assert faults("3:1:5l6uuf", "live") == [(4, "R10")]
    assert "t2,1" not in words("3:1:5l")
    # a square may carry a trap of each side: nobody minds
    assert played("3:0:9uuf", "3:0:9uuf") == ([3, 3], "goal")


@BOTH
def test_r11_a_supermove_is_followed_by_a_piece_step(rules: str) -> None:
    """Ruling: a finish is not a piece step."""
    assert legal("3:1:5uuf", rules)
    assert (3, "R11") in faults("3:1:56uuf", rules)
    assert (5, "R11") in faults("3:1:uu5f", rules)
    assert all(word.startswith("p") for word in words("3:1:5", rules))


@BOTH
def test_r12_from_row_0_only_the_finish(rules: str) -> None:
    assert (4, "R12") in faults("3:1:uu4f", rules)
    assert faults("3:1:uulf", rules) == [(4, "R12")]
    assert words("3:1:uu", rules) == ["f-1,1"]
    assert words("3:1:uuf", rules) == []


def test_r12_a_trap_on_row_0_from_below_is_fine_under_written() -> None:
    assert legal("3:1:u9uf", "written")


# What is legal under live, in addition


def test_r13_no_trap_on_row_0() -> None:
    """Ruling: only live forbids traps on row 0 that are set from the row below."""
    assert faults("3:1:u8luf", "live") == [(3, "R13")]
    assert legal("3:1:u8luf", "written")
    assert "t0,1" not in words("3:1:u", "live")
    assert "t0,1" in words("3:1:u", "written")


def test_r14_at_most_size_minus_1_traps() -> None:
    assert legal("3:0:5r5uuf", "live")
    assert faults("3:0:5r5r5uuf", "live") == [(6, "R14")]
    assert faults("2:0:5r5uf", "live") == [(4, "R14")]
    assert legal("3:0:5r5r5uuf", "written")
    assert not any(word.startswith("t") for word in words("3:0:5r5r", "live"))


def test_r15_every_trap_is_followed_by_a_piece_step() -> None:
    assert faults("3:1:46uuf", "live") == [(3, "R15")]
    assert legal("3:1:46uuf", "written")
    assert (3, "R11") in faults("3:1:56uuf", "live")
    assert (3, "R15") in faults("3:1:56uuf", "live")
    assert all(word.startswith("p") for word in words("3:1:4", "live"))


def test_r16_own_traps_are_closed() -> None:
    """Ruling: under written own traps may be walked over."""
    assert faults("3:1:4luuf", "live") == [(3, "R16")]
    assert legal("3:1:4luuf", "written")
    assert words("3:1:4", "live") == ["p1,1", "p2,2"]
    assert words("3:1:4", "written")[:3] == ["p1,1", "p2,0", "p2,2"]


def test_r17_what_may_come_next_in_the_order_of_the_actions() -> None:
    assert words("3:1:", "live") == ["p1,1", "p2,0", "p2,2", "t1,1", "t2,0", "t2,1", "t2,2"]
    assert words("3:1:") == ["p1,1", "p2,0", "p2,2", "t1,0", "t1,1", "t1,2", "t2,0", "t2,1", "t2,2"]
    assert words("3:1:u") == ["p0,1", "p1,0", "p1,2"] + [f"t{row},{col}" for row in range(3) for col in range(3)]
    assert words("3:0:u", "live") == ["p0,0", "p1,1", "t1,0", "t1,1"]


def test_r17_a_trap_straight_up_needs_a_way_out() -> None:
    assert "t1,0" in words("3:0:", "live")
    assert "t1,0" not in words("3:1:l", "live")
    assert "t1,0" in words("3:1:l", "written")
    # the side is inside and unvisited, but a trap of the row below closes it
    assert words("4:0:u", "live") == ["p1,0", "p2,1", "t1,0", "t2,0", "t2,1"]
    assert words("4:1:8lu", "live") == ["p1,0", "t2,0"]
    with pytest.raises(IllegalMove, match=r"step 3: .*\(R17\)"):
        words("3:1:l8", "live")


def test_r17_how_many_boards_are_legal() -> None:
    """Ruling: counted independently three times."""
    live = {2: 14, 3: 796, 4: 114_450, 5: 31_510_818}
    written = {2: 362, 3: 121_439_363, 4: 968_799_595_254_970}
    for rules, counts in (("live", live), ("written", written)):
        for size, count in counts.items():
            assert spaces.count_boards(size, rules) == count
    for size, rules in ((2, "live"), (3, "live"), (2, "written")):
        game = ludodrome.make("spaces", size=size, rules=rules)
        moves = game.legal_moves(game.initial_state())
        assert len(moves) == spaces.count_boards(size, rules) == ludodrome.perft(game, 1)
        assert all(spaces.check(move, size, rules) == [] for move in moves)


def test_r17_the_classic_boards() -> None:
    """Ruling: two of the three example boards break the rules that they illustrate."""
    supermove = squares(3, "p2,1 p2,0 t2,0 p1,0 t1,1 f-1,0")
    assert faults("2:0:uf", "written") == faults("2:0:uf", "live") == []
    assert faults("3:1:uu4f", "written") == [(4, "R12")]
    assert faults("3:1:uu4f", "live") == [(4, "R12"), (4, "R13"), (5, "R15")]
    assert faults(supermove, "written") == [(6, "R6")]
    assert faults(supermove, "live") == [(6, "R6"), (6, "R15")]
    assert faults("3:1:l5u6uf", "written") == faults("3:1:l5u6uf", "live") == []
    game = ludodrome.make("spaces")
    with pytest.raises(IllegalMove, match=re.escape("step 4: a trap is set from row 0")):
        game.apply(game.initial_state(), board("3:1:uu4f"))
    with pytest.raises(IllegalMove, match=r"step 6: .*\(R6\)"):
        spaces.simulate(supermove, board(RUN), 3)
