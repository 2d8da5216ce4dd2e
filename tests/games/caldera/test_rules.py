"""Every rule of caldera, and every ruling about the game, on concrete positions in the one-line form."""

import copy
import random
from typing import Any

import pytest

import ludodrome
from ludodrome import BadState, IllegalMove
from tests.games.caldera import oracle

State = dict[str, Any]

game = ludodrome.make("caldera")

FLAT = "0000000/0000000/0000000/0000000/0000000/0000000/0000000"
START = f"{FLAT} c63l61l65s62s64 c03l01l05s02s04 0"
CHAIN = "0001000/0023000/0033200/0020000/0000000/0000000/0000000 c63l24s32 c12l23l03s05 40"


def ground(text: str = "") -> str:
    """Flat ground but for some cells: ``22=3 12=x``."""
    rows = [["0"] * 7 for _ in range(7)]
    for word in text.split():
        cell, _, height = word.partition("=")
        rows[int(cell[0])][int(cell[1])] = height
    return "/".join("".join(row) for row in rows)


def at(line: str) -> State:
    state: State = game.parse_state(line)
    return state


def play(state: State, *moves: str) -> State:
    for text in moves:
        state = game.apply(state, game.parse_move(text, state))
    return state


def end(state: State) -> tuple[int | None, str]:
    """Winner and reason; the state and the outcome say the same."""
    outcome = game.outcome(state)
    assert outcome is not None
    assert (outcome.winner, outcome.reason) == (state["winner"], state["reason"])
    assert game.to_move(state) is None
    return outcome.winner, outcome.reason


def notations(state: State, start: str) -> list[str]:
    """The legal moves of the piece on a cell, in order, without the letter and the cell."""
    every = [game.format_move(move, state) for move in game.legal_moves(state)]
    return [text[3:] for text in every if text[1:3] == start]


def steps(state: State, start: str) -> set[str]:
    """Where the piece on a cell may move to."""
    return {text[1:] for text in notations(state, start) if text[0] in "-x"}


def forges(state: State, start: str) -> list[str]:
    """What the smith on a cell may raise."""
    return [text[1:] for text in notations(state, start) if text[0] == "^"]


def refusal(state: State, move: Any) -> str:
    """The sentence with which a move is refused, in text or JSON; nothing changes."""
    before = copy.deepcopy(state)
    with pytest.raises(IllegalMove) as caught:
        game.apply(state, game.parse_move(move, state) if isinstance(move, str) else move)
    assert state == before
    return str(caught.value)


def bad(line: str) -> str:
    """The sentence with which a position is refused."""
    with pytest.raises(BadState) as caught:
        game.parse_state(line)
    return str(caught.value)


# R1 to R5: the frame


def test_r1_the_enemy_crown_is_the_goal_by_capture_or_by_eruption() -> None:
    assert end(play(at(f"{FLAT} c63 c53 10"), "C63x53")) == (0, "crown captured")
    assert end(play(at(CHAIN), "S32^22")) == (0, "crown erupted")


def test_r2_ground_starts_flat_and_a_vent_is_closed_for_good() -> None:
    assert all(height == 0 for row in game.initial_state()["board"] for height in row)
    state = at(f"{ground('32=x 33=3 43=1')} c63l34s42 c03l30 20")
    assert "32" not in steps(state, "42") | set(forges(state, "42"))
    assert refusal(state, "S42-32") == "32 is a vent, which nobody enters"
    assert refusal(state, "S42^32") == "32 is a vent, which no forge can raise"
    assert "32" not in steps(play(state, "C63-62"), "30")


def test_r3_the_start() -> None:
    assert game.format_state(game.initial_state()) == START
    assert game.initial_state(12345) == at(START)
    kinds = [piece["type"] for piece in game.initial_state()["p1"]]
    assert kinds == ["crown", "lancer", "lancer", "smith", "smith"]


def test_r3_a_cell_holds_at_most_one_piece() -> None:
    assert bad(f"{FLAT} c63l63 c03 4") == "two pieces stand on 63"
    assert bad(f"{FLAT} c63 c03l63 4") == "two pieces stand on 63"


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
    assert refusal(state, "C03-13").startswith("no piece of yours stands on 03")
    assert refusal(state, "33-43").startswith("no piece of yours stands on 33")
    assert "a move of caldera is" in refusal(state, {"action": "pass"})


# R6 to R10: moving


def test_r6_destinations_are_on_the_board_no_vents_and_not_ones_own() -> None:
    state = at(f"{ground('53=x')} c63s62 c03 8")
    assert steps(state, "63") == {"52", "54", "64"}
    assert refusal(state, "C63-53") == "53 is a vent, which nobody enters"
    assert refusal(state, "C63-62") == "your own piece stands on 62"
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
    sentence = "the way from 33 to 35 leads over the vent on 34, which nobody crosses"
    assert refusal(middle, "L33-35") == sentence
    landing = at(f"{ground('35=x')} c66l33 c00 8")
    assert steps(landing, "33") & {"34", "35"} == {"34"}
    assert refusal(landing, "L33-35") == "35 is a vent, which nobody enters"


