"""People's own bots in Python files."""

from pathlib import Path
from typing import Any

import pytest

import ludodrome
from ludodrome.bots.player import Budget

WHOLE = """
from dataclasses import dataclass

@dataclass
class Mine:
    name: str = "the best"
    heard: object = None
    closed: bool = False

    def start(self, hello):
        self.heard = hello

    def choose(self, observation, budget=None):
        return [observation, budget, self.heard]

    def close(self):
        self.closed = True

class Small:
    def choose(self, observation):
        return observation

class Broken:
    def __init__(self):
        raise RuntimeError("no licence")

    def choose(self, observation):
        return None

class Nothing:
    choose = None

def function():
    pass
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(WHOLE, "utf-8")
    return path


def load(text: Any) -> Any:
    return ludodrome.bot(f"py:{text}", "dots")


def test_a_whole_bot(file: Path) -> None:
    bot = load(f"{file}:Mine")
    assert bot.name == "the best"
    bot.start({"seat": 1})
    assert bot.choose("position", Budget(time=1)) == ["position", Budget(time=1), {"seat": 1}]
    assert bot.choose("position") == ["position", None, {"seat": 1}]
    bot.close()
    assert bot._inner.closed


def test_what_a_bot_leaves_out_is_filled_in(file: Path) -> None:
    bot = load(f"{file}:Small")
    assert bot.name == "Small"
    bot.start({})
    assert bot.choose("position", Budget(time=1)) == "position"
    bot.close()


def test_two_bots_of_one_file_share_nothing(file: Path) -> None:
    assert type(load(f"{file}:Mine")._inner) is not type(load(f"{file}:Mine")._inner)


@pytest.mark.parametrize("text", ["", "mine.py", "mine.py:", ":Mine", "mine.py:not a name"])
def test_how_it_is_written(text: str) -> None:
    with pytest.raises(ValueError, match=r"a bot of one's own is named like py:mine.py:MyBot, not py:"):
        load(text)


def test_no_such_file() -> None:
    with pytest.raises(ValueError, match=r"there is no file nowhere.py for the bot py:nowhere.py:Mine"):
        load("nowhere.py:Mine")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("Yours", r"mine.py has no class 'Yours'; it has Mine, Small, Broken and Nothing"),
        ("function", r"function is no agent: it is called as select_move\(state, legal_moves\)"),
        ("Nothing", r"Nothing in .*mine.py is no bot: it has no method choose\(observation, budget=None\)"),
        ("Broken", r"Broken in .*mine.py could not be made: RuntimeError: no licence"),
    ],
)
def test_what_is_wrong_in_a_file_is_said(file: Path, name: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        load(f"{file}:{name}")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("import nothing_of_this_name", "could not be loaded: ModuleNotFoundError: No module named"),
        ("class", "could not be loaded: SyntaxError: "),
        ("assert False", "could not be loaded: AssertionError$"),
        ("x = 1", "has no class 'Mine'; no class in it has a method choose"),
    ],
)
def test_files_that_are_no_use(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "bad.py"
    path.write_text(text, "utf-8")
    with pytest.raises(ValueError, match=sentence):
        load(f"{path}:Mine")


def test_a_file_of_another_kind(tmp_path: Path) -> None:
    path = tmp_path / "bot.txt"
    path.write_text("", "utf-8")
    with pytest.raises(ValueError, match=r"is no Python file: its name does not end in .py"):
        load(f"{path}:Mine")


# Agents of AI-arena

AGENTS = """
import random

def select_move(state, legal_moves):
    return legal_moves[0]

def lucky(observation, moves, *, rng, seat, deadline_ms=None, verbose=False):
    assert isinstance(rng, random.Random)
    assert not verbose
    return [rng.random(), seat, deadline_ms, len(moves)]

def greedy_for_all(state, legal_moves, **context):
    return sorted(context)

class Agent:
    closed = False

    def select_move(self, state, legal_moves, player, game):
        return [game, player, legal_moves[-1]]

    def close(self):
        Agent.closed = True

def one_argument(state):
    return None

def needs_more(state, legal_moves, opponent_model):
    return None
"""


def agent(folder: Path, name: str) -> Any:
    """An agent that has been greeted for a game of dots."""
    path = folder / "agents.py"
    path.write_text(AGENTS)
    game = ludodrome.make("dots", rows=1, cols=1)
    found = ludodrome.bot(f"py:{path}:{name}", game, 0)
    found.start({"type": "hello", "game": "dots", "options": game.options, "seat": 1, "player": 1, "seed": 5})
    return found


def test_agents_of_ai_arena_play_as_they_are(tmp_path: Path) -> None:
    game = ludodrome.make("dots", rows=1, cols=1)
    seen = game.observation(game.initial_state(), 0)
    legal = game.legal_moves(game.initial_state())
    assert agent(tmp_path, "select_move").choose(seen) == legal[0]
    first, second = (agent(tmp_path, "lucky").choose(seen, Budget(time=1.5)) for _ in range(2))
    assert first == second  # the same seed
    assert first[1:] == [1, 1500, 4]
    assert agent(tmp_path, "Agent").choose(seen) == ["dots", 1, legal[-1]]
    assert "deadline_ms" in agent(tmp_path, "greedy_for_all").choose(seen)
    agent(tmp_path, "Agent").close()


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("one_argument", r"one_argument is no agent: it is called as select_move\(state, legal_moves\)"),
        ("needs_more", "needs_more needs opponent_model, and an agent can be given seat, player"),
    ],
)
def test_agents_that_cannot_be_called(tmp_path: Path, name: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        agent(tmp_path, name)
