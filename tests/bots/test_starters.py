"""What new-bot writes, in every language that is installed here: it builds, and plays only legal moves.

Here a bot talks to a few lines of this file; what the arena and the doctor say of it is in tests/arena/, and so are
the WebAssembly bots.
"""

import json
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import ludodrome
from ludodrome.bots.player import hello_message
from ludodrome.bots.starters import GAMES_WITH_STARTERS, LANGUAGES, commands, starter, write_starter
from ludodrome.game import Game, TooManyMoves
from ludodrome.splitmix import SplitMix64

OPTIONS: dict[str, list[dict[str, Any]]] = {
    "caldera": [{}, {"turn_limit": 7}],
    "dots": [{}, {"rows": 1, "cols": 1}, {"rows": 2, "cols": 12}, {"rows": 21, "cols": 1}],
    "santorini": [{}, {"players": 3}],
    "skysummit": [{}, {"turn_limit": 1}, {"turn_limit": 1000}],
    "spaces": [
        {},
        {"size": 2, "rules": "live"},
        {"size": 2, "choice": "blind"},
        {"size": 7, "mode": "deck", "rounds": 1},
        {"size": 100, "rules": "live", "rounds": 2},
    ],
}


def test_there_is_a_strategy_for_every_game() -> None:
    assert set(ludodrome.game_ids()) == set(GAMES_WITH_STARTERS) == set(OPTIONS)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("game", GAMES_WITH_STARTERS)
def test_a_starter_is_whole(game: str, language: str) -> None:
    texts = starter(game, language)
    assert LANGUAGES[language].strategy in texts
    assert f"ludodrome rules {game}" in texts[LANGUAGES[language].strategy]
    for line in commands(game, language):
        assert f"\n{line}\n" in texts["README.md"]
    assert "{" not in texts["README.md"]
    assert not [name for name in texts if name.endswith(".template") or "strategies" in name]
    assert (
        max(len(line) for text in texts.values() for line in text.splitlines() if text is not texts["README.md"]) <= 122
    )


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    written = write_starter(tmp_path / "deep" / "bot", "dots", "python")
    assert sorted(written) == ["README.md", "bot.py", "strategy.py"]
    before = {name: (tmp_path / "deep" / "bot" / name).read_text() for name in written}
    with pytest.raises(ValueError, match="is there already, and nothing is overwritten"):
        write_starter(tmp_path / "deep" / "bot", "dots", "c")
    assert {file.name: file.read_text() for file in (tmp_path / "deep" / "bot").iterdir()} == before
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match="is there already"):
        write_starter(tmp_path / "file", "dots", "c")
    with pytest.raises(ValueError, match="cannot be written: Not a directory"):
        write_starter(tmp_path / "file" / "under", "dots", "c")


def test_an_empty_folder_will_do(tmp_path: Path) -> None:
    assert "bot.c" in write_starter(tmp_path, "spaces", "c")


def test_unknown_games_and_languages_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no bot to begin with for 'chess'; the games are caldera, dots"):
        write_starter(tmp_path, "chess", "python")
    with pytest.raises(ValueError, match="in 'cobol'; the languages are python, javascript"):
        write_starter(tmp_path, "dots", "cobol")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("game_id", GAMES_WITH_STARTERS)
@pytest.mark.parametrize("language", [name for name, one in LANGUAGES.items() if one.spec.startswith("cmd:")])
def test_it_builds_and_plays(language: str, game_id: str, tmp_path: Path) -> None:
    made = LANGUAGES[language]
    if shutil.which(made.program) is None:
        pytest.skip(f"{made.program} is not installed, so the {language} starter of {game_id} is not tried")
    write_starter(tmp_path, game_id, language)
    for line in made.build:
        built = subprocess.run(line, shell=True, cwd=tmp_path, capture_output=True, text=True)
        assert built.returncode == 0, built.stderr
        assert "warning" not in built.stderr
    command = shlex.split(made.spec.removeprefix("cmd:"))
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=tmp_path, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        for options in OPTIONS[game_id]:
            play(process, ludodrome.make(game_id, **options))
        _, errors = process.communicate(timeout=30)  # closes its stdin, and it leaves by itself
    assert (process.returncode, errors) == (0, "")


def play(process: "subprocess.Popen[str]", game: Game) -> None:
    """One game in which the bot sits at every seat in turn and a random player makes every third move."""
    assert process.stdin is not None
    assert process.stdout is not None
    dice = SplitMix64(5)
    _send(process, hello_message(game, 0, 1234567890123456, "m-1"))
    state, turn = game.initial_state(5), 0
    while (seat := game.to_move(state)) is not None:
        moves = _listed(game, state)
        _send(process, {"type": "weather", "text": 'say "type": "turn" \\ ünïcode 🎲 [}', "list": [[], {}, -1.5e-3]})
        message = {"type": "turn", "match": "m-1", "game": game.id, "seat": seat, "player": seat, "turn": turn}
        shown = {"state": game.observation(state, seat), "legal_moves": moves, "deadline_ms": 1000, "ts_ms": 1.5e12}
        _send(process, {**message, **shown})
        answer = json.loads(process.stdout.readline())
        assert set(answer) == {"type", "move", "turn"}, answer
        assert (answer["type"], answer["turn"]) == ("move", turn)
        after = game.apply(state, answer["move"])
        state = game.apply(state, dice.choice(moves)) if moves and turn % 3 == 2 else after
        turn += 1
    _send(process, {"type": "over", "match": "m-1", "winner": None, "reason": "", "scores": [], "verdict": None})


def _listed(game: Game, state: Any) -> list[Any] | None:
    try:
        return game.legal_moves(state)
    except TooManyMoves:
        return None


def _send(process: "subprocess.Popen[str]", message: dict[str, Any]) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps(message, ensure_ascii=message["type"] == "weather") + "\n")
    process.stdin.flush()
