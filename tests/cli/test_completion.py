"""The shells' completion: what is offered, as a shell asks for it; and Bash, Zsh and fish themselves where they are."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer.main

import ludodrome
from ludodrome.cli import app, completion, whole_program
from ludodrome.cli.base import COMPLETION_VARIABLE
from ludodrome.cli.completion import KINDS, PREFIXES, WORDS, candidates
from ludodrome.games import BUILT_IN
from tests.cli.running import PROGRAM, complaint, output, run

BREAKS = " \t\n\"'><=;|&(:"
"""As Bash has them."""


def offered(line: str, shell: str = "zsh") -> list[str]:
    """The words that are offered at the end of a line, in this process."""
    program = typer.main.get_command(app)
    breaks = "".join(BREAKS.split()) if shell == "bash" else ""
    return [word for word, _ in completion._words(program, line, breaks)]


def asked(line: str, shell: str) -> subprocess.CompletedProcess[str]:
    """What the program answers to a shell."""
    variables = {COMPLETION_VARIABLE: shell, completion.LINE: line, completion.BREAKS: BREAKS}
    return subprocess.run(PROGRAM, env={**os.environ, **variables}, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("ludodrome spr", ["sprt"]),
        ("ludodrome spaces che", ["check"]),
        ("ludodrome play ", ludodrome.game_ids()),
        ("ludodrome play do", ["dots"]),
        ("ludodrome match dots gr", ["greedy"]),
        ("ludodrome match dots greedy le", [f"level:{n}" for n in range(1, 9)]),
        ("ludodrome match dots cha", ["chains"]),
        ("ludodrome match caldera cha", []),
        ("ludodrome match caldera al", ["alphabeta"]),
        ("ludodrome match spaces al", []),
        ("ludodrome match spaces mc", []),
        ("ludodrome tournament run --game spaces:size=3 --bot mc", []),
        ("ludodrome sprt dots random cm", ["cmd:"]),
        ("ludodrome play dots --against ex", ["expert"]),
        ("ludodrome tournament run --bot ra", ["random"]),
        ("ludodrome show dots -o ", ["rows=", "cols="]),
        ("ludodrome show spaces --option ru", ["rules=written", "rules=live"]),
        ("ludodrome show -o ", []),
        ("ludodrome new-bot mine --game=sk", ["--game=skysummit"]),
        ("ludodrome new-bot mine --game dots --language ja", ["javascript", "java"]),
        ("ludodrome serve --la", ["--lan", "--ladder"]),
        ("ludodrome serve --ladder o", ["off", "on"]),
        ("ludodrome completion ", ["bash", "fish", "zsh"]),
        ("ludodrome replay gam", []),
        ("ludodrome nonsense ", []),
        ("ludodrome 'match' \"dots\" gre", ["greedy"]),
    ],
)
def test_what_is_offered(line: str, words: list[str]) -> None:
    assert offered(line) == words


@pytest.mark.parametrize("game", BUILT_IN)
def test_every_bot_that_can_play_is_offered_and_no_other(game: str) -> None:
    assert offered(f"ludodrome doctor {game} ") == [*ludodrome.bot_names(game), *PREFIXES]


def test_every_option_of_every_game_is_offered() -> None:
    for game in ludodrome.game_ids():
        names = {word.partition("=")[0] for word in offered(f"ludodrome show {game} -o ")}
        assert names == set(ludodrome.make(game).options)


def test_every_place_for_a_game_or_a_bot_is_known() -> None:
    """A parameter that its help calls GAME, BOT or K=V has candidates; and every name of the table is a parameter's."""
    names = set()
    for command in _commands(whole_program()):
        context = typer.Context(command, info_name=command.name, resilient_parsing=True)
        for parameter in command.get_params(context):
            names.add(parameter.name)
            if (parameter.metavar or "").strip("[].") in KINDS and parameter.metavar != "K=V":
                assert candidates(parameter, context, ""), (command.name, parameter.name)
    assert set(WORDS) <= names


