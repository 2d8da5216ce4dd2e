"""Records: the same game gives the same record; a record that was touched is found out, at its turn."""

import copy
import json
import random
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ludodrome.arena import records
from ludodrome.arena.game_loop import play
from ludodrome.arena.records import BadRecord, notation
from ludodrome.arena.referee import Referee
from ludodrome.arena.seats import Answer, Turn
from ludodrome.games import make
from tests.arena.playing import Scripted, first, play_spec, zoo

GAMES: list[tuple[str, dict[str, Any]]] = [
    ("skysummit", {}),
    ("caldera", {"turn_limit": 40}),
    ("dots", {"rows": 2, "cols": 2}),
    ("santorini", {}),
    ("santorini", {"players": 3}),
    ("spaces", {"size": 2, "rounds": 2}),
    ("spaces", {"size": 3, "mode": "deck"}),
]
H00 = {"orient": "H", "r": 0, "c": 0}
POLICIES = ("forfeit", "substitute", "retry:2")


def erring(seed: int) -> Scripted:
    """A seat that now and then sends what cannot be played."""
    dice = random.Random(seed)

    def answer(turn: Turn) -> Answer:
        chance = dice.random()
        if chance < 0.06:
            return Answer(0.001, dice.choice([None, "x" * 20_000, {"a": [1, "\0"]}, "nothing"]))
        moves = turn.message["legal_moves"]
        return Answer(0.001, dice.choice(moves) if moves else straight(turn))

    return Scripted(answer)


def straight(turn: Turn) -> Any:
    """A board up the first column, or ten of them."""
    size = turn.message["state"]["size"]
    rows = [*range(size - 1, -1, -1), -1]
    steps = [
        {"position": {"row": row, "col": 0}, "type": "final" if row < 0 else "piece", "order": order}
        for order, row in enumerate(rows, 1)
    ]
    board = {"boardSize": size, "sequence": steps}
    return {"deck": [board] * 10} if turn.message["state"]["mode"] == "deck" else board