def test_r9_a_leap_ends_on_no_own_piece_and_on_the_board() -> None:
    state = at(f"{FLAT} c66l33l35 c00 8")
    assert "35" not in steps(state, "33")
    assert refusal(state, "L33-35") == "your own piece stands on 35"
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


# R11 to R14: forging


def test_r11_a_smith_raises_an_orthogonal_neighbour_and_stays() -> None:
    state = at(f"{FLAT} c66s33 c00 8")
    assert forges(state, "33") == ["23", "32", "34", "43"]
    assert game.format_state(play(state, "S33^34")) == f"{ground('34=1')} c66s33 c00 9"
    sentence = "the smith on 33 forges only orthogonally adjacent cells, and {} is none"
    for cell in ("22", "13", "33"):
        assert refusal(state, f"S33^{cell}") == sentence.format(cell)


def test_r11_the_target_is_ground_without_any_piece() -> None:
    state = at(f"{ground('32=x')} c34s33 c23 8")
    assert forges(state, "33") == ["43"]
    for cell in ("34", "23"):
        assert refusal(state, f"S33^{cell}") == f"a piece stands on {cell}, and a smith forges only empty cells"
    assert refusal(state, "S33^32") == "32 is a vent, which no forge can raise"
    assert forges(at(f"{FLAT} c66s00 c33 8"), "00") == ["01", "10"]


def test_r11_only_smiths_forge() -> None:
    state = game.initial_state()
    assert refusal(state, "63^53") == "only a smith can forge, and on 63 stands your crown"
    assert refusal(state, "61^51") == "only a smith can forge, and on 61 stands your lancer"


def test_r11_ruling_heights_do_not_limit_a_forge() -> None:
    assert play(at(f"{ground('34=2')} c66s33 c00 8"), "S33^34")["board"][3][4] == 3
    assert play(at(f"{ground('34=3')} c66s33 c00 8"), "S33^34")["board"][3][4] == -1
    assert play(at(f"{ground('33=3')} c66s33 c00 8"), "S33^34")["board"][3][4] == 1


def test_r12_a_cell_that_reaches_4_erupts_and_lifts_its_orthogonal_neighbours() -> None:
    state = at(f"{ground('33=3 23=1 22=2')} c66s32 c00 8")
    after = play(state, "S32^33")
    assert game.format_state(after) == f"{ground('33=x 23=2 22=2 32=1 34=1 43=1')} c66s32 c00 9"
    assert game.to_move(after) == 1


def test_r12_at_the_edge_and_in_the_corner_fewer_cells_rise() -> None:
    corner = play(at(f"{ground('00=3')} c66s01 c33 8"), "S01^00")
    assert game.format_state(corner) == f"{ground('00=x 01=1 10=1')} c66s01 c33 9"
    east = play(at(f"{ground('36=3')} c66s35 c33 8"), "S35^36")
    assert game.format_state(east) == f"{ground('36=x 35=1 26=1 46=1')} c66s35 c33 9"
    west = play(at(f"{ground('30=3')} c66s31 c33 8"), "S31^30")
    assert game.format_state(west) == f"{ground('30=x 31=1 20=1 40=1')} c66s31 c33 9"


def test_r12_a_chain_runs_until_no_cell_is_at_4() -> None:
    row = at(f"{ground('30=3 31=3 32=3 33=3 34=3 35=2 36=3')} c66s20 c00 8")
    after = play(row, "S20^30")
    above = "20=1 21=1 22=1 23=1 24=1"
    below = "40=1 41=1 42=1 43=1 44=1"
    assert game.format_state(after).split()[0] == ground(f"30=x 31=x 32=x 33=x 34=x 35=3 36=3 {above} {below}")


def test_r13_the_closure_counts_all_erupting_neighbours_of_a_cell() -> None:
    state = at(f"{ground('33=3 34=3 43=3 44=2 23=2')} c66s32 c00 8")
    after = play(state, "S32^33")
    assert [after["board"][r][c] for r, c in ((3, 3), (3, 4), (4, 3), (4, 4), (2, 3))] == [-1, -1, -1, -1, 3]
    assert after["board"][4][5] == 1  # beside 44 only
    assert after["board"][2][4] == 1  # beside 34 only
    assert after["board"][5][4] == 1


def test_r13_ruling_vents_are_never_raised_again() -> None:
    state = at(f"{ground('33=3 34=x 35=3')} c66s32 c00 8")
    after = play(state, "S32^33")
    assert after["board"][3][3:6] == [-1, -1, 3]


