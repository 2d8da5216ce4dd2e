"""What the lines of a bot mean, without a bot: answers, telemetry, ``ready``, and what is dropped."""

import json
from typing import Any

import pytest

from ludodrome.arena.seats import Answer, BotCapabilities, Turn
from ludodrome.arena.telemetry import MAX_TURN_INFO
from ludodrome.arena.transports.conversation import Conversation

MOVE: dict[str, Any] = {"type": "move", "move": "a"}


def turn(number: int = 0, seconds: float | None = 20.0, allowance: float = 0.0) -> Turn:
    """A question."""
    return Turn(number, 0, seconds, allowance, None, dict, lambda one: {})


def lines(*said: Any) -> bytes:
    """Messages as the bot writes them."""
    return b"".join((one if isinstance(one, bytes) else json.dumps(one).encode()) + b"\n" for one in said)


def ask(talk: Conversation, number: int, *said: Any, early: bytes = b"", settled: bool = False) -> Answer | None:
    """Ask a question; ``early`` was said before it was sent."""
    talk.begin(turn(number))
    talk.receive(early)
    assert talk.answer() is None
    talk.asked(settled)
    talk.receive(lines(*said))
    return talk.answer()


def moved(answer: Answer | None) -> Any:
    """The move of an answer without a fault."""
    assert answer is not None
    assert answer.fault is None
    return answer.move


# Whose answer it is


def test_an_answer_that_came_before_the_question_is_a_second_answer() -> None:
    talk = Conversation()
    assert moved(ask(talk, 0, MOVE, {"type": "move", "move": "again"})) == "a"
    assert moved(ask(talk, 2, {"type": "move", "move": "c"})) == "c"
    assert talk.notes == ["a second answer to turn 0 came before turn 2 and was dropped"]


def test_a_second_answer_whose_end_comes_after_the_question_is_one_too() -> None:
    """It was taken for the answer to the next question: a bot without buffers writes the line and its end apart."""
    talk = Conversation()
    assert moved(ask(talk, 0, MOVE)) == "a"
    talk.begin(turn(2))
    talk.receive(lines({"type": "move", "move": "again"})[:-1])
    assert talk.answer() is None
    talk.asked()
    talk.receive(b"\n" + lines({"type": "move", "move": "c"}))
    assert moved(talk.answer()) == "c"
    assert talk.notes == ["a second answer to turn 0 came before turn 2 and was dropped"]


def test_what_is_said_before_a_settled_question_answers_observe() -> None:
    talk = Conversation()
    talk.observe(0)
    assert talk.needs_settling
    assert moved(ask(talk, 1, {"type": "move", "move": "b"}, early=lines(MOVE), settled=True)) == "b"
    assert not talk.needs_settling
    talk.observe(2)
    talk.observe(3)
    assert moved(ask(talk, 4, {"type": "move", "move": "b"}, settled=True)) == "b"  # it answers only some
    assert talk.notes == []


def test_a_line_that_began_before_a_settled_question_is_no_answer_to_it() -> None:
    talk = Conversation()
    talk.observe(0)
    talk.begin(turn(1))
    talk.receive(lines(MOVE)[:9])
    assert talk.answer() is None
    talk.asked(settled=True)
    talk.receive(lines(MOVE)[9:] + lines({"type": "move", "move": "b"}))
    assert moved(talk.answer()) == "b"


def test_without_settling_a_bot_that_was_seen_to_answer_observe_owes_answers_in_order() -> None:
    talk = Conversation()
    talk.observe(0)
    assert moved(ask(talk, 1, {"type": "move", "move": "b"}, early=lines(MOVE))) == "b"
    talk.observe(2)
    talk.observe(3)
    assert moved(ask(talk, 4, MOVE, MOVE, {"type": "move", "move": "e"})) == "e"


def test_a_bot_that_numbers_its_turns_need_not_number_answers_to_observe() -> None:
    talk = Conversation()
    assert moved(ask(talk, 0, {**MOVE, "turn": 0})) == "a"
    talk.observe(1)
    assert not talk.needs_settling
    assert moved(ask(talk, 2, MOVE, {"type": "move", "move": "b", "turn": 2})) == "b"
    talk.observe(3)
    assert moved(ask(talk, 4, {**MOVE, "turn": 3}, {"type": "move", "move": "c", "turn": 4})) == "c"
    assert talk.notes == []


def test_answers_of_another_game_are_dropped() -> None:
    talk = Conversation()
    talk.start("m-2")
    assert moved(ask(talk, 0, {**MOVE, "turn": 0, "match": "m-1"}, {**MOVE, "turn": 0, "match": "m-2"})) == "a"
    assert talk.notes == ["an answer to turn 0 came in turn 0 and was dropped"]


def test_an_answer_that_was_owed_in_the_last_game_is_dropped_in_the_next() -> None:
    talk = Conversation()
    talk.begin(turn(0, seconds=0.0))
    late = talk.answer()
    assert late is not None
    assert late.fault is not None
    assert late.fault.cause == "timeout"
    talk.observe(1)
    talk.start("m-2")
    assert talk.needs_settling
    assert moved(ask(talk, 0, MOVE, {"type": "move", "move": "b"}, settled=True)) == "b"
    assert talk.notes == ["a late answer without a number came in turn 0 and was dropped"]


def test_half_a_line_is_kept() -> None:
    talk = Conversation()
    talk.begin(turn())
    talk.asked()
    talk.receive(b'{"type": "mo')
    assert talk.answer() is None
    crash = talk.crash("it exited with code 0")
    assert crash.fault is not None
    assert crash.fault.why == "it exited with code 0; its last line had no newline"
    assert crash.sent == '{"type": "mo'


