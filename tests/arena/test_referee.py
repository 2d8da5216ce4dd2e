"""The referee: what each fault leads to under each policy, who is notified of what, how clocks are charged."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ludodrome.arena import records
from ludodrome.arena.clocks import Clock
from ludodrome.arena.conditions import Conditions
from ludodrome.arena.game_loop import play, run
from ludodrome.arena.referee import Referee
from ludodrome.arena.seats import ARENA, CAUSES, CRASH, ERROR, ILLEGAL, PROTOCOL, TIMEOUT, Answer, SeatFault, Turn
from tests.arena.playing import Scripted, expire, first, play_spec


def faulty(cause: str, sent: str | None = None) -> Answer:
    return Answer(0.01, fault=SeatFault(cause, f"the {cause}"), sent=sent)


def offending(cause: str, at: int = 1) -> Scripted:
    """A seat that fails once in its second turn, or at another."""
    asked: list[Turn] = []

    def answer(turn: Turn) -> Answer:
        asked.append(turn)
        if len(asked) - 1 != at:
            return first(turn)
        return Answer(0.01, "nonsense") if cause == ILLEGAL else faulty(cause)

    return Scripted(answer)


def types(seat: Scripted) -> list[str]:
    return [message["type"] for message in seat.heard]


# Fuel


def test_a_seat_is_told_its_fuel_and_the_record_keeps_what_it_used() -> None:
    asked: list[Turn] = []

    def counted(turn: Turn) -> Answer:
        asked.append(turn)
        return Answer(0.0, turn.message["legal_moves"][0], fuel=1000 + turn.number)

    seats = [Scripted(counted), Scripted(first)]
    record = play(play_spec("dots", ("a", "b"), clock="fuel=50M", rows=1, cols=2), seats)
    records.verify(record)
    assert seats[0].heard[0]["clock"] == {"fuel": 50_000_000}
    assert {turn.fuel for turn in asked} == {50_000_000}
    assert [entry.get("fuel") for entry in record["turns"]] == [
        1000 + entry["turn"] if entry["seat"] == 0 else None for entry in record["turns"]
    ]
    record["turns"][0]["fuel"] += 1
    with pytest.raises(records.BadRecord, match="turn 0: its digest does not fit"):
        records.verify(record)


def test_a_seat_without_fuel_gets_a_timeout_with_its_own_sentence() -> None:
    fault = SeatFault.out_of_fuel(5000)
    seats = [Scripted(first), Scripted(lambda turn: Answer(0.1, fault=fault, fuel=5000))]
    record = play(play_spec(clock="fuel=5k"), seats)
    records.verify(record)
    assert record["result"]["verdicts"] == [
        {
            "seat": 1,
            "cause": TIMEOUT,
            "why": "it used up its fuel of 5000 instructions before it answered",
            "turn": 1,
        }
    ]


@pytest.mark.parametrize("bot", ["expert", "level:8", "alphabeta", "mcts", "greedy"])
def test_built_in_bots_play_the_same_game_under_the_same_fuel(bot: str) -> None:
    spec = play_spec("dots", (bot, "expert"), clock="fuel=300k", rows=2, cols=2)
    assert records.comparable(play(spec)) == records.comparable(play(spec))


# The conversation


def test_what_two_seats_hear() -> None:
    seats = [Scripted(first), Scripted(first)]
    record = play(play_spec("dots", ("a", "b"), rows=1, cols=2), seats)
    records.verify(record)
    hello = seats[1].heard[0]
    assert hello == {
        "type": "hello",
        "protocol": 1,
        "match": record["match"],
        "game": "dots",
        "options": {"rows": 1, "cols": 2},
        "seat": 1,
        "player": 1,
        "seats": 2,
        "clock": {"move_ms": 20000, "bank_ms": 0, "increment_ms": 0},
        "seed": record["seeds"][1],
    }
    turn = seats[0].heard[1]
    assert set(turn) == set("type match game seat player turn state legal_moves deadline_ms ts_ms".split())  # noqa: SIM905
    assert (turn["seat"], turn["player"], turn["turn"], turn["deadline_ms"]) == (0, 0, 0, 20000)
    assert turn["state"]["you"] == 0
    assert len(turn["legal_moves"]) == 7
    observe = seats[1].heard[1]
    assert set(observe) == {"type", "match", "seat", "turn", "state"}
    assert (observe["type"], observe["seat"], observe["turn"], observe["state"]["you"]) == ("observe", 1, 0, 1)
    for number, seat in enumerate(seats):
        assert types(seat)[1:-1] == ["turn" if one["seat"] == number else "observe" for one in record["turns"]]
        over = seat.heard[-1]
        result = record["result"]
        assert over == {
            "type": "over",
            "match": record["match"],
            **{name: result[name] for name in ("winner", "reason", "scores")},
            "verdict": None,
        }
        assert not seat.closed  # who brings seats closes them


@pytest.mark.parametrize("game", ["skysummit", "caldera", "santorini"])
def test_other_games_ask_only_the_mover(game: str) -> None:
    seats = [Scripted(first), Scripted(first)]
    play(play_spec(game, ("a", "b")), seats)
    assert not {"observe", "refused"} & {kind for seat in seats for kind in types(seat)}


def test_legal_moves_can_be_hidden() -> None:
    def answer(turn: Turn) -> Answer:
        assert turn.message["legal_moves"] is None
        return Answer(0.0, {"t": "place", "to": [0, 1]} if turn.seat == 0 else {"t": "place", "to": [2, 3]})

    referee = Referee(play_spec(legal_moves=False))
    for _ in range(2):
        assert referee.turn is not None
        referee.deliver(answer(referee.turn))
    assert referee.result is None


def test_boards_are_too_many_to_list() -> None:
    referee = Referee(play_spec("spaces", size=5))
    assert referee.turn is not None
    assert referee.turn.message["legal_moves"] is None


def test_a_hidden_board_is_not_shown() -> None:
    referee = Referee(play_spec("spaces", size=2, choice="blind"))
    assert referee.turn is not None
    referee.deliver(first(referee.turn))
    assert referee.turn.message["state"]["chosen"] is None
    assert referee.state["chosen"] is not None


def test_an_opening_is_on_the_board_first() -> None:
    opening = [{"t": "place", "to": [0, 1]}, {"t": "place", "to": [5, 6]}]
    record = play(play_spec(opening=opening))
    assert record["turns"][0]["turn"] == 2
    assert record["turns"][0]["seat"] == 0
    records.verify(record)
    with pytest.raises(ValueError, match="move 1 of the opening cannot be made"):
        Referee(play_spec(opening=[opening[0], opening[0]]))


def test_the_number_of_seats_must_fit() -> None:
    with pytest.raises(ValueError, match="santorini has 3 seats here, and 2 bots were given"):
        Referee(play_spec("santorini", players=3))
    with pytest.raises(ValueError, match="has 2 seats here, and 1 were given"):
        play(play_spec(), [Scripted(first)])


# Policies


@pytest.mark.parametrize("cause", [cause for cause in CAUSES if cause != ARENA])
def test_forfeit(cause: str) -> None:
    seats = [Scripted(first), offending(cause)]
    record = play(play_spec("skysummit", ("a", "b")), seats)
    records.verify(record)
    result = record["result"]
    assert (result["winner"], result["scores"], result["returns"]) == (0, [1, 0], [1, -1])
    assert (result["decided_by"], result["rated"], result["reason"]) == ("forfeit", True, f"seat 1 forfeits: {cause}")
    assert [(one["seat"], one["cause"], one["turn"]) for one in result["verdicts"]] == [(1, cause, 3)]
    assert "move" not in record["turns"][-1]
    assert seats[0].heard[-1]["verdict"] is None
    assert seats[1].heard[-1]["verdict"]["cause"] == cause
    if cause == ILLEGAL:
        assert record["turns"][-1]["refusals"][0]["sent"] == "nonsense"


def test_with_three_seats_the_others_share_first() -> None:
    seats = [Scripted(first), offending(TIMEOUT), Scripted(first)]
    record = play(play_spec("santorini", ("a", "b", "c"), players=3), seats)
    records.verify(record)
    result = record["result"]
    assert (result["winner"], result["returns"], result["scores"]) == (None, [0.5, -1, 0.5], [0.5, 0, 0.5])


@pytest.mark.parametrize("cause", [cause for cause in CAUSES if cause not in (ARENA, CRASH)])
def test_substitute_goes_on(cause: str) -> None:
    seats = [offending(cause), Scripted(first)]
    record = play(play_spec("dots", ("a", "b")), seats)
    records.verify(record)
    assert record["result"]["decided_by"] == "play"
    assert len(record["turns"]) == 60
    assert [turn["verdict"]["cause"] for turn in record["turns"] if "verdict" in turn] == [cause]
    instead = next(turn for turn in record["turns"] if "verdict" in turn)
    assert instead["substituted"] is True
    undrawn = next(message for message in seats[0].heard if message.get("turn") == instead["turn"])["legal_moves"]
    assert instead["move"] == undrawn[0]
    assert types(seats[0]).count("turn") == sum(turn["seat"] == 0 for turn in record["turns"])


def test_a_dead_bot_is_not_asked_again() -> None:
    seats = [Scripted(first), offending(CRASH)]
    record = play(play_spec("dots", ("a", "b")), seats)
    records.verify(record)
    assert types(seats[1]).count("turn") == 2
    later = [turn for turn in record["turns"] if turn["seat"] == 1][1:]
    assert all(turn["substituted"] and turn["verdict"]["cause"] == CRASH for turn in later)
    assert len(record["result"]["verdicts"]) == len(later) > 1
    assert record["result"]["decided_by"] == "play"


@pytest.mark.parametrize(
    "options", [{"size": 5}, {"size": 3, "mode": "deck"}, {"size": 2}, {"size": 10, "rules": "live"}]
)
def test_substitutes_in_spaces_are_legal(options: dict[str, Any]) -> None:
    bad = Scripted(lambda turn: Answer(0.0, "no board"))
    record = play(play_spec("spaces", ("a", "random"), policy="substitute", **options), [bad, bad])
    records.verify(record)
    assert all(turn["substituted"] for turn in record["turns"])


def test_retry_tells_why_and_asks_again() -> None:
    tries: list[Turn] = []

    def answer(turn: Turn) -> Answer:
        tries.append(turn)
        return Answer(0.5, "no idea") if len(tries) <= 3 else first(turn)

    seats = [Scripted(answer), Scripted(first)]
    record = play(play_spec("santorini", ("a", "b"), clock="10s"), seats)
    records.verify(record)
    assert record["result"]["verdicts"] == []
    assert types(seats[0])[:8] == ["hello", "turn", "refused", "turn", "refused", "turn", "refused", "turn"]
    refused = [message for message in seats[0].heard if message["type"] == "refused"]
    assert [message["tries_left"] for message in refused] == [9, 8, 7]
    assert refused[0]["why"].startswith("Format: no move like")
    assert [turn.number for turn in tries[:4]] == [0] * 4
    assert [turn.message["deadline_ms"] for turn in tries[:4]] == [10000, 10000, 9500, 9000]  # the first was the start
    entry = record["turns"][0]
    assert [(one["sent"], one["ms"]) for one in entry["refusals"]] == [("no idea", 500)] * 3
    assert entry["ms"] == 1500


def test_the_last_try_in_a_row_forfeits() -> None:
    asked: list[Turn] = []

    def answer(turn: Turn) -> Answer:
        asked.append(turn)
        return Answer(0.0, "no idea") if len(asked) != 2 else first(turn)  # one refusal, a move, and no more

    record = play(play_spec("santorini", ("a", "b"), policy="retry:3"), [Scripted(answer), Scripted(first)])
    records.verify(record)
    assert record["result"]["verdicts"] == [
        {"seat": 0, "cause": ILLEGAL, "why": record["result"]["verdicts"][0]["why"], "turn": 2}
    ]
    assert len(record["turns"][2]["refusals"]) == 3
    assert len(asked) == 5


@pytest.mark.parametrize("cause", [TIMEOUT, CRASH, PROTOCOL, ERROR])
def test_other_faults_are_not_retried(cause: str) -> None:
    record = play(play_spec("santorini", ("a", "b")), [offending(cause), Scripted(first)])
    records.verify(record)
    assert record["result"]["reason"] == f"seat 0 forfeits: {cause}"


def test_tries_end_with_the_clock() -> None:
    seats = [Scripted(lambda turn: Answer(0.4, "no idea")), Scripted(first)]
    record = play(play_spec("santorini", ("a", "b"), clock="1s", start_ms=0), seats)
    records.verify(record)
    assert record["result"]["verdicts"][0]["cause"] == TIMEOUT
    assert len(record["turns"][0]["refusals"]) == 2


# Which fault counts


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        (Answer(2.0, "legal"), TIMEOUT),
        (Answer(2.0, "illegal"), TIMEOUT),
        (Answer(2.0, fault=SeatFault(PROTOCOL, "")), TIMEOUT),
        (Answer(2.0, fault=SeatFault(ERROR, "")), TIMEOUT),
        (Answer(2.0, fault=SeatFault(CRASH, "")), CRASH),
        (Answer(2.0, fault=SeatFault(ARENA, "")), ARENA),
        (Answer(1.0, "illegal"), ILLEGAL),
        (Answer(1.0, fault=SeatFault(PROTOCOL, "")), PROTOCOL),
    ],
)
def test_late_is_late_whatever_it_is(answer: Answer, cause: str) -> None:
    referee = Referee(play_spec(clock="1s", start_ms=0))
    assert referee.turn is not None
    move = referee.turn.message["legal_moves"][0] if answer.move == "legal" else answer.move
    referee.deliver(Answer(answer.seconds, move, answer.fault))
    assert referee.result is not None
    assert referee.result["verdicts"][0]["cause"] == cause
    records.verify(referee.record())


def test_the_start_is_not_charged() -> None:
    referee = Referee(play_spec(clock="1s+2s", start_ms=5000))
    assert referee.turn is not None
    assert referee.turn.allowance == 5
    assert referee.turn.seconds == 3
    referee.deliver(Answer(6.5, referee.turn.message["legal_moves"][0]))
    assert referee.turn is not None
    assert (referee.turn.seat, referee.turn.allowance) == (1, 5)
    referee.deliver(first(referee.turn))
    assert referee.turn is not None
    assert (referee.turn.allowance, referee.turn.seconds) == (0, 2.5)


def test_a_clock_that_has_run_out_needs_no_question() -> None:
    conditions = Conditions("substitute", Clock(bank_ms=10_000), start_ms=0)
    spends = Scripted(lambda turn: Answer((turn.seconds or 0) + 1, fault=SeatFault(TIMEOUT, "too late")))
    record = play(replace(play_spec("dots", ("a", "b")), conditions=conditions), [spends, Scripted(first)])
    records.verify(record)
    assert types(spends).count("turn") == 1
    sentences = [one["why"] for one in record["result"]["verdicts"]]
    assert len(sentences) > 10
    assert sentences == ["too late"] + ["its clock had run out before"] * (len(sentences) - 1)


def test_expire() -> None:
    referee = Referee(play_spec())
    expire(referee, 31.0)
    assert referee.result is not None
    assert referee.result["verdicts"][0]["cause"] == TIMEOUT
    assert [notice.message["type"] for notice in referee.notices()] == ["over", "over"]
    assert referee.notices() == []
    with pytest.raises(RuntimeError, match="no question is open"):
        expire(referee, 1.0)


# The arena's own faults


class Broken(Scripted):
    def ask(self, turn: Turn) -> Answer:
        raise OSError("the wire is cut")


def test_a_carrier_that_breaks_is_our_fault() -> None:
    record = play(play_spec(), [Scripted(first), Broken(first)])
    records.verify(record)
    result = record["result"]
    assert (result["winner"], result["returns"], result["decided_by"], result["rated"]) == (None, [0, 0], ARENA, False)
    assert result["verdicts"][0]["why"] == "the arena broke: OSError: the wire is cut"


@pytest.mark.parametrize("policy", ["forfeit", "substitute", "retry:3"])
def test_a_built_in_that_breaks_is_our_fault(policy: str) -> None:
    record = play(play_spec(policy=policy), [Scripted(first), offending(ARENA)])
    records.verify(record)
    assert record["result"]["decided_by"] == ARENA
    assert record["turns"][-1]["verdict"]["cause"] == ARENA


def test_there_is_no_record_before_the_end() -> None:
    referee = Referee(play_spec())
    with pytest.raises(RuntimeError, match="not over"):
        referee.record()
    referee.abort(0, "enough")
    referee.abort(1, "and again")
    assert [one["why"] for one in referee.record()["result"]["verdicts"]] == ["enough"]
    run(referee, [])  # nothing is left to do; nobody is there to notify


_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["t", "to", "w", "build", "r", "c", "deck", "sequence", "boardSize"]), inner)
    ),
    max_leaves=12,
)


@pytest.mark.parametrize("game", ["skysummit", "caldera", "dots", "santorini", "spaces"])
@given(st.data())
@settings(max_examples=60)
def test_no_move_breaks_the_rules(game: str, data: st.DataObject) -> None:
    referee = Referee(play_spec(game, policy="forfeit"))
    move = data.draw(_values)
    referee.deliver(Answer(0.0, move))
    assert referee.result is not None
    assert referee.result["verdicts"][0]["cause"] == ILLEGAL
    records.verify(json.loads(records.to_text(referee.record())))


def test_rules_that_break_are_our_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    referee = Referee(play_spec())
    monkeypatch.setattr(type(referee.game), "apply_to", lambda *_: 1 // 0)
    referee.deliver(Answer(0.0, None))
    assert referee.result is not None
    assert referee.result["verdicts"][0]["why"].startswith("internal error in the rules: ZeroDivisionError")


# Texts as moves


def test_santorini_reads_what_language_models_write() -> None:
    def answer(turn: Turn) -> Answer:
        canonical = turn.message["legal_moves"][0]
        loose = f"I climb: {canonical.lower().replace('[', '[ ')} and hope."
        return Answer(0.0, loose)

    record = play(play_spec("santorini", ("a", "b")), [Scripted(answer), Scripted(first)])
    records.verify(record)
    assert record["result"]["decided_by"] == "play"
    assert all(len(turn["move"]) == 10 and turn["move"].isupper() for turn in record["turns"])


@pytest.mark.parametrize("move", [None, 5, {}, [], "", "[N1C2]", "x" * 5000, "\0"])
def test_santorini_refuses_what_is_no_move(move: Any) -> None:
    referee = Referee(play_spec("santorini"))
    assert referee.turn is not None
    referee.deliver(Answer(0.0, move))
    assert referee.turn is not None
    assert [notice.message["type"] for notice in referee.notices()] == ["refused"]
