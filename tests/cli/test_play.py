import random
import re
import shlex
import signal
from itertools import pairwise

import pytest

import ludodrome
from ludodrome.cli.play import PlaySession, in_columns, side_by_side
from ludodrome.game import TooManyMoves
from tests.cli.running import OPENINGS, beside, on_terminal, output

NEARLY_WON = "00000/03200/00111/00000/00000 B3E5 C4D2 8"


def script(game: ludodrome.Game) -> tuple[list[str], ludodrome.Outcome]:
    """The moves of a random game in notation, and its outcome."""
    dice, state, texts = random.Random(5), game.initial_state(), []
    while (outcome := game.outcome(state)) is None:
        try:
            move = dice.choice(game.legal_moves(state))
        except TooManyMoves:
            move = game.parse_move(OPENINGS[game.id][0], state)
        texts.append(game.format_move(move, state))
        state = game.apply(state, move)
    return texts, outcome


@pytest.mark.parametrize("game_id", ludodrome.game_ids())
def test_a_game_to_its_end(game_id: str) -> None:
    game = ludodrome.make(game_id)
    texts, outcome = script(game)
    *_, last = output("play", game_id, stdin="\n".join(texts) + "\n").splitlines()
    assert last.startswith("drawn" if outcome.winner is None else f"{game.seat_name(outcome.winner)} ")
    assert f"({outcome.reason}), scores " in last


def test_three_players() -> None:
    game = ludodrome.make("santorini", players=3)
    texts, outcome = script(game)
    text = output("play", "santorini", "-o", "players=3", stdin="\n".join(texts) + "\n")
    assert "Grey ■> " in text
    assert outcome.winner is not None
    assert text.splitlines()[-1].startswith(f"{game.seat_name(outcome.winner)} ")


def test_a_move_is_repeated_in_notation_and_the_board_is_drawn() -> None:
    game = ludodrome.make("skysummit")
    text = output("play", "skysummit", "--state", NEARLY_WON, stdin="b2\n")
    assert game.name_seats(game.render(game.parse_state(NEARLY_WON))) in text
    assert "Blue ●> b2\nBlue ●  B3-B2\n" in text
    assert text.endswith("Blue ● wins (reached level 3), scores 1 : 0\n")


def test_a_refused_move_is_explained_and_asked_for_again() -> None:
    text = output("play", "dots", stdin="H99\nH00\nh 0 0\nquit\n")
    assert "there is no edge H(9,9)" in text
    assert "H(0,0) is already drawn" in text
    assert text.count("Orange ◆> ") == 2


def test_every_word_is_offered_and_explained() -> None:
    text = output("play", "santorini", stdin="help\n")
    assert text.startswith("Santorini. Type a move, or one of help, moves, undo, state, rules, quit.\n")
    assert "The notation for people is the canonical text itself." in text
    for word in PlaySession.words:
        assert f" • {word}: " in text


def test_moves_are_listed() -> None:
    text = output("play", "dots", "-o", "rows=1", "-o", "cols=1", stdin="moves\n")
    assert "H(0,0)  H(1,0)  V(0,0)  V(0,1)\n" in text


def test_moves_that_are_too_many() -> None:
    text = output("play", "spaces", "-o", "rules=written", stdin="moves\n3:1:uuf\n")
    with pytest.raises(TooManyMoves) as caught:
        ludodrome.make("spaces").legal_moves(ludodrome.make("spaces").initial_state())
    assert f"Blue ●> moves\n{caught.value}\n" in text
    assert "Orange ◆> " in text


def test_a_hidden_move_is_not_drawn_before_it_is_answered() -> None:
    text = output("play", "spaces", "-o", "choice=blind", stdin="3:1:uuf\n3:0:u6uf\n")
    assert "face down" in text
    assert "laid by Blue" not in text
    assert "round 1: 3:1:uuf 3 : 2 3:0:u6uf (goal)" in text
    assert "laid by Blue: 3:1:uuf" in output("play", "spaces", "-o", "choice=seen", stdin="3:1:uuf\n")


def test_people_meet_live_rules_and_blind_choice_first_and_are_told_why() -> None:
    game = ludodrome.make("spaces")
    text = output("play", "spaces", stdin="quit\n")
    assert (
        f"rules=live choice=blind: {game.people_options_reason} To play otherwise: -o rules=written -o choice=seen"
        in text
    )
    assert "--state 'rounds 3 live blind 1/5 - -'" in text
    both = output("play", "spaces", "-o", "choice=seen", "-o", "rules=written", stdin="quit\n")
    assert game.people_options_reason not in both
    assert "--state 'rounds 3 written seen 1/5 - -'" in both
    resumed = output("play", "spaces", "--state", "rounds 3 written seen 1/5 - -", stdin="quit\n")
    assert game.people_options_reason not in resumed
    assert dict(game.options) == {**game.options, "rules": "written", "choice": "seen"}  # the API's defaults