def _commands(command: Any) -> list[Any]:
    inner = getattr(command, "commands", {}).values()
    return [command, *(one for each in inner for one in _commands(each))]


def test_bash_replaces_only_what_follows_a_colon_or_an_equals_sign() -> None:
    assert offered("ludodrome match dots level:", "bash") == [str(n) for n in range(1, 9)]
    assert offered("ludodrome show spaces -o rules=", "bash") == ["written", "live"]
    assert offered("ludodrome new-bot mine --game=sk", "bash") == ["skysummit"]


@pytest.mark.parametrize("shell", completion.SCRIPTS)
def test_a_shell_is_answered(shell: str) -> None:
    done = asked("ludodrome doctor d", shell)
    assert done.stdout == ("dots\n" if shell == "bash" else "dots\tDots and Boxes\n")
    assert (done.returncode, done.stderr) == (0, "")


def test_an_answer_imports_nothing_heavy() -> None:
    variables = {COMPLETION_VARIABLE: "bash", completion.LINE: "ludodrome match dots ", completion.BREAKS: ""}
    program = [sys.executable, "-X", "importtime", "-m", "ludodrome"]
    done = subprocess.run(program, env={**os.environ, **variables}, capture_output=True, text=True, check=True)
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    assert "greedy" in done.stdout
    assert not imported & {"numba", "numpy", "llvmlite", "pydantic", "rich", "sqlalchemy"}


def test_another_shell_is_refused() -> None:
    assert complaint(run("completion", "tcsh")) == "completion exists for bash, zsh and fish, not for tcsh"


@pytest.fixture
def on_path(tmp_path: Path) -> dict[str, str]:
    """An environment in which `ludodrome` is this program."""
    program = tmp_path / "bin" / "ludodrome"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ludodrome "$@"\n')
    program.chmod(0o755)
    return {**os.environ, "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path)}


def _shell(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"there is no {name}: its completion was not tried")
    return found


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("ludodrome ru", ["rules"]),
        ("ludodrome match dots level:", ["1", "2", "3", "4", "5", "6", "7", "8"]),
        ("ludodrome show dots -o r", ["rows="]),
    ],
)
def test_bash_itself(on_path: dict[str, str], line: str, words: list[str]) -> None:
    script = f"""
eval "$(ludodrome completion bash)"
compopt() {{ echo "compopt $1 $2"; }}
COMP_LINE={line!r} COMP_POINT=${{#COMP_LINE}}
_ludodrome ludodrome
printf '%s\\n' "${{COMPREPLY[@]}}"
complete -p ludodrome
"""
    done = subprocess.run([_shell("bash"), "--norc", "-c", script], env=on_path, capture_output=True, text=True)
    *said, complete = done.stdout.splitlines()
    assert complete == "complete -o default -F _ludodrome ludodrome"
    assert said == ["compopt -o nospace"] * words[0].endswith("=") + words
    assert done.stderr == ""


def test_fish_itself(on_path: dict[str, str]) -> None:
    script = "ludodrome completion fish | source; complete -C 'ludodrome match dots gree'"
    done = subprocess.run([_shell("fish"), "-c", script], env=on_path, capture_output=True, text=True)
    assert done.stdout.split("\t")[0] == "greedy"


def test_zsh_itself(on_path: dict[str, str]) -> None:
    script = f"""
compadd() {{ print -l "${{(@P)@[-1]}}" }}
compdef() {{ : }}
_files() {{ print files }}
{output("completion", "zsh")}
words=(ludodrome match dots gree) CURRENT=4
_ludodrome
words=(ludodrome replay '') CURRENT=3
_ludodrome
"""
    done = subprocess.run([_shell("zsh"), "-f", "-c", script], env=on_path, capture_output=True, text=True)
    assert done.stdout.splitlines() == ["greedy", "files"]
