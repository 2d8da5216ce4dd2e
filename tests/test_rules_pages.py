"""The rules pages: same headings, every rule named in the kernels and in a test, every reason listed."""

import json
import re
from pathlib import Path

import pytest

import ludodrome
from ludodrome.games import GAMES, find
from tests.cases import each_game

PEOPLE = ["Goal", "Setup", "Your turn", "Who wins", "A few tips", "For programs"]
HEADINGS = ["Board", "Rules", "How it ends", "Options", "Encodings", "What is refused", "Example", "Rulings"]
ENCODINGS = ["State", "Move", "Order of legal moves", "Actions", "Notation", "One line", "Drawing"]
FURTHER = ("Eruptions", "The round", "Strategy")
"""Chapters that some games have besides."""
ROOT = Path(__file__).parent.parent


def rule_numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"^\*\*R(\d+)\. ", text, re.MULTILINE)]


@pytest.mark.parametrize("game_id", sorted(GAMES))
def test_every_page_has_the_same_headings(game_id: str) -> None:
    page = find(game_id).rules()
    headings = re.findall(r"^## (.+)$", page, re.MULTILINE)
    assert [heading for heading in headings if heading not in FURTHER] == [*PEOPLE, *HEADINGS]
    encodings = re.findall(r"^### (.+)$", page, re.MULTILINE)
    assert [heading for heading in encodings if heading in ENCODINGS] == ENCODINGS


@pytest.mark.parametrize("game_id", sorted(GAMES))
def test_the_part_for_people_is_short_and_speaks_to_you(game_id: str) -> None:
    entry = find(game_id)
    people, programs = entry.rules_for_people(), entry.rules_for_programs()
    assert people + "\n" + programs == entry.rules()
    assert re.match(r"# .+\n\n## Goal\n\n", people)
    assert not rule_numbers(people)
    assert not re.search(r"\b(seat|ply|index|encod\w+|JSON)\b", people, re.IGNORECASE)
    assert len(re.findall(r"\byour?\b", people, re.IGNORECASE)) > 10
    assert len(people.split()) < 600


@pytest.mark.parametrize("game_id", sorted(GAMES))
def test_the_part_for_people_names_the_seats_as_the_board_does(game_id: str) -> None:
    people = find(game_id).rules_for_people()
    for name in find(game_id).game_class().seat_names:
        assert f"**{name}**" in people


@pytest.mark.parametrize("game_id", sorted(GAMES))
def test_every_rule_is_named_in_the_kernels_and_in_a_test(game_id: str) -> None:
    numbers = rule_numbers(find(game_id).rules())
    assert numbers == list(range(1, len(numbers) + 1))
    package = ROOT / "src" / "ludodrome" / "games" / game_id
    kernels = "".join(file.read_text("utf-8") for file in package.glob("*.py"))
    tests = "".join(file.read_text("utf-8") for file in (ROOT / "tests" / "games" / game_id).glob("test_*.py"))
    for number in numbers:
        assert re.search(rf"\bR{number}\b", kernels), f"R{number} of {game_id} is named nowhere in the package"
        assert re.search(rf"def test_r{number}_", tests), f"R{number} of {game_id} has no test named after it"


@pytest.mark.parametrize("game_id", each_game())
def test_every_reason_and_option_is_documented(game_id: str) -> None:
    page = find(game_id).rules()
    game = ludodrome.make(game_id)
    for reason in game.reasons[1:]:
        assert f"| `{reason}` |" in page
    for name in game.options:
        assert f"| `{name}` |" in page


@pytest.mark.parametrize("game_id", each_game())
def test_the_json_on_the_page_is_json_and_its_states_are_states(game_id: str) -> None:
    blocks = re.findall(r"```json\n(.*?)```", find(game_id).rules(), re.DOTALL)
    assert blocks
    states = 0
    for block in blocks:
        value = json.loads(block)
        if isinstance(value, dict) and "winner" in value and "you" not in value:
            options = {name: value[name] for name in ("rows", "cols", "players", "size", "rules") if name in value}
            if game_id == "spaces":
                options |= {name: value[name] for name in ("mode", "choice")}
                options |= {"rounds": value["rounds"]} if value["mode"] == "rounds" else {}
            game = ludodrome.make(game_id, **options)
            assert game.decode(game.encode(value)) == value
            states += 1
    assert states