def hilly(rng: random.Random) -> tuple[State, dict[str, Any]] | None:
    """A mountainous position and a forge in it that erupts, if chance gives one."""
    board = [rng.choices([0, 1, 2, 3, -1], [1, 2, 4, 12, 1], k=7) for _ in range(7)]
    free = [(r, c) for r in range(7) for c in range(7) if board[r][c] >= 0]
    rng.shuffle(free)
    kinds = ["crown", "lancer", "lancer", "smith", "smith"]
    p0, p1 = (
        [{"type": kind, "r": r, "c": c} for kind, (r, c) in zip(kinds, free[first : first + 5], strict=True)]
        for first in (0, 5)
    )
    state = {"board": board, "p0": p0, "p1": p1, "ply": 30, "winner": None, "reason": ""}
    for move in game.legal_moves(state):
        if move["action"] == "forge" and board[move["target"][0]][move["target"][1]] == 3:
            return state, move
    return None


def test_r13_ruling_the_order_of_resolution_cannot_matter() -> None:
    rng = random.Random(20)
    chains = 0
    while chains < 60:
        found = hilly(rng)
        if found is None:
            continue
        state, move = found
        after = game.apply(state, move)
        raised = copy.deepcopy(state["board"])
        raised[move["target"][0]][move["target"][1]] += 1
        for _ in range(5):
            result = oracle.erupt(raised, state["p0"], state["p1"], order=rng.choice)
            assert result == (after["board"], after["p0"], after["p1"])
        chains += 1


def test_r13_the_erupting_set_is_the_smallest_closed_one() -> None:
    rng = random.Random(7)
    chains = 0
    while chains < 40:
        found = hilly(rng)
        if found is None:
            continue
        state, move = found
        heights = {
            (r, c): height for r, row in enumerate(state["board"]) for c, height in enumerate(row) if height >= 0
        }
        heights[move["target"][0], move["target"][1]] += 1
        erupting: set[tuple[int, int]] = set()

        def beside(cell: tuple[int, int], among: set[tuple[int, int]]) -> int:
            r, c = cell
            return len({(r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)} & among)

        while more := {cell for cell in heights if heights[cell] + beside(cell, erupting) >= 4} - erupting:
            erupting |= more
        after = game.apply(state, move)["board"]
        for cell, height in heights.items():
            assert after[cell[0]][cell[1]] == (-1 if cell in erupting else height + beside(cell, erupting))
        chains += 1


def test_r14_pieces_on_erupting_cells_fall_and_others_are_lifted() -> None:
    state = at(f"{ground('33=3 34=3 32=3 23=2')} c66l34s43 c00l32l23s44 8")
    after = play(state, "S43^33")
    assert game.format_state(after).split()[1:] == ["c66s43", "c00l23s44", "9"]
    assert after["board"][2][3] == 3  # seat 1's lancer, lifted
    assert after["board"][4][3] == 1  # the forging smith, lifted


def test_r14_the_forging_smith_may_fall_itself() -> None:
    after = play(at(f"{ground('33=3 43=3')} c66s43 c00l44 8"), "S43^33")
    assert [piece["type"] for piece in after["p0"]] == ["crown"]
    assert game.to_move(after) == 1


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


WALLED = "0000000/0000000/0000000/0000000/0000000/2200000/0200000"
"""In the corner 60 nobody gets out: all three neighbours are two higher."""


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


# Rulings for all games, and what is refused


def test_ruling_apply_never_changes_its_input() -> None:
    state = at(CHAIN)
    before = copy.deepcopy(state)
    for move in game.legal_moves(state):
        game.apply(state, move)
    assert state == before


def test_ruling_the_legal_moves_are_in_ascending_order_without_doubles() -> None:
    state = at(CHAIN)
    actions = [game.action(move, state) for move in game.legal_moves(state)]
    assert actions == sorted(set(actions))
    assert [game.move(action, state) for action in actions] == game.legal_moves(state)


