"""Records as text: what is written is read back whole, and what is wrong is named by its line."""

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ludodrome.arena.conditions import conditions
from ludodrome.arena.game_loop import play
from ludodrome.arena.matches.openings import opening
from ludodrome.arena.play_spec import PlaySpec
from ludodrome.arena.records import BadRecord
from ludodrome.arena.records.notation import format_records, parse_records
from ludodrome.arena.seats import Answer, Turn
from ludodrome.games import make
from tests.arena.playing import Scripted, play_spec

GAMES: list[tuple[str, dict[str, Any]]] = [
    ("skysummit", {}),
    ("caldera", {}),
    ("dots", {"rows": 2, "cols": 3}),
    ("santorini", {}),
    ("santorini", {"players": 3}),
    ("spaces", {}),
    ("spaces", {"mode": "deck", "rules": "live"}),
]


def record(game_id: str, options: dict[str, Any], seed: int = 1) -> dict[str, Any]:
    game = make(game_id, **options)
    bots = ("random",) * game.seats
    begun = opening(game, seed, 0).moves if game.id == "dots" else ()
    return play(
        PlaySpec(game_id, game.options, bots, bots, conditions(game, clock="none"), seed << 32, begun),
    )


@pytest.mark.parametrize(("game", "options"), GAMES)
def test_records_are_written_and_read_back(game: str, options: dict[str, Any]) -> None:
    records = [record(game, options, seed) for seed in (1, 2)]
    text = "% two games\n" + "\n".join(format_records(records))
    assert [json.dumps(one) for one in parse_records(text)] == [json.dumps(one) for one in records]


def lines_of(game: str = "caldera") -> list[str]:
    return list(format_records([record(game, {})]))


def test_a_text_without_games_has_none() -> None:
    assert list(parse_records("% nothing\n\n\n")) == []


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda lines: [*lines[:-1], lines[-1].replace(lines[-1].split()[1], "Z99")], "line {last}: "),
        (lambda lines: [*lines, "fine words"], "line {after}: a turn is written like"),
        (lambda lines: [*lines, '[game "dots"]'], "line {after}: [game ...] is misplaced here"),
        (lambda lines: [line for line in lines if not line.startswith("[result")], "has no line [result ...]"),
        (lambda lines: [line.replace('[seed "', '[seed "1') for line in lines], "does not verify: "),
        (lambda lines: ["[game nonsense]", *lines[1:]], "line 1: "),
        (lambda lines: ["import os"], "line 1: this is not a record of a game: it has no line [game ...]"),
        (lambda lines: lines[:-1], "does not verify: turn "),
        (lambda lines: [line.replace('[digest "', '[digest "0') for line in lines], "does not verify: "),
        (lambda lines: [*lines[:-1], lines[-1].replace('{"ms"', '{"seat":1,"ms"')], "cannot follow the semicolon"),
    ],
)
def test_what_is_wrong_is_named_by_its_line(change: Any, sentence: str) -> None:
    lines = lines_of()
    with pytest.raises(BadRecord) as error:
        list(parse_records("\n".join(change(lines))))
    assert sentence.format(last=len(lines), after=len(lines) + 1) in str(error.value)


def test_a_game_without_its_digest_gets_one() -> None:
    whole = record("skysummit", {})
    text = "\n".join(line for line in format_records([whole]) if not line.startswith("[digest"))
    assert [one["digest"] for one in parse_records(text)] == [whole["digest"]]


# Evaluations


def evaluated(*infos: list[dict[str, Any]]) -> dict[str, Any]:
    """A game of dots in which both seats say what they think, one list of messages after another."""
    said = iter(infos)

    def answer(turn: Turn) -> Answer:
        return Answer(0.0123456, turn.message["legal_moves"][0], info=tuple(next(said, [])))

    return play(play_spec("dots", ("a", "b"), rows=1, cols=2), [Scripted(answer), Scripted(answer)])


def test_evaluations_are_written_as_comments_and_read_back() -> None:
    whole = evaluated(
        [{"score": 120, "depth": 9, "nodes": 350_000}],
        [{"score": -0.5}],
        [{"depth": 3}],
        [{"nodes": 7}],
        [{"score": 1e-7, "nodes": 0}],
        [{"score": 1, "text": "+3/4 {"}, {"score": 0, "depth": 2, "pv": [["H", 0, 0]]}],
        [{"text": "no number"}],
    )
    lines = list(format_records([whole]))
    assert [line.partition("  ")[2] for line in lines[-7:]] == [
        "{+120/9 350000n 0.012346s}",
        "{-0.5 0.012346s}",
        "{/3 0.012346s}",
        "{7n 0.012346s}",
        "{+1e-07 0n 0.012346s}",
        '{+0/2 0.012346s}  ; {"info":[{"score":1,"text":"+3/4 {"},{"score":0,"depth":2,"pv":[["H",0,0]]}]}',
        '; {"ms":12.346,"info":[{"text":"no number"}]}',
    ]
    assert [json.dumps(one) for one in parse_records("\n".join(lines))] == [json.dumps(whole)]


@given(
    st.builds(
        lambda score, depth, nodes, text: {
            name: value
            for name, value in {"score": score, "depth": depth, "nodes": nodes, "text": text}.items()
            if value is not None
        },
        st.none() | st.integers(-(10**12), 10**12) | st.floats(-1e15, 1e15),
        st.none() | st.integers(0, 2**62),
        st.none() | st.integers(0, 2**62),
        st.none() | st.just("well"),
    )
)
@settings(deadline=None, max_examples=60)
def test_every_evaluation_is_read_back(info: dict[str, Any]) -> None:
    whole = evaluated([info] if info else [])
    assert [json.dumps(one) for one in parse_records("\n".join(format_records([whole])))] == [json.dumps(whole)]


@pytest.mark.parametrize(
    ("comment", "sentence"),
    [
        ("{5 s}", "an evaluation is written like {+120/9 350000n 0.35s}, not '{5 s}'"),
        ("{+1/2 99s}", "the comment says 99000 ms, and after the semicolon it is 12.346"),
        ("{+2/2}", "the comment and the info after the semicolon say different things"),
    ],
)
def test_a_comment_that_contradicts_is_named_by_its_line(comment: str, sentence: str) -> None:
    lines = list(format_records([evaluated([{"text": "x"}, {"score": 1, "depth": 2}])]))
    first = next(number for number, line in enumerate(lines) if line.startswith("0. "))
    lines[first] = re.sub(r"\{\+1/2 .*?s\}  ; \{", f'{comment}  ; {{"ms":12.346,', lines[first])
    with pytest.raises(BadRecord) as error:
        list(parse_records("\n".join(lines)))
    assert str(error.value) == f"line {first + 1}: {sentence}"


def test_a_text_of_an_earlier_version_is_read() -> None:
    lines = list(format_records([evaluated()]))  # without evaluations nothing is new
    assert all("; {" in line for line in lines if line[0].isdigit())
    assert len(list(parse_records("\n".join(lines)))) == 1
