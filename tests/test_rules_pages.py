"""The rules pages: same headings, every rule named in the kernels and in a test, every reason listed."""

import json
import re
from pathlib import Path

import pytest

import ludodrome
from ludodrome.games import GAMES, find
from tests.cases import each_game

HEADINGS = ["Board", "Rules", "How it ends", "Options", "Encodings", "What is refused", "Example", "Rulings"]
ENCODINGS = ["State", "Move", "Order of legal moves", "Actions", "Notation", "One line", "Drawing"]
ROOT = Path(__file__).parent.parent


def rule_numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"^\*\*R(\d+)\. ", text, re.MULTILINE)]


@pytest.mark.parametrize("game_id", sorted(GAMES))
def test_every_page_has_the_same_headings(game_id: str) -> None:
    page = find(game_id).rules()
    headings = re.findall(r"^## (.+)$", page, re.MULTILINE)
    assert [heading for heading in headings if heading != "Strategy"] == HEADINGS
    encodings = re.findall(r"^### (.+)$", page, re.MULTILINE)
    assert [heading for heading in encodings if heading in ENCODINGS] == ENCODINGS


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
