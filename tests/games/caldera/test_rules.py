"""Caldera: every rule but those of forging (R11 to R14), on concrete positions in the one-line form."""

import pytest

import ludodrome
from ludodrome import IllegalMove
from tests.games.caldera.positions import (
    CHAIN,
    FLAT,
    START,
    WALLED,
    at,
    bad,
    end,
    forges,
    game,
    ground,
    notations,
    play,
    refusal,
    steps,
)

pytestmark = pytest.mark.xdist_group("caldera")


# R1 to R5: the frame


def test_r1_the_enemy_crown_is_the_goal_by_capture_or_by_eruption() -> None:
    assert end(play(at(f"{FLAT} c63 c53 10"), "C63x53")) == (0, "crown captured")
    assert end(play(at(CHAIN), "S32^22")) == (0, "crown erupted")


def test_r2_ground_starts_flat_and_a_vent_is_closed_for_good() -> None:
    assert all(height == 0 for row in game.initial_state()["board"] for height in row)
    state = at(f"{ground('32=x 33=3 43=1')} c63l34s42 c03l30 20")
    assert "32" not in steps(state, "42") | set(forges(state, "42"))
    assert refusal(state, "S42-32") == "32 is a vent, which nobody can enter"
    assert refusal(state, "S42^32") == "32 is a vent, which no forge can raise"
    assert "32" not in steps(play(state, "C63-62"), "30")


def test_r3_the_start() -> None:
    assert game.format_state(game.initial_state()) == START
    assert game.initial_state(12345) == at(START)
    kinds = [piece["type"] for piece in game.initial_state()["p1"]]
    assert kinds == ["crown", "lancer", "lancer", "smith", "smith"]


def test_r3_a_cell_holds_at_most_one_piece() -> None:
    assert bad(f"{FLAT} c63l63 c03 4") == "two pieces are on 63"
    assert bad(f"{FLAT} c63 c03l63 4") == "two pieces are on 63"


def test_r4_seat_0_begins_and_the_seats_alternate() -> None:
    state = game.initial_state()
    for ply, move in enumerate(["C63-53", "C03-13", "C53-63", "C13-03"]):
        assert state["ply"] == ply
        assert game.to_move(state) == ply % 2
        state = play(state, move)
    assert state == at(START) | {"ply": 4}


def test_r5_a_turn_is_one_move_or_one_forge_of_an_own_piece() -> None:
    assert [ludodrome.perft(game, depth) for depth in (1, 2, 3)] == [23, 529, 14858]
    state = game.initial_state()
    actions = [game.action(move, state) for move in game.legal_moves(state)]
    assert actions == [0, 1, 2, 8, 9, 10, 11, 17, 18, 24, 25, 26, 28, 32, 33, 40, 41, 42, 48, 52, 53, 54, 60]
    assert refusal(state, "C03-13").startswith("you have no piece on 03")
    assert refusal(state, "33-43").startswith("you have no piece on 33")
    assert "a move of caldera is" in refusal(state, {"action": "pass"})


# R6 to R10: moving


def test_r6_destinations_are_on_the_board_no_vents_and_not_ones_own() -> None:
    state = at(f"{ground('53=x')} c63s62 c03 8")
    assert steps(state, "63") == {"52", "54", "64"}
    assert refusal(state, "C63-53") == "53 is a vent, which nobody can enter"
    assert refusal(state, "C63-62") == "your own piece is on 62"
    off_board = {"action": "move", "from": [6, 3], "to": [7, 3]}
    assert refusal(state, off_board) == "each number of 'to' of a move is a whole number from 0 to 6, not 7"


@pytest.mark.parametrize(("low", "high", "allowed"), [(0, 1, True), (0, 2, False), (1, 3, False), (2, 3, True)])
def test_r7_a_step_climbs_at_most_1(low: int, high: int, allowed: bool) -> None:
    state = at(f"{ground(f'33={low} 34={high}')} c33 c00 8")
    assert ("34" in steps(state, "33")) is allowed
    if not allowed:
        assert refusal(state, "C33-34") == "the step from 33 to 34 climbs 2; a step climbs at most 1"


def test_r7_stepping_down_is_free() -> None:
    assert steps(at(f"{ground('33=3 34=1 32=2')} c33 c00 8"), "33") == {"22", "23", "24", "32", "34", "42", "43", "44"}