def some(count: int) -> Iterator[dict[str, Any]]:
    """Records of many kinds."""
    for number in range(count):
        game, options = GAMES[number % len(GAMES)]
        seats = options.get("players", 2)
        given = play_spec(game, ["x"] * seats, POLICIES[number // len(GAMES) % 3], seed=number, **options)
        yield play(given, [erring(number * 10 + seat) for seat in range(seats)])


# The same again


@pytest.mark.parametrize(("game", "options"), GAMES)
def test_the_same_game_gives_the_same_record(game: str, options: dict[str, Any]) -> None:
    seats = options.get("players", 2)
    given = play_spec(game, ["greedy", "random", "random"][:seats], clock="nodes=500", **options)
    one, other = (records.comparable(play(given)) for _ in range(2))
    assert records.to_text(one) == records.to_text(other)
    searching = "greedy" if game == "spaces" else "alphabeta"
    given = play_spec(
        game, [searching, "mcts" if game != "spaces" else "random", "random"][:seats], clock="sims=20", **options
    )
    one, other = (records.comparable(play(given)) for _ in range(2))
    assert records.to_text(one) == records.to_text(other)
    assert one["digest"] == records.digest(other)


def test_a_child_that_is_deterministic_gives_the_same_record() -> None:
    given = play_spec("dots", (zoo("good"), zoo("answers_observe")), rows=2, cols=2)
    one, other = (records.comparable(play(given)) for _ in range(2))
    assert records.to_text(one) == records.to_text(other)


def test_times_are_the_only_difference() -> None:
    quick, slow = (
        play(play_spec("dots", ("a", "b"), rows=1, cols=1), [seat, seat])
        for seat in (Scripted(first), Scripted(lambda turn: Answer(1.0, first(turn).move)))
    )
    assert quick["ms"] == [0, 0]
    assert slow["ms"] != [0, 0]
    assert quick["digest"] == slow["digest"]
    assert records.comparable(quick) == records.comparable(slow)


# Verifying


def test_records_verify(long: bool) -> None:
    for record in some(1000 if long else 60):
        records.verify(record)
        records.verify(records.from_text(records.to_text(record).encode()))


def regions(text: bytes) -> list[int]:
    """Where moves, seeds, options and the result are."""
    patterns = (
        rb'"options":\{.*?\}',
        rb'"seed":[^,]*',
        rb'"seeds":\[[^\]]*\]',
        rb'"seat":\d,"move":.*?,"ms"',
        rb'"result":.*?"rated":\w+',
    )
    spans = [match.span() for pattern in patterns for match in re.finditer(pattern, text, re.DOTALL)]
    return [place for start, end in spans for place in range(start, end)]


def flipped(text: bytes, place: int, dice: random.Random) -> bytes:
    alphabet = [byte for byte in b'0123456789eE.-+ "[]{},:tfn' if byte != text[place]]
    byte = dice.choice(alphabet) if dice.random() < 0.7 else text[place] ^ (1 << dice.randrange(8))
    return text[:place] + bytes([byte]) + text[place + 1 :]


def detected(text: bytes) -> bool:
    try:
        records.verify(records.from_text(text))
    except BadRecord:
        return True
    return False


def test_any_flipped_byte_is_detected(long: bool) -> None:
    dice = random.Random(5)
    for number, record in enumerate(some(200 if long else 21)):
        text = records.to_text(record).encode()
        places = regions(text)
        assert len(places) > 50
        if number not in (0, 2):
            places = dice.sample(places, 40)
        for place in places[:1500]:
            touched = flipped(text, place, dice)
            assert detected(touched), (place, text[place - 20 : place + 20], touched[place - 20 : place + 20])


def test_a_forger_who_mends_the_digest_is_found_by_the_rules() -> None:
    record = play(play_spec("dots", ("greedy", "random"), rows=2, cols=2))

    def forge(change: Any) -> str:
        forged = copy.deepcopy(record)
        change(forged)
        forged["digest"] = records.digest(forged)
        with pytest.raises(BadRecord) as raised:
            records.verify(forged)
        return str(raised.value)

    def swap_seats(forged: dict[str, Any]) -> None:
        forged["turns"][3]["seat"] = 1 - forged["turns"][3]["seat"]

    def win(forged: dict[str, Any]) -> None:
        forged["result"]["winner"] = 1 - forged["result"]["winner"]

    assert forge(swap_seats).startswith("turn 3: seat ")
    assert "winner" in forge(win)
    assert "turn 4: the move cannot be made" in forge(lambda r: r["turns"][4].update(move=r["turns"][0]["move"]))
    assert "turn 5: it has the number 6" in forge(lambda r: r["turns"].pop(5))
    assert "not over after the last turn" in forge(lambda r: r["turns"].pop())
    assert "comes after the end" in forge(lambda r: r["turns"].append({**r["turns"][-1], "turn": len(r["turns"])}))
    assert "seeds is" in forge(lambda r: r["seeds"].reverse())
    assert "match is" in forge(lambda r: r.update(seed="2"))
    assert "a seed is a text of digits" in forge(lambda r: r.update(seed=2))
    assert "a seed is a text of digits" in forge(lambda r: r.update(seed="0" + r["seed"]))
    assert "commitment is" in forge(lambda r: r.update(commitment="0" * 64))
    assert "unknown key 'note'" in forge(lambda r: r.update(note="hello"))
    assert "turn 2: it has the unknown key 'x'" in forge(lambda r: r["turns"][2].update(x=1))
    assert "turn 2: under the policy substitute" in forge(
        lambda r: r["turns"][2].update(verdict={"cause": "timeout", "why": ""})
    )
    assert "turn 2: there is no verdict on the seat" in forge(lambda r: r["turns"][2].update(substituted=True))
    assert "turn 2: a move was refused that is legal" in forge(
        lambda r: r["turns"][2].update(refusals=[{"sent": r["turns"][2]["move"], "why": "", "ms": 0}])
    )
    assert "malformed" in forge(lambda r: r["turns"][2].pop("seat"))
    assert "version 1 or 2" in forge(lambda r: r.update(version=3))


@pytest.mark.parametrize(("players", "seat"), [(2, 0), (2, 1), (3, 2)])
def test_somebody_may_resign_on_the_move_or_not(players: int, seat: int) -> None:
    referee = Referee(play_spec("santorini", ("person",) * players, players=players))
    for _ in range(2):
        assert referee.turn is not None
        referee.deliver(first(referee.turn))
    referee.resign(seat)
    record = referee.record()
    records.verify(record)
    assert record["result"]["decided_by"] == "resignation"
    assert record["result"]["returns"][seat] == -1
    assert record["result"]["verdicts"][-1]["cause"] == "resigned"
    assert len(record["turns"]) == 2
    assert _written_and_read(record)["result"] == record["result"]
    for name, value in (("seat", 3), ("seat", True), ("turn", 1), ("cause", "error"), ("x", 1)):
        forged = copy.deepcopy(record)
        forged["result"]["verdicts"][-1][name] = value
        forged["digest"] = records.digest(forged)
        with pytest.raises(BadRecord):
            records.verify(forged)


def _written_and_read(record: dict[str, Any]) -> dict[str, Any]:
    (read,) = notation.parse_records("\n".join(notation.format_records([record])))
    return read


def test_nobody_resigns_a_game_that_is_over() -> None:
    record = play(play_spec("dots", ("greedy", "random"), rows=1, cols=1))
    verdict = {"seat": 0, "cause": "resigned", "why": "", "turn": 4}
    record["result"] = {**record["result"], "decided_by": "resignation", "verdicts": [verdict]}
    with pytest.raises(BadRecord, match="a game that is over cannot be resigned"):
        records.verify({**record, "digest": records.digest(record)})


def test_a_game_may_begin_in_any_position() -> None:
    game = make("dots", rows=2, cols=2)
    state = game.apply(game.apply(game.initial_state(), game.legal_moves(game.initial_state())[3]), H00)
    begun = replace(play_spec("dots", ("greedy", "random"), rows=2, cols=2), position=state)
    record = play(begun)
    records.verify(record)
    assert len(record["turns"]) == 10
    assert _written_and_read(record)["turns"] == record["turns"]
    over = play(play_spec("dots", ("greedy", "random"), rows=1, cols=1))
    with pytest.raises(BadRecord):
        records.verify({**record, "position": None})
    states = [make("dots", rows=1, cols=1).initial_state()]
    for entry in over["turns"]:
        states.append(make("dots", rows=1, cols=1).apply(states[-1], entry["move"]))
    with pytest.raises(ValueError, match="the game is over"):
        play(replace(play_spec("dots", ("greedy", "random"), rows=1, cols=1), position=states[-1]))


def test_the_turn_is_named() -> None:
    record = play(play_spec("dots", ("a", "b"), rows=2, cols=2), [Scripted(first), Scripted(first)])
    record["turns"][7]["digest"] = "0" * 16
    with pytest.raises(BadRecord, match="turn 7: its digest") as raised:
        records.verify(record)
    assert raised.value.ply == 7


def test_a_substitute_is_the_first_legal_move() -> None:
    seats = [Scripted(lambda turn: Answer(0.0, None)), Scripted(first)]
    record = play(play_spec("dots", ("a", "b"), rows=1, cols=1), seats)
    records.verify(record)
    record["turns"][0]["move"] = record["turns"][1]["move"]
    with pytest.raises(BadRecord, match="turn 0: the substituted move is not the first legal move"):
        records.verify(record)


def test_what_was_sent_is_kept_to_size() -> None:
    assert records.stored_answer({"a": 1}) == {"sent": {"a": 1}}
    assert records.stored_answer("a\0") == {"sent": '"a\\u0000"', "cut": True}
    long_text = records.stored_answer("x" * 20_000)
    assert long_text["cut"] is True
    assert len(long_text["sent"]) == 1000
    assert records.stored_answer(object())["cut"] is True


# Files


def test_files(tmp_path: Path) -> None:
    record = play(play_spec("dots", ("random", "random"), rows=1, cols=1))
    record["stderr"] = ["↑ é", ""]
    path = records.write(record, tmp_path / "new" / "folder")
    assert path.name == f"{record['match']}.json"
    assert records.read(path) == record
    assert records.write(record, path.parent) == path
    assert [one.name for one in path.parent.iterdir()] == [path.name]
    assert "↑ é" in path.read_text("utf-8")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "is not a record: the line is not JSON"),
        (b"[]", "does not begin with"),
        (b"{}", "does not begin with"),
        (b'{"ludodrome": "record", "version": 7}', "version 7, and only 1 and 2 are known"),
        (b'{"ludodrome": "record", "ludodrome": "record"}', "twice"),
        (b"\xff", "not UTF-8"),
    ],
)
def test_what_is_no_record(content: bytes, why: str, tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_bytes(content)
    with pytest.raises(BadRecord) as raised:
        records.read(path)
    assert why in str(raised.value)
    with pytest.raises(BadRecord, match="cannot be read: No such file"):
        records.read(tmp_path / "elsewhere")


def test_whatever_is_missing_is_a_bad_record() -> None:
    record = play(play_spec("dots", ("random", "random"), rows=1, cols=1))
    for name in record:
        less = {key: value for key, value in record.items() if key != name}
        with pytest.raises(BadRecord):
            records.verify(less)
        for other in (None, 5, "x", [], {}, [5], {"a": 1}):
            if other != record[name]:
                with pytest.raises(BadRecord):
                    records.verify({**record, name: other})
    assert json.loads(records.to_text(record)) == record