def test_ruling_the_drawing() -> None:
    assert game.render(play(at(CHAIN), "S32^22")).splitlines() == [
        "  0  1  2  3  4  5  6",
        "0 .  .  1  L2 .  S  .",
        "1 .  1  #  #  1  .  .",
        "2 .  1  #  #  l3 .  .",
        "3 .  .  s3 1  .  .  .",
        "4 .  .  .  .  .  .  .",
        "5 .  .  .  .  .  .  .",
        "6 .  .  .  c  .  .  .",
        "ply 41, seat 0 won: crown erupted",
    ]
    assert game.render(game.initial_state()).splitlines()[-1] == "ply 0, seat 0 to move"


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (f"{FLAT} c63l63 c03 4", "two pieces stand on 63"),
        (f"{ground('63=x')} c63 c03 4", "the crown of seat 0 stands on a vent, on 63"),
        (f"{FLAT} c63c64 c03 4", "seat 0 has 2 pieces of the kind crown; it can have 1 at most"),
        (f"{FLAT} c63l00l01l02 c03 4", "seat 0 has 3 pieces of the kind lancer; it can have 2 at most"),
        (f"{FLAT} c63 c03s00s01s02 4", "seat 1 has 3 pieces of the kind smith; it can have 2 at most"),
        (
            f"{FLAT} l62c63 c03 4",
            "the pieces of seat 0 are listed crown, lancers, smiths; a crown comes too late there",
        ),
        (
            f"{FLAT} c63 s02l01 4",
            "the pieces of seat 1 are listed crown, lancers, smiths; a lancer comes too late there",
        ),
        (f"{FLAT} c63 c03 201", "ply is a whole number from 0 to 200, not 201"),
        (f"{FLAT} c63 l03 0", "seat 1 has no crown, although no turn has been made at ply 0"),
        (f"{FLAT} c63 l03 11", "with the crown of seat 1 gone, the fifth word is 'captured' or 'erupted', not null"),
        (f"{FLAT} c63 c03 11 captured", "in this position there is no fifth word, such as 'captured'"),
        (f"{FLAT} l63 c03 11 erupted", "in this position there is no fifth word, such as 'erupted'"),
        (f"{FLAT[:-1]}4 c63 c03 4", "the heights are seven rows of seven of 0, 1, 2, 3 and x parted by '/'"),
        (f"{FLAT} c73 c03 4", "the pieces of seat 0 are written like c63l61s62, or - for none, not 'c73'"),
    ],
)
def test_ruling_a_position_that_contradicts_itself_is_refused(line: str, sentence: str) -> None:
    assert bad(line).startswith(sentence)


def test_ruling_a_claimed_end_is_what_the_position_says() -> None:
    running = game.initial_state()
    for claim in (
        {"winner": 0, "reason": "crown captured"},
        {"winner": 0},
        {"reason": "no legal moves"},
        {"winner": False},
        {"reason": None},
    ):
        with pytest.raises(BadState, match="in this position"):
            game.encode(running | claim)
    captured = at(f"{FLAT} c63 l03 11 captured")
    assert game.outcome(captured | {"reason": "crown erupted"}) is not None
    for claim in ({"reason": "own crown erupted"}, {"reason": ""}, {"winner": 1}, {"winner": None}, {"winner": False}):
        with pytest.raises(BadState, match="in this position"):
            game.encode(captured | claim)


@pytest.mark.parametrize("wrong", [True, 1.0, "1", None, 4, -2])
def test_ruling_true_and_floats_are_no_integers_and_unknown_keys_are_refused(wrong: Any) -> None:
    state = game.initial_state()
    state["board"][3][3] = wrong
    with pytest.raises(BadState, match="on 33"):
        game.encode(state)
    state = game.initial_state()
    state["p0"][0]["r"] = wrong
    if wrong != 4 or type(wrong) is not int:
        with pytest.raises(BadState, match=r"'r' of p0\[0\]"):
            game.encode(state)
    with pytest.raises(BadState, match="unknown key 'to_move'"):
        game.encode(game.initial_state() | {"to_move": wrong})
    move = {"action": "move", "from": [6, 3], "to": [5, 3]}
    assert "unknown key 'piece'" in refusal(game.initial_state(), move | {"piece": wrong})
    assert "'from' of a move" in refusal(game.initial_state(), move | {"from": [6, wrong if wrong != 4 else 7]})


def test_ruling_positions_that_could_hardly_arise_are_welcome() -> None:
    assert game.outcome(at(f"{ground('00=3 66=3 33=x')} c60 c06 0")) is None
    assert game.outcome(at(f"{FLAT} c63l62l61s60s53 c03l41l42 7")) is None
    stuck = at(f"{WALLED} c60 c00 0")
    assert end(stuck) == (1, "no legal moves")
    nobody = at(f"{ground('33=x')} - - 9")
    assert end(nobody) == (1, "both crowns erupted")


def test_notation_is_generous() -> None:
    state = game.initial_state()
    move = {"action": "move", "from": [6, 1], "to": [4, 3]}
    for text in ("l61-43", "61 43", "6,1 4,3", "L6143", " L 61 x 43 ", "6-1x4,3"):
        assert game.parse_move(text, state) == move
    assert game.parse_move("62^52", state) == {"action": "forge", "smith": [6, 2], "target": [5, 2]}
    assert game.parse_move("62 52", state) == {"action": "move", "from": [6, 2], "to": [5, 2]}
    assert refusal(state, "C61-43") == "on 61 stands your lancer, not a crown"
    assert refusal(state, "61-49") == "rows and columns go from 0 to 6, and '61-49' has a 9"
    for text in ("", "castle", "61", "61-434", "L61-43!", "٦١-٤٣"):
        assert "a move is written like" in refusal(state, text)