@pytest.mark.parametrize("piece", ["c33", "c66s33"])
def test_r8_crown_and_smith_take_one_step_in_eight_directions(piece: str) -> None:
    state = at(f"{FLAT} {piece} c00 8")
    assert steps(state, "33") == {"22", "23", "24", "32", "34", "42", "43", "44"}
    kind = "smith" if "s" in piece else "crown"
    assert refusal(state, "33-13") == f"a {kind} moves one step and cannot get from 33 to 13"


def test_r9_a_lancer_takes_one_or_two_steps_in_one_direction() -> None:
    state = at(f"{FLAT} c66l33 c00 8")
    near = ["22", "23", "24", "32", "34", "42", "43", "44"]
    far = ["11", "13", "15", "31", "35", "51", "53", "55"]
    assert notations(state, "33") == [f"-{cell}" for cell in near + far]
    sentence = "a lancer moves one step, or two in one direction, and cannot get from 33 to "
    assert refusal(state, "L33-14") == f"{sentence}14"
    assert refusal(state, "L33-03") == f"{sentence}03"


def test_r9_ruling_any_piece_may_stand_in_the_middle_and_is_untouched() -> None:
    state = at(f"{FLAT} c66l33s23 c00l34 8")
    over_own = play(state, "L33-13")
    assert game.format_state(over_own) == f"{FLAT} c66l13s23 c00l34 9"
    over_enemy = play(state, "L33-35")
    assert game.format_state(over_enemy) == f"{FLAT} c66l35s23 c00l34 9"


def test_r9_ruling_each_step_of_a_leap_climbs_at_most_1() -> None:
    assert "35" in steps(at(f"{ground('34=1 35=2')} c66l33 c00 8"), "33")
    first = at(f"{ground('34=2 35=2')} c66l33 c00 8")
    assert "35" not in steps(first, "33")
    assert refusal(first, "L33-35") == "the first step, from 33 to 34, climbs 2; a step climbs at most 1"
    second = at(f"{ground('33=2 34=1 35=3')} c66l33 c00 8")
    assert "35" not in steps(second, "33")
    assert refusal(second, "L33-35") == "the second step, from 34 to 35, climbs 2; a step climbs at most 1"
    hollow = at(f"{ground('33=3 34=0 35=2')} c66l33 c00 8")
    assert "35" not in steps(hollow, "33")


def test_r9_ruling_no_vent_in_the_middle_nor_at_the_end_of_a_leap() -> None:
    middle = at(f"{ground('34=x')} c66l33 c00 8")
    assert steps(middle, "33") & {"34", "35"} == set()
    sentence = "the way from 33 to 35 leads over the vent on 34, which nobody can cross"
    assert refusal(middle, "L33-35") == sentence
    landing = at(f"{ground('35=x')} c66l33 c00 8")
    assert steps(landing, "33") & {"34", "35"} == {"34"}
    assert refusal(landing, "L33-35") == "35 is a vent, which nobody can enter"


def test_r9_a_leap_ends_on_no_own_piece_and_on_the_board() -> None:
    state = at(f"{FLAT} c66l33l35 c00 8")
    assert "35" not in steps(state, "33")
    assert refusal(state, "L33-35") == "your own piece is on 35"
    assert steps(state, "35") & {"36"} == {"36"}
    with pytest.raises(IllegalMove, match="leads off the board"):
        game.move(36, state)  # the second lancer, two steps east


@pytest.mark.parametrize("taker", ["c34", "c66l34", "c66l35", "c66s34"])
@pytest.mark.parametrize("taken", ["c33", "c00l33", "c00s33"])
def test_r10_every_kind_captures_every_kind(taker: str, taken: str) -> None:
    start = taker[-2:]
    state = at(f"{FLAT} {taker} {taken} 8")
    assert "x33" in notations(state, start)
    after = play(state, f"{start}x33")
    assert after["p1"] == [piece for piece in state["p1"] if (piece["r"], piece["c"]) != (3, 3)]
    assert (after["p0"][-1]["r"], after["p0"][-1]["c"]) == (3, 3)
    assert (after["winner"] == 0) is taken.startswith("c33")


