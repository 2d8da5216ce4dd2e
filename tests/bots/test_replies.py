"""The last legal move in an answer counts; tried on answers as language models write them."""

from typing import Any

import pytest

import ludodrome
from ludodrome.bots.prompts import ILLEGAL, MOVE, NOTHING, bracketed, legal_texts, read_reply, spoken

H23 = {"orient": "H", "r": 2, "c": 3}
V01 = {"orient": "V", "r": 0, "c": 1}
STEP = {"t": "move", "w": 0, "to": 7, "build": 8}


def placed() -> tuple[ludodrome.Game, Any]:
    """Skysummit with all workers on the board: seat 0 on A3 and A4, seat 1 on C3 and C4."""
    game = ludodrome.make("skysummit")
    state = game.initial_state()
    for cells in ([2, 3], [12, 13]):
        state = game.apply(state, {"t": "place", "to": cells})
    return game, state


SANTORINI = {
    "[N1C2B2C3]": "[N1C2B2C3]",
    "I'll go with [n1 c2 b2 c3].": "[N1C2B2C3]",
    "N1C2B2C3": "[N1C2B2C3]",
    "Move N1 from C2? Hmm: N1 C2 -> B2, build C3": "[N1C2B2C3]",
    # Several in one answer: the last legal one.
    "Options are [N1C2B1A1], [N1C2B2C3] and [N2B3A3A2]. The last is best.": "[N2B3A3A2]",
    "[N2B3A3A2] looks good.\n\nWait, [N1C2C3B3] is even better.": "[N2B3A3A2]",  # N2 stands on B3
    "Final answer: [N1C2B2C3]\n\nThis stops White from playing [W2C4C3B3] next turn.": "[N1C2B2C3]",
    # A move in brackets outranks one that is only mentioned.
    "[N1C2B2C3] it is. Had I played N2B3A3A2, White would have answered W1.": "[N1C2B2C3]",
    # Thoughts are no answer.
    "<think>[N2B3A3A2] wins? No, it does not.</think>\n[N1C2B2C3]": "[N1C2B2C3]",
    "<thinking>\nwhat about [N2B3A3A2]\n</thinking> I choose [N1C2B2C3]": "[N1C2B2C3]",
    # Boxed, bold, fenced and quoted.
    "**Move:** `[N1C2B2C3]`": "[N1C2B2C3]",
    "```\n[N1C2B2C3]\n```": "[N1C2B2C3]",
    "The answer is $\\boxed{[N1C2B2C3]}$.": "[N1C2B2C3]",
    '{"reasoning": "C3 must be raised", "action": "[N1C2B2C3]"}': "[N1C2B2C3]",
}


@pytest.mark.parametrize("reply", SANTORINI)
def test_the_last_legal_move_of_santorini_counts(reply: str) -> None:
    game = ludodrome.make("santorini")
    found = read_reply(game, game.initial_state(), reply)
    assert (found.kind, found.move, found.why) == (MOVE, SANTORINI[reply], "")


DOTS: dict[str, Any] = {
    "H(2,3)": H23,
    "I draw **H(2, 3)**.": H23,
    "horizontal edge h 2 3": H23,
    "H23": H23,
    "[V(0,1)]. It avoids H(2,3), which would hand over a box.": V01,
    "H(2,3) or V(0,1)": V01,
    "V(0,1), then later H(9,9)": V01,
    '```json\n{"orient": "H", "r": 2, "c": 3}\n```': H23,
    '{"plan": "quiet", "move": {"orient": "H", "r": 2, "c": 3}}': H23,
    "{not json at all} V(0,1)": V01,
}


@pytest.mark.parametrize("reply", DOTS)
def test_the_last_legal_move_of_dots_counts(reply: str) -> None:
    game = ludodrome.make("dots")
    found = read_reply(game, game.observation(game.initial_state(), 0), reply)
    assert (found.kind, found.move) == (MOVE, DOTS[reply])