# Telemetry


def test_info_is_kept_by_turn() -> None:
    talk = Conversation()
    info = {"score": -1.5, "depth": 9, "nodes": 350_000, "pv": ["a", {"b": 1}], "text": "so\0"}
    said = {"type": "info", "turn": 0, **info, "seldepth": 3}
    answer = ask(talk, 0, said, {"type": "info", "turn": 7, "score": 1}, {"type": "info", "depth": None}, MOVE)
    assert moved(answer) == "a"
    assert answer is not None
    assert answer.info == ({**info, "text": "so\\u0000"},)
    following = ask(talk, 2, MOVE)
    assert following is not None
    assert following.info == ()


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"score": "good"}, "score of info is a number, not 'good'"),
        ({"score": True}, "score of info is a number, not true"),
        ({"score": 10**30}, "score of info is a number"),
        ({"depth": -1}, "depth of info is a whole number from 0, not -1"),
        ({"nodes": 1.5}, "nodes of info is a whole number from 0, not 1.5"),
        ({"pv": "e4"}, "pv of info is a list of moves, not 'e4'"),
        ({"pv": ["\0"]}, "pv of info contains a NUL"),
        ({"text": 5}, "text of info is a text, not 5"),
        ({"text": "x" * 5000}, "it has at most 4096 bytes"),
    ],
)
def test_malformed_info_is_dropped_with_a_note(fields: dict[str, Any], why: str) -> None:
    talk = Conversation()
    answer = ask(talk, 3, {"type": "info", **fields}, MOVE)
    assert moved(answer) == "a"
    assert answer is not None
    assert answer.info == ()
    assert len(talk.notes) == 1
    assert talk.notes[0].startswith("info in turn 3 was dropped: ")
    assert why in talk.notes[0]


def test_info_is_bounded() -> None:
    talk = Conversation()
    answer = ask(talk, 0, *[{"type": "info", "depth": depth, "pv": ["x" * 3900]} for depth in range(100)], MOVE)
    assert answer is not None
    assert 50_000 < len(json.dumps(answer.info)) <= MAX_TURN_INFO
    assert [one["depth"] for one in answer.info] == list(range(100 - len(answer.info), 100))
    assert talk.notes == ["more than 65536 bytes of info came in turn 0; the earliest were dropped"]


# Ready


def test_ready_before_the_question_ends_the_start() -> None:
    talk = Conversation()
    talk.begin(turn(0, seconds=1.0, allowance=10.0))
    before = talk.deadline
    talk.receive(lines({"type": "ready", "games": "many", "wants": ["clocks", "tea"]}))
    assert talk.answer() is None
    assert talk.deadline == pytest.approx(before - 10.0)
    talk.asked()
    talk.receive(lines(MOVE))
    answer = talk.answer()
    assert answer is not None
    assert answer.ready_after == 0.0
    assert talk.capabilities == BotCapabilities(games_many=True, wants_clocks=True)
    talk.start()
    assert talk.capabilities == BotCapabilities()


def test_ready_during_the_question_ends_the_allowance_then() -> None:
    talk = Conversation()
    talk.begin(turn(0, seconds=1.0, allowance=10.0))
    before = talk.deadline
    talk.asked()
    talk.receive(lines({"type": "ready"}, MOVE))
    answer = talk.answer()
    assert answer is not None
    assert answer.ready_after is not None
    assert 0.0 < answer.ready_after < 1.0
    assert talk.deadline == pytest.approx(before - 10.0 + answer.ready_after)


def test_a_bot_that_never_says_ready_keeps_its_allowance() -> None:
    talk = Conversation()
    answer = ask(talk, 0, {"type": "ready", "games": 5, "wants": None}, MOVE)
    assert answer is not None
    assert answer.ready_after is not None  # malformed fields are ignored, with a note
    assert talk.notes == ['ready was read without its fields: games of ready is "one" or "many", not 5']
    old = Conversation()
    silent = ask(old, 0, MOVE)
    assert silent is not None
    assert silent.ready_after is None


# Tolerance


@pytest.mark.parametrize("line", [b"thinking...", b"\xff\xfe", b"[1, 2]", b"42"])
def test_a_tolerant_conversation_ignores_lines_that_are_not_json(line: bytes) -> None:
    talk = Conversation(tolerant=True)
    assert moved(ask(talk, 0, line, MOVE)) == "a"
    assert talk.notes[0].startswith("a line that is not JSON came in turn 0 and was ignored: ")
    strict = ask(Conversation(), 0, line, MOVE)
    assert strict is not None
    assert strict.fault is not None
    assert strict.fault.cause == "protocol"


def test_a_tolerant_conversation_still_refuses_malformed_messages() -> None:
    answer = ask(Conversation(tolerant=True), 0, {"type": "move"}, MOVE)
    assert answer is not None
    assert answer.fault is not None
    assert answer.fault.cause == "protocol"


def test_of_several_answers_after_observe_the_last_is_to_the_question() -> None:
    talk = Conversation()
    talk.observe(0)
    talk.observe(1)
    log = {"type": "log", "text": "so"}
    assert moved(ask(talk, 2, MOVE, log, MOVE, log, {"type": "move", "move": "b"}, settled=True)) == "b"
    assert moved(ask(talk, 4, MOVE, b"not json", {"type": "move", "move": "b"})) == "a"