def test_r10_ruling_moving_changes_no_height_and_erupts_nothing() -> None:
    state = at(f"{ground('33=3 34=3 35=3 23=3 43=3 32=3')} c66s33 c00l34 8")
    for move in ("S33x34", "S33-32", "S33-44"):
        assert play(state, move)["board"] == state["board"]


# R15: the order of the pieces


def test_r15_ruling_pieces_keep_their_order_as_they_move() -> None:
    crossed = play(at(f"{FLAT} c63l33l34s62s64 c03 8"), "L34-32")
    assert game.format_state(crossed) == f"{FLAT} c63l33l32s62s64 c03 9"


def test_r15_ruling_the_second_moves_up_when_the_first_falls() -> None:
    state = play(game.initial_state(), "S62^52", "L05-23", "L61-41", "L23x41")
    assert game.format_state(state) == f"{ground('52=1')} c63l65s62s64 c03l01l41s02s04 4"
    step = {"action": "move", "from": [6, 5], "to": [5, 4]}
    assert game.action(step, game.initial_state()) == 24
    assert game.action(step, state) == 8
    actions = [game.action(move, state) for move in game.legal_moves(state)]
    assert actions == [0, 1, 2, 8, 9, 10, 12, 16, 17, 40, 41, 42, 43, 48, 49, 52, 53, 54, 60]
    with pytest.raises(IllegalMove, match="the piece of this action is gone"):
        game.move(24, state)


def test_r15_when_the_second_falls_the_first_stays() -> None:
    state = at(f"{FLAT} c63s55s34 c03l33 9")
    assert game.format_state(play(state, "L33x34")) == f"{FLAT} c63s55 c03l34 10"


# R16 to R21: the ends


def test_r16_capturing_the_crown_wins_at_once() -> None:
    after = play(at(f"{FLAT} c63l61l65 c45 9"), "C45-54")
    assert game.outcome(after) is None
    after = play(after, "C63x54")
    assert end(after) == (0, "crown captured")
    assert game.format_state(after) == f"{FLAT} c54l61l65 - 11 captured"
    outcome = game.outcome(after)
    assert outcome is not None
    assert (outcome.scores, outcome.returns) == ([1, 0], [1, -1])
    assert end(play(at(f"{FLAT} c43 c00l23 9"), "L23x43")) == (1, "crown captured")


def test_r17_ruling_only_the_enemy_crown_destroyed_wins() -> None:
    after = play(at(CHAIN), "S32^22")
    assert end(after) == (0, "crown erupted")
    line = "0012000/01xx100/01xx300/0031000/0000000/0000000/0000000 c63l24s32 l03s05 41 erupted"
    assert game.format_state(after) == line


def test_r17_ruling_only_the_own_crown_destroyed_loses() -> None:
    after = play(at(f"{ground('33=3 34=3')} c34s32 c00 8"), "S32^33")
    assert end(after) == (1, "own crown erupted")
    assert game.format_state(after).split()[1:] == ["s32", "c00", "9"]
    after = play(at(f"{ground('33=3 34=3')} c00 c34s32 9"), "S32^33")
    assert end(after) == (0, "own crown erupted")


def test_r17_ruling_both_crowns_destroyed_loses() -> None:
    after = play(at(f"{ground('33=3 34=3 23=3')} c34s32 c23 8"), "S32^33")
    assert end(after) == (1, "both crowns erupted")
    assert game.format_state(after).split()[1:] == ["s32", "-", "9"]
    after = play(at(f"{ground('33=3 34=3 23=3')} c34 c23s32 9"), "S32^33")
    assert end(after) == (0, "both crowns erupted")


@pytest.mark.parametrize(
    ("line", "move", "winner", "reason"),
    [
        (f"{FLAT} c63l61 c03 199", "C03-13", 0, "turn limit: more pieces"),
        (f"{FLAT} c63 c03s06 199", "C03-13", 1, "turn limit: more pieces"),
        (f"{ground('03=3 13=3')} c63l61 c03 199", "C03-13", 0, "turn limit: more pieces"),
        (f"{FLAT} c63l61 c03s60 199", "S60x61", 1, "turn limit: more pieces"),
        (f"{ground('63=1')} c63l61 c03s06 199", "C03-13", 0, "turn limit: higher crown"),
        (f"{ground('63=1 03=2 13=2')} c63 c03 199", "C03-13", 1, "turn limit: higher crown"),
        (f"{ground('33=3')} c63s66 c32s34 199", "S34^33", 1, "turn limit: higher crown"),
        (f"{ground('61=3')} c63l61 c03s06 199", "C03-13", None, "turn limit: draw"),
    ],
)
def test_r18_ruling_more_pieces_then_the_higher_crown_then_a_draw(
    line: str, move: str, winner: int | None, reason: str
) -> None:
    after = play(at(line), move)
    assert after["ply"] == 200
    assert end(after) == (winner, reason)


