"""Records as text: what is written is read back whole, and what is wrong is named by its line."""

import json
from typing import Any

import pytest

from ludodrome.arena.conditions import conditions
from ludodrome.arena.game_loop import play
from ludodrome.arena.matches.openings import opening
from ludodrome.arena.play_spec import PlaySpec
from ludodrome.arena.records import BadRecord
from ludodrome.arena.records.notation import format_records, parse_records
from ludodrome.games import make

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
    begun = tuple(opening(game, seed, 0)) if game.id == "dots" else ()
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
