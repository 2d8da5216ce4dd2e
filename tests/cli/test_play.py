import random

import pytest

import ludodrome
from ludodrome.cli.play import WORDS, in_columns
from ludodrome.game import TooManyMoves
from tests.cli.running import OPENINGS, on_terminal, output

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
    texts, outcome = script(ludodrome.make(game_id))
    *_, last = output("play", game_id, stdin="\n".join(texts) + "\n").splitlines()
    assert last.startswith("drawn" if outcome.winner is None else f"seat {outcome.winner} ")
    assert f"({outcome.reason}), scores " in last


def test_three_players() -> None:
    texts, outcome = script(ludodrome.make("santorini", players=3))
    told = output("play", "santorini", "-o", "players=3", stdin="\n".join(texts) + "\n")
    assert "seat 2 ■> " in told
    assert told.splitlines()[-1].startswith(f"seat {outcome.winner} ")


def test_a_move_is_repeated_in_notation_and_the_board_is_drawn() -> None:
    game = ludodrome.make("skysummit")
    told = output("play", "skysummit", "--state", NEARLY_WON, stdin="b2\n")
    assert game.render(game.parse_state(NEARLY_WON)) in told
    assert "seat 0 ●> b2\nseat 0 ●  1B3-B2\n" in told
    assert told.endswith("seat 0 ● wins (reached level 3), scores 1 : 0\n")


def test_a_refused_move_is_explained_and_asked_for_again() -> None:
    told = output("play", "dots", stdin="H99\nH00\nh 0 0\nquit\n")
    assert "there is no edge H(9,9)" in told
    assert "H(0,0) is already drawn" in told
    assert told.count("seat 1 ◆> ") == 2


def test_every_word_is_offered_and_explained() -> None:
    told = output("play", "santorini", stdin="help\n")
    assert told.startswith("Santorini. Type a move, or one of help, moves, undo, state, rules, quit.\n")
    assert "The notation for people is the canonical text itself." in told
    for word in WORDS:
        assert f" • {word}: " in told


def test_moves_are_listed() -> None:
    told = output("play", "dots", "-o", "rows=1", "-o", "cols=1", stdin="moves\n")
    assert "H(0,0)  H(1,0)  V(0,0)  V(0,1)\n" in told


def test_moves_that_are_too_many() -> None:
    told = output("play", "spaces", stdin="moves\n3:1:uuf\n")
    with pytest.raises(TooManyMoves) as caught:
        ludodrome.make("spaces").legal_moves(ludodrome.make("spaces").initial_state())
    assert f"seat 0 ●> moves\n{caught.value}\n" in told
    assert "seat 1 ◆> " in told


def test_a_hidden_move_is_not_drawn_before_it_is_answered() -> None:
    told = output("play", "spaces", "-o", "choice=blind", stdin="3:1:uuf\n3:0:u6uf\n")
    assert "face down" in told
    assert "laid by seat 0" not in told
    assert "round 1: 3:1:uuf 3 : 2 3:0:u6uf (goal)" in told
    assert "laid by seat 0: 3:1:uuf" in output("play", "spaces", stdin="3:1:uuf\n")


def test_undo() -> None:
    told = output("play", "dots", stdin="undo\nH00\nUNDO\nstate\n")
    assert "there is no move to take back" in told
    game = ludodrome.make("dots")
    assert f"seat 0 ●> state\n{game.format_state(game.initial_state())}\n" in told


def test_rules() -> None:
    assert "**R1. " in output("play", "dots", stdin="rules\n")


@pytest.mark.parametrize("typed", ["H00\nquit\n", "H00\n", "H00"])
def test_leaving_tells_how_to_go_on(typed: str) -> None:
    *_, last = output("play", "dots", "-o", "rows=1", "-o", "cols=2", stdin=typed).splitlines()
    head, line, _ = last.split("'")
    assert head == "ludodrome play dots -o rows=1 -o cols=2 --state "
    assert output("play", "dots", "-o", "rows=1", "-o", "cols=2", "--state", line).splitlines()[-1] == last


def test_empty_lines_and_strange_bytes_are_no_moves() -> None:
    told = output("play", "dots", stdin="\n  \n\x00\x1b[A\nH00\n")
    assert told.count("seat 0 ●> ") == 4
    assert "seat 1 ◆> " in told


def test_a_finished_position_is_over_at_once() -> None:
    told = output("play", "skysummit", "--state", "00000/03200/00111/00000/00000 B2E5 C4D2 9")
    assert told.endswith("seat 0 ● wins (reached level 3), scores 1 : 0\n")
    assert "> " not in told


def test_on_a_terminal() -> None:
    code, screen = on_terminal(["play", "skysummit", "--state", NEARLY_WON], typed="rules\nundo\nb2\n")
    assert code == 0
    assert "R1. Players and workers." in screen
    assert "\x1b[1;38;5;24mseat 0 ●" in screen
    assert "\x1b[1;38;5;130m◆1" in screen
    assert "wins" in screen.splitlines()[-1]


def test_ctrl_d_on_a_terminal() -> None:
    code, screen = on_terminal(["play", "dots"], typed="\x04")
    assert code == 0
    assert "The game is left." in screen


def test_columns_are_read_downwards() -> None:
    assert in_columns(["a1", "a2", "b1", "b2", "c1"], 10) == "a1  b1  c1\na2  b2"
    assert in_columns(["a move longer than the screen", "b"], 10) == "a move longer than the screen\nb"
    assert in_columns([], 80) == ""
