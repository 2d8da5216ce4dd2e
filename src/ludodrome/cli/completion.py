"""Shell completion: `completion`, and the answers to a shell that asks.

The shell's script starts the program with two variables: the name of the shell, and the line up to the cursor. The
answer has a line for each word: the word, a tab, a short description. Nothing here imports Numba, so that answers come
at once.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import SimpleNamespace
from typing import Annotated, Any

import typer
from typer._click.shell_completion import _resolve_context, _resolve_incomplete, split_arg_string

from ludodrome.bots.registry import playable
from ludodrome.bots.starters import LANGUAGES
from ludodrome.cli import console
from ludodrome.cli.base import COMPLETION_VARIABLE, Command, CommandError, examples
from ludodrome.games import GAMES

app = typer.Typer()

LINE = "_LUDODROME_LINE"
BREAKS = "_LUDODROME_BREAKS"
"""The characters besides spaces at which Bash splits words: it replaces only what follows the last of them."""
MAX_HELP = 72

SCRIPTS = {
    "bash": f"""\
# Completion of ludodrome for Bash. In ~/.bashrc:  eval "$(ludodrome completion bash)"
_ludodrome() {{
    local IFS=$'\\n'
    local line="${{COMP_LINE:0:COMP_POINT}}"
    COMPREPLY=($({COMPLETION_VARIABLE}=bash {LINE}="$line" {BREAKS}="$COMP_WORDBREAKS" "$1" 2>/dev/null))
    [[ ${{COMPREPLY[0]-}} == *[=:] ]] && compopt -o nospace
    return 0
}}
complete -o default -F _ludodrome ludodrome
""",
    "zsh": f"""\