def test_fog_is_drawn_for_the_seat_to_move() -> None:
    laid = "3:1:u6uf\n3:0:5uuf\n3:1:uuf\n"
    text = output("play", "spaces", "-o", "choice=fog", "-o", "rounds=2", stdin=laid)
    _, _, after = text.partition("Orange ◆> 3:0:5uuf")
    assert "round 1: 3:1:u?uf 3 : 0 3:0:5uuf (goal)" in after  # as seat 1 sees it
    _, _, after = after.partition("Orange ◆> 3:1:uuf")
    assert "round 1: 3:1:u6uf 3 : 0 3:0:?u (goal)" in after  # as seat 0 does
    assert "3:1:uuf" not in after.partition("\n\n")[2]
    over = output("play", "spaces", "-o", "choice=fog", "-o", "rounds=2", stdin=f"{laid}3:0:uuf\n")
    assert "round 1: 3:1:u6uf 3 : 0 3:0:5uuf (goal)\nround 2: " in over


DECK = ",".join(["3:1:uuf"] * 10)


@pytest.mark.parametrize(("option", "laid"), [("choice=blind", "3:1:uuf"), ("mode=deck", DECK)])
@pytest.mark.parametrize("end", ["quit\n", ""])
def test_a_hidden_move_is_not_printed(option: str, laid: str, end: str) -> None:
    text = output("play", "spaces", "-o", option, stdin=f"{laid}\nstate\n{end}")
    _, _, after = text.partition("face down until it is answered.\n")
    assert "3:1:uuf" not in after
    assert "Orange ◆> state\nThe last move is face down: the position can be shown when both have moved" in after
    *_, note, command = after.splitlines()
    assert "the last position with nothing hidden" in note
    name, *arguments = shlex.split(command)
    assert name == "ludodrome"
    game = ludodrome.make("spaces", **{**ludodrome.make("spaces").people_options, **dict([option.split("=")])})
    assert arguments[-1] == game.format_state(game.initial_state())
    assert output(*arguments).splitlines()[-1] == command


def test_what_was_hidden_is_printed_when_both_have_moved() -> None:
    page = output("play", "spaces", "-o", "choice=blind", stdin="3:1:uuf\n3:0:u6uf\nstate\n3:0:u6uf\n")
    line = next(after for text, after in pairwise(page.splitlines()) if text.endswith("> state"))
    assert "3:1:uuf" in line
    assert page.splitlines()[-1].endswith(f"--state '{line}'")


def test_a_game_that_begins_with_something_hidden() -> None:
    line = "rounds 3 written blind 1/5 3:1:uuf -"
    text = output("play", "spaces", "-o", "choice=blind", "--state", line, stdin="state\nundo\n")
    assert "3:1:uuf" not in text
    assert text.splitlines()[-1] == ("You left the game. Its first move is face down, so there is no position to show.")


def test_ctrl_c_does_not_tell_what_is_hidden() -> None:
    with beside("play", "spaces", "-o", "choice=blind") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"3:1:uuf\n")
        process.stdin.flush()
        for line in process.stdout:
            if b"face down" in line:
                break
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate()
    assert process.returncode == 130
    assert b"nothing hidden" in rest
    assert b"3:1:uuf" not in rest


def test_the_arrow_key_does_not_bring_a_hidden_move_back() -> None:
    typed = "3:1:uuf\n\x1b[A\nquit\n"
    code, screen = on_terminal(["play", "--plain", "spaces", "-o", "choice=blind"], typed=typed)
    assert code == 0
    assert "3:1:uuf" not in screen.partition("face down until it is answered.")[2]
    _, screen = on_terminal(["play", "--plain", "spaces", "-o", "choice=seen"], typed=typed)
    assert "round 1: " in screen


def test_a_board_is_not_wrapped_on_a_narrow_terminal() -> None:
    game = ludodrome.make("santorini")
    _, screen = on_terminal(["play", "--plain", "santorini"], typed="quit\n", COLUMNS="20")
    assert game.name_seats(game.render(game.initial_state())) in re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", screen)