def test_r18_a_draw_has_no_winner() -> None:
    state = play(at(f"{FLAT} c63 c03 199"), "C03-13")
    assert state["winner"] is None
    outcome = game.outcome(state)
    assert outcome is not None
    assert (outcome.winner, outcome.scores, outcome.returns) == (None, [0.5, 0.5], [0, 0])
    assert game.render(state).splitlines()[-1] == "ply 200, drawn: turn limit: draw"


def test_r18_the_limit_is_an_option() -> None:
    short = ludodrome.make("caldera", turn_limit=1)
    state = short.initial_state()
    after = short.apply(state, short.legal_moves(state)[0])
    assert (after["winner"], after["reason"]) == (None, "turn limit: draw")
    assert game.options == {"turn_limit": 200}
    for wrong in (0, 1001, True, 1.0):
        with pytest.raises(ValueError, match="turn_limit"):
            ludodrome.make("caldera", turn_limit=wrong)


def test_r19_ruling_a_seat_without_an_action_has_lost_in_that_very_state() -> None:
    before = at("0000000/0000000/0000000/0000000/0000000/2100000/0200000 c60 c00s41 9")
    after = play(before, "S41^51")
    assert game.format_state(after) == f"{WALLED} c60 c00s41 10"
    assert end(after) == (1, "no legal moves")
    assert game.legal_moves(after) == []


def test_r19_a_single_capture_or_forge_is_enough_to_go_on() -> None:
    taking = at("0000000/0000000/0000000/0000000/0000000/2200000/0100000 c60 c00s61 10")
    assert [game.format_move(move, taking) for move in game.legal_moves(taking)] == ["C60x61"]
    forging = at("0000020/0000022/0000000/0000000/0000000/2200000/0200000 c60s06 c33 10")
    assert [game.format_move(move, forging) for move in game.legal_moves(forging)] == ["S06^05", "S06^16"]
    assert end(at("0000020/0000022/0000000/0000000/0000000/2200000/0200000 c60l06 c33 10")) == (1, "no legal moves")


def test_r20_ruling_a_crown_that_falls_on_the_last_turn_still_counts() -> None:
    short = ludodrome.make("caldera", turn_limit=11)
    state = short.parse_state(f"{FLAT} c63 c53l00l01 10")
    after = short.apply(state, {"action": "move", "from": [6, 3], "to": [5, 3]})
    assert (after["ply"], after["winner"], after["reason"]) == (11, 0, "crown captured")
    state = short.parse_state(f"{ground('33=3 34=3')} c34l00s32 c06 10")
    after = short.apply(state, {"action": "forge", "smith": [3, 2], "target": [3, 3]})
    assert (after["ply"], after["winner"], after["reason"]) == (11, 1, "own crown erupted")


def test_r20_ruling_the_turn_limit_comes_before_a_stuck_opponent() -> None:
    line = "0000000/0000000/0000000/0000000/0000000/2100000/0200000 c60 c00s41 9"
    forge = {"action": "forge", "smith": [4, 1], "target": [5, 1]}
    usual, short = ludodrome.make("caldera"), ludodrome.make("caldera", turn_limit=10)
    after = usual.apply(usual.parse_state(line), forge)
    assert after["reason"] == "no legal moves"
    after = short.apply(short.parse_state(line), forge)
    assert (after["winner"], after["reason"]) == (1, "turn limit: more pieces")


def test_r21_a_finished_game_has_no_moves_and_stays_as_it_was_left() -> None:
    after = play(at(f"{FLAT} c63l61 c53s02 10"), "C63x53")
    assert after["ply"] == 11
    assert game.legal_moves(after) == []
    assert game.to_move(after) is None
    move = {"action": "move", "from": [0, 2], "to": [1, 2]}
    assert not game.is_legal(after, move)
    assert refusal(after, move) == "the game is over: crown captured"
