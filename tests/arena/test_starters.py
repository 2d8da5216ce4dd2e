"""Bots made by new-bot, in the arena: the doctor passes them, and they finish their games without a verdict."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

import ludodrome
from ludodrome.arena import game_loop
from ludodrome.arena.doctor import examine
from ludodrome.arena.doctor.examination import FAILURE, WARNING
from ludodrome.bots.starters import GAMES_WITH_STARTERS, LANGUAGES, write_starter
from tests.arena.playing import AMPLE, play_spec

USUAL = ("python", "javascript", "c")
"""The languages that the usual run tries, and other starters that it tries; the long run tries all."""
ALSO_USUAL = {("c-wasm", "dots"), ("c-wasm", "spaces"), ("assemblyscript", "dots")}
NODE_MODULES = Path(__file__).parents[2] / "node_modules"
MISSING_TARGET = "file not found|unable to find library|wasm-ld|target may not be installed"
MAY_WARN = {"hidden", "start", "clock"}
"""The starters need the list of legal moves; the other two depend on the machine."""


def made(language: str, game: str, folder: Path, long: bool) -> str:
    """The spec of a starter, built; the test is skipped, aloud, where that cannot be."""
    if language not in USUAL and (language, game) not in ALSO_USUAL and not long:
        pytest.skip(f"the {language} starter is tried with --long")
    starter = LANGUAGES[language]
    if shutil.which(starter.program) is None:
        pytest.skip(f"{starter.program} is not installed, so the {language} starter of {game} is not tried")
    write_starter(folder, game, language)
    if starter.spec.startswith("wasm:"):
        return made_wasm(language, folder)
    for line in starter.build:
        subprocess.run(line, shell=True, cwd=folder, check=True, capture_output=True)
    program, *arguments = shlex.split(starter.spec.removeprefix("cmd:"))
    there = [str(folder / word) if (folder / word).exists() else word for word in (program, *arguments)]
    return f"cmd:{shlex.join(there)}"


def made_wasm(language: str, folder: Path) -> str:
    """The spec of a WebAssembly starter, built with what is installed; nothing is downloaded."""
    pytest.importorskip("wasmtime")
    build = LANGUAGES[language].build[0]
    if language == "assemblyscript":
        if not (NODE_MODULES / "assemblyscript").is_dir():
            pytest.skip("AssemblyScript is not installed (npm install), so its starters are not tried")
        (folder / "node_modules").symlink_to(NODE_MODULES)
        build = build.removeprefix("npm install && ")
    built = subprocess.run(build, shell=True, cwd=folder, capture_output=True, text=True)
    if built.returncode and re.search(MISSING_TARGET, built.stderr):
        pytest.skip(f"the {language} starter cannot be built: the C library or the target of WASI is not installed")
    assert built.returncode == 0, built.stderr
    return f"wasm:{folder / LANGUAGES[language].spec.removeprefix('wasm:')}"


@pytest.mark.parametrize("game", GAMES_WITH_STARTERS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_starters_finish_their_games_against_greedy(language: str, game: str, tmp_path: Path, long: bool) -> None:
    spec = made(language, game, tmp_path, long)
    for number in range(100 if long else 2):
        bots = (spec, "greedy") if number % 2 == 0 else ("greedy", spec)
        record = game_loop.play(play_spec(game, bots, seed=number))
        assert record["result"]["verdicts"] == []
        assert record["result"]["decided_by"] == "play"
        assert "stderr" not in record
        assert "notes" not in record
        assert not [turn for turn in record["turns"] if "refusals" in turn]


@pytest.mark.parametrize("game", GAMES_WITH_STARTERS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_starters_pass_the_doctor(language: str, game: str, tmp_path: Path, long: bool) -> None:
    if not long and (language, game) not in {("python", "santorini"), ("javascript", "dots")}:
        pytest.skip(f"the doctor sees the {language} starter of {game} with --long")
    spec = made(language, game, tmp_path / "bot", long)
    found = list(examine(ludodrome.make(game), spec, tmp_path / "troubles", clock=AMPLE))
    assert not [finding for finding in found if finding.grade == FAILURE]
    assert {finding.check for finding in found if finding.grade == WARNING} <= MAY_WARN