def test_undo() -> None:
    text = output("play", "dots", stdin="undo\nH00\nUNDO\nstate\n")
    assert "there is no move to take back" in text
    game = ludodrome.make("dots")
    assert f"Blue ●> state\n{game.format_state(game.initial_state())}\n" in text


def test_rules() -> None:
    text = output("play", "dots", stdin="rules\n")
    assert "## Goal\n" in text
    assert "**R1. " not in text


@pytest.mark.parametrize("typed", ["H00\nquit\n", "H00\n", "H00"])
def test_leaving_tells_how_to_go_on(typed: str) -> None:
    *_, last = output("play", "dots", "-o", "rows=1", "-o", "cols=2", stdin=typed).splitlines()
    head, line, _ = last.split("'")
    assert head == "ludodrome play dots -o rows=1 -o cols=2 --state "
    assert output("play", "dots", "-o", "rows=1", "-o", "cols=2", "--state", line).splitlines()[-1] == last


def _seed(text: str) -> int:
    """The seed that is shown, once."""
    (shown,) = re.findall(r"^Seed of the bots: (\d+)\.$", text, re.MULTILINE)
    return int(shown)


def test_bots_have_a_new_seed_that_is_shown_and_repeats_the_game() -> None:
    arguments = ["play", "dots", "--against", "random"]
    typed = "H00\nquit\n"
    texts = [output(*arguments, stdin=typed) for _ in range(2)]
    seeds = [_seed(text) for text in texts]
    assert seeds[0] != seeds[1]
    assert max(seeds).bit_length() > 64, "one of two seeds of 128 bits is longer than 64"
    assert f" --seat 0 --seed {seeds[0]} --state " in texts[0].splitlines()[-1]
    assert output(*arguments, "--seed", str(seeds[0]), stdin=typed) == texts[0]
    assert "Seed of the bots" not in output("play", "dots", stdin=typed), "people need none"


def test_empty_lines_and_strange_bytes_are_no_moves() -> None:
    text = output("play", "dots", stdin="\n  \n\x00\x1b[A\nH00\n")
    assert text.count("Blue ●> ") == 4
    assert "Orange ◆> " in text


def test_a_finished_position_is_over_at_once() -> None:
    text = output("play", "skysummit", "--state", "00000/03200/00111/00000/00000 B2E5 C4D2 9")
    assert text.endswith("Blue ● wins (reached level 3), scores 1 : 0\n")
    assert "> " not in text


def test_on_a_terminal() -> None:
    code, screen = on_terminal(["play", "--plain", "skysummit", "--state", NEARLY_WON], typed="rules\nundo\nb2\n")
    assert code == 0
    assert "Be the first to step up onto" in screen
    assert "\x1b[1;38;5;24mBlue ●" in screen
    assert "\x1b[1;38;5;130m◆1" in screen
    assert "wins" in screen.splitlines()[-1]


def test_ctrl_d_on_a_terminal() -> None:
    code, screen = on_terminal(["play", "--plain", "dots"], typed="\x04")
    assert code == 0
    assert "You left the game." in screen


def test_columns_are_read_downwards() -> None:
    assert in_columns(["a1", "a2", "b1", "b2", "c1"], 10) == "a1  b1  c1\na2  b2"
    assert in_columns(["a move longer than the screen", "b"], 10) == "a move longer than the screen\nb"
    assert in_columns([], 80) == ""


def test_a_round_of_spaces_is_run_step_by_step() -> None:
    text = output("play", "spaces", "-o", "rules=live", stdin="3:1:u6uf\n3:0:5uuf\n")
    assert "step 3  1 : 0" in text
    assert "◆ +1  ◆ -1 trap" in text
    assert "step 5  3 : 0" in text
    assert "step 6" not in text
    assert "step" not in output("play", "spaces", stdin="3:1:u6uf\n")


def test_a_large_round_is_run_in_a_line_a_step() -> None:
    codes = [f"40:{col}:{'u' * 39}f" for col in (1, 3)]
    text = output("play", "spaces", "-o", "size=40", stdin="\n".join(codes) + "\n")
    assert "step 41  40 : 40  ● (-1,1)  ◆ (40,36)  ● +1  ◆ +1" in text


def test_drawings_are_laid_out_side_by_side() -> None:
    frames = ["a\nb", "cc\nd", "e\nf"]
    assert side_by_side(frames, 12) == "a     cc\nb     d\n\ne\nf"
    assert side_by_side(["a", "b"], 80) == "a\nb"