#compdef ludodrome
# Completion of ludodrome for Zsh. In ~/.zshrc, after compinit:  eval "$(ludodrome completion zsh)"
_ludodrome() {{
    local word description
    local -a whole open whole_description open_description
    while IFS=$'\\t' read -r word description; do
        if [[ $word == *[=:] ]]; then
            open+=("$word"); open_description+=("$word${{description:+  -- $description}}")
        else
            whole+=("$word"); whole_description+=("$word${{description:+  -- $description}}")
        fi
    done < <({COMPLETION_VARIABLE}=zsh {LINE}="${{(j: :)words[1,CURRENT]}}" "${{words[1]}}" 2>/dev/null)
    (( $#whole + $#open )) || {{ _files; return }}
    (( $#open )) && compadd -l -S '' -d open_description -a open
    (( $#whole )) && compadd -l -d whole_description -a whole
    return 0
}}
compdef _ludodrome ludodrome
""",
    "fish": f"""\
# Completion of ludodrome for fish.  ludodrome completion fish > ~/.config/fish/completions/ludodrome.fish
function __ludodrome_words
    set -l line (commandline -cp)
    set -l found ({COMPLETION_VARIABLE}=fish {LINE}="$line" ludodrome 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete --command ludodrome --no-files --arguments '(__ludodrome_words)'
""",
}


@app.command(
    cls=Command,
    epilog=examples(
        'eval "$(ludodrome completion bash)"', "ludodrome completion fish > ~/.config/fish/completions/ludodrome.fish"
    ),
)
def completion(
    shell: Annotated[str, typer.Argument(metavar="SHELL", show_default=False, help="bash, zsh or fish.")],
) -> None:
    """Print the completion script of a shell.

    The first lines of the script say where to put it.
    """
    if shell not in SCRIPTS:
        raise CommandError(f"completion exists for bash, zsh and fish, not for {shell}")
    console.say(SCRIPTS[shell].rstrip("\n"))


def answer(program: Any, shell: str) -> None:
    """Print the words that can complete the line in the environment."""
    try:
        for word, description in _words(program, os.environ.get(LINE, ""), _breaks(shell)):
            console.say(word if shell == "bash" or not description else f"{word}\t{description}")
    except (OSError, ValueError, typer.TyperException):
        return  # a line with an error has no completion


def _breaks(shell: str) -> str:
    return "".join(sign for sign in os.environ.get(BREAKS, "") if not sign.isspace()) if shell == "bash" else ""


def _words(program: Any, line: str, breaks: str) -> Iterator[tuple[str, str]]:
    """The words that can complete a line; of each, only what follows the last break in the line's last word."""
    typed = split_arg_string(line)
    begun = "" if not line or line[-1].isspace() else typed.pop()
    typed = typed[1:]
    # An option without its value yet would be a parse error.
    context = _resolve_context(program, {}, "ludodrome", typed[:-1] if typed[-1:] and typed[-1][0] == "-" else typed)
    if getattr(context.command, "commands", None) and context._protected_args:
        return  # there is no such command
    asked, rest = _resolve_incomplete(context, typed, begun)
    before = begun[: len(begun) - len(rest)] if begun.startswith("-") else ""  # --game= of --game=dots
    cut = max((begun.rfind(sign) for sign in breaks), default=-1) + 1
    for word, description in _offers(asked, context, rest):
        yield (before + word)[cut:], _short(description)


def _offers(asked: Any, context: Any, begun: str) -> Iterator[tuple[str, str]]:
    """The words that can complete a parameter, or a command's name or option."""
    if getattr(asked, "metavar", None):
        yield from candidates(asked, context, begun)
        return
    for item in asked.shell_complete(context, begun):
        if item.type == "plain":
            yield item.value, item.help or ""


def _short(description: str) -> str:
    line = re.sub(r"\s+", " ", description).strip()
    return line if len(line) <= MAX_HELP else f"{line[: MAX_HELP - 4].rsplit(' ', 1)[0]} ..."


# Candidates for a parameter: by its name, or by its metavar (GAME, BOT, K=V). Where there are none, the shell
# completes file names.

Words = Iterable[tuple[str, str]]
"""Words that may be typed, each with a short description."""

PREFIXES = {"cmd:": "a command", "py:": "a class in a Python file", "box:": "a folder, in the sandbox"}


def candidates(parameter: Any, context: Any, begun: str) -> list[tuple[str, str]]:
    """The words that can complete what was begun, for one parameter of a command."""
    words = WORDS.get(parameter.name) or KINDS.get((parameter.metavar or "").strip("[]."))
    if words is None:
        return []
    return [(word, description) for word, description in words(context.params) if word.startswith(begun)]


def _games(typed: Mapping[str, Any]) -> Words:
    return [(game_id, GAMES[game_id].title) for game_id in sorted(GAMES)]


def _game(typed: Mapping[str, Any]) -> str:
    """The game that the line names, or the first of several; empty if there is none."""
    value = typed.get("game") or typed.get("games") or ""
    return str(value if isinstance(value, str) else value[0]).partition(":")[0]


def _bots(typed: Mapping[str, Any]) -> Words:
    """All built-ins that the table of games does not rule out; to know more would take importing the game."""
    entry = GAMES.get(_game(typed))
    steps = 2 if entry is not None and entry.by_steps else 1
    own_bots = () if entry is None else entry.own_bots
    game = SimpleNamespace(id=_game(typed), actions_a_turn=steps, evaluator=True, own_bots=own_bots)
    for kind in playable(game):  # type: ignore[arg-type]
        yield from ((spec, kind.meaning) for spec in kind.specs)
    yield from PREFIXES.items()


def _options(typed: Mapping[str, Any]) -> Words:
    """The options of the game from its RULES.md, with their values where these are words."""
    entry = GAMES.get(_game(typed))
    table = console.section(entry.rules(), "Options") if entry else ""
    for name, values, meaning in re.findall(r"^\| `(\w+)` \| (.+?) \| .+? \| (.+?) \|$", table, re.MULTILINE):
        if words := re.findall(r"`([^`]+)`", values):
            yield from ((f"{name}={word}", meaning) for word in words)
        else:
            yield f"{name}=", f"{meaning}: {values}"


def _languages(typed: Mapping[str, Any]) -> Words:
    return [(name, "") for name in LANGUAGES]


def _few(*words: str) -> Callable[[Mapping[str, Any]], Words]:
    return lambda typed: [(word, "") for word in words]


KINDS: dict[str, Callable[[Mapping[str, Any]], Words]] = {
    "GAME": _games,
    "BOT": _bots,
    "NEW": _bots,
    "OLD": _bots,
    "K=V": _options,
}
"""Candidates by metavar."""

WORDS: dict[str, Callable[[Mapping[str, Any]], Words]] = {
    "language": _languages,
    "ladder": _few("gentle", "off", "on"),
    "legal_moves": _few("both", "hidden", "shown"),
    "policy": _few("forfeit", "retry:3", "substitute"),
    "shell": _few("bash", "fish", "zsh"),
}
"""Candidates by parameter name."""