@pytest.mark.parametrize(
    "reply",
    [
        "[1A3-B3 ^B4]",
        "1A3-B3 ↑B4",
        "Worker 1: A3 -> B3, build B4",
        "I step A3 to B3 and build on B4.",
        '{"t": "move", "w": 0, "to": 7, "build": 8}',
    ],
)
def test_moves_of_skysummit_are_read_generously(reply: str) -> None:
    game, state = placed()
    assert read_reply(game, state, reply).move == STEP


def test_placements_moves_of_caldera_and_boards_are_read() -> None:
    skysummit = ludodrome.make("skysummit")
    assert read_reply(skysummit, skysummit.initial_state(), "[place B2 and C3]").move == {"t": "place", "to": [6, 12]}
    caldera = ludodrome.make("caldera")
    start = caldera.initial_state()
    forge = read_reply(caldera, start, "In 10-12 turns this may matter: S62 ^ 52.").move
    assert caldera.format_move(forge, start) == "S62^52"
    assert caldera.format_move(read_reply(caldera, start, "L61 -> 43").move, start) == "L61-43"
    spaces = ludodrome.make("spaces")
    laid = read_reply(spaces, spaces.initial_state(), "My board: [3:1:ul8uf]!").move
    assert spaces.format_move(laid, spaces.initial_state()) == "3:1:ul8uf"
    deck = ludodrome.make("spaces", mode="deck")
    ten = ", ".join(["3:1:uuf"] * 10)
    assert len(read_reply(deck, deck.initial_state(), f"[{ten}]").move["deck"]) == 10


@pytest.mark.parametrize("reply", ["", "I resign.", "Legal moves are all bad [sic].", "<think>[N1C2B2C3]"])
def test_an_answer_without_a_move_says_how_one_is_written(reply: str) -> None:
    game = ludodrome.make("santorini")
    found = read_reply(game, game.initial_state(), reply)
    assert found.kind == NOTHING
    assert "[N1C2B2C3]" in found.why


def test_an_answer_with_illegal_moves_alone_says_what_is_wrong_with_the_last() -> None:
    game = ludodrome.make("santorini")
    found = read_reply(game, game.initial_state(), "[N1C2E5E4] or else [N1C2C3B3]")
    assert (found.kind, found.text, found.why) == (ILLEGAL, "N1C2C3B3", "Cannot build there: B3 is occupied by Navy's worker 2.")
    sky, state = placed()
    wrong = read_reply(sky, state, '{"t": "move", "w": 0, "to": 24, "build": null}')
    assert wrong.kind == ILLEGAL
    assert "not next to worker 1" in wrong.why


@pytest.mark.parametrize("game_id", ["caldera", "dots", "santorini", "skysummit"])
def test_every_legal_move_is_read_as_it_is_shown(game_id: str) -> None:
    game = ludodrome.make(game_id)
    state = game.initial_state()
    for _ in range(4):
        moves = game.legal_moves(state)
        texts = legal_texts(game, game.observation(state, game.to_move(state)), moves)
        assert texts is not None
        for move, text in list(zip(moves, texts, strict=True))[:: max(1, len(moves) // 20)]:
            assert read_reply(game, state, f"Well, {text}.").move == move
            assert read_reply(game, state, f"Well, {text.strip('[]')}.").move == move
        state = game.apply(state, moves[len(moves) // 2])


def test_hostile_answers_are_read_quickly() -> None:
    game = ludodrome.make("dots")
    for reply in ("[" * 200_000, "{" * 200_000, "H(9,9)" * 50_000, '{"a":' * 50_000, "H(" * 100_000, "\0\ud800"):
        assert read_reply(game, game.initial_state(), reply).kind in (ILLEGAL, NOTHING)


def test_thoughts_are_cut_off_and_brackets_are_put_around() -> None:
    assert spoken("a<think>b</think>c") == "c"
    assert spoken("a<think>b") == "a"
    assert bracketed("H(0,0)") == "[H(0,0)]"
    assert bracketed("[N1C2B2C3]") == "[N1C2B2C3]"
