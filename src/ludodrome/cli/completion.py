"""The shells' completion: `completion`, and the answers to a shell that asks.

The script of a shell asks by starting the program with two variables: which shell it is, and the line up to the
cursor. The answer is a line for each word: the word, a tab, a few words about it. What may stand where is in
``candidates.py``.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import SimpleNamespace
from typing import Annotated, Any

import typer

from ludodrome.cli import console
from ludodrome.cli.base import Command, Refusal, examples

app = typer.Typer()

VARIABLE = "_LUDODROME_COMPLETE"
LINE = "_LUDODROME_LINE"
BREAKS = "_LUDODROME_BREAKS"
"""The signs at which Bash parts words beside spaces: it replaces only what stands after the last of them."""
LONGEST_HELP = 72

SCRIPTS = {
    "bash": f"""\
# Completion of ludodrome for Bash. In ~/.bashrc:  eval "$(ludodrome completion bash)"
_ludodrome() {{
    local IFS=$'\\n'
    COMPREPLY=($({VARIABLE}=bash {LINE}="${{COMP_LINE:0:COMP_POINT}}" {BREAKS}="$COMP_WORDBREAKS" "$1" 2>/dev/null))
    [[ ${{COMPREPLY[0]-}} == *[=:] ]] && compopt -o nospace
    return 0
}}
complete -o default -F _ludodrome ludodrome
""",
    "zsh": f"""\
#compdef ludodrome
# Completion of ludodrome for Zsh. In ~/.zshrc, after compinit:  eval "$(ludodrome completion zsh)"
_ludodrome() {{
    local word told
    local -a whole open whole_told open_told
    while IFS=$'\\t' read -r word told; do
        if [[ $word == *[=:] ]]; then
            open+=("$word"); open_told+=("$word${{told:+  -- $told}}")
        else
            whole+=("$word"); whole_told+=("$word${{told:+  -- $told}}")
        fi
    done < <({VARIABLE}=zsh {LINE}="${{(j: :)words[1,CURRENT]}}" "${{words[1]}}" 2>/dev/null)
    (( $#whole + $#open )) || {{ _files; return }}
    (( $#open )) && compadd -l -S '' -d open_told -a open
    (( $#whole )) && compadd -l -d whole_told -a whole
    return 0
}}
compdef _ludodrome ludodrome
""",
    "fish": f"""\
# Completion of ludodrome for fish.  ludodrome completion fish > ~/.config/fish/completions/ludodrome.fish
function __ludodrome_words
    set -l line (commandline -cp)
    set -l found ({VARIABLE}=fish {LINE}="$line" ludodrome 2>/dev/null)
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
    """Print what a shell needs to complete commands, options, games and bots.

    Its first lines say where to put it.
    """
    if shell not in SCRIPTS:
        raise Refusal(f"there is completion for bash, zsh and fish, not for {shell}")
    console.say(SCRIPTS[shell].rstrip("\n"))


def answer(program: Any, shell: str) -> None:
    """Says what may stand at the end of the line that the shell has told."""
    try:
        for word, told in _words(program, os.environ.get(LINE, ""), _breaks(shell)):
            console.say(word if shell == "bash" or not told else f"{word}\t{told}")
    except (OSError, ValueError, typer.TyperException):
        return  # a line that is wrong already has no completion


def _breaks(shell: str) -> str:
    return "".join(sign for sign in os.environ.get(BREAKS, "") if not sign.isspace()) if shell == "bash" else ""


def _words(program: Any, line: str, breaks: str) -> Iterator[tuple[str, str]]:
    """The words that may stand at the end of a line; only what follows the last of the breaks in its last word."""
    from typer._click.shell_completion import _resolve_context, _resolve_incomplete, split_arg_string

    typed = split_arg_string(line)
    begun = "" if not line or line[-1].isspace() else typed.pop()
    typed = typed[1:]
    # An option that still waits for its value would keep the line from being read.
    context = _resolve_context(program, {}, "ludodrome", typed[:-1] if typed[-1:] and typed[-1][0] == "-" else typed)
    if getattr(context.command, "commands", None) and context._protected_args:
        return  # there is no such command
    asked, rest = _resolve_incomplete(context, typed, begun)
    before = begun[: len(begun) - len(rest)] if begun.startswith("-") else ""  # --game= of --game=dots
    cut = max((begun.rfind(sign) for sign in breaks), default=-1) + 1
    for item in asked.shell_complete(context, rest):
        if item.type == "plain":
            yield (before + item.value)[cut:], _short(item.help or "")


def _short(told: str) -> str:
    line = re.sub(r"\s+", " ", told).strip()
    return line if len(line) <= LONGEST_HELP else f"{line[: LONGEST_HELP - 4].rsplit(' ', 1)[0]} ..."


# What may stand at a place of the command line, for the shells' completion: games, bots, options, words.
# A parameter is known by what its help calls it (GAME, BOT, K=V), or by its name where only a few words are right.
# Nothing here imports Numba, so that an answer comes while one's finger is still on the key. Where nothing is known,
# the shell completes names of files.


Words = Iterable[tuple[str, str]]
"""What may be typed, each with a few words about it."""

PREFIXES = {"cmd:": "a command", "py:": "a class in a Python file", "box:": "a folder, in the sandbox"}


def candidates(parameter: Any, context: Any, begun: str) -> list[tuple[str, str]]:
    """The words that go on with what was begun, for one parameter of a command."""
    words = WORDS.get(parameter.name) or KINDS.get((parameter.metavar or "").strip("[]."))
    if words is None:
        return []
    return [(word, told) for word, told in words(context.params) if word.startswith(begun)]


def _games(typed: Mapping[str, Any]) -> Words:
    from ludodrome.games import GAMES

    return [(game_id, GAMES[game_id].title) for game_id in sorted(GAMES)]


def _game(typed: Mapping[str, Any]) -> str:
    """The game that the line is about, if it names one: a word, or the first of several."""
    value = typed.get("game") or typed.get("games") or ""
    return str(value if isinstance(value, str) else value[0]).partition(":")[0]


def _bots(typed: Mapping[str, Any]) -> Words:
    """All built-ins but those that the table of games rules out: more is known only when a game's room is open."""
    from ludodrome.bots.catalogue import playable
    from ludodrome.games import GAMES

    entry = GAMES.get(_game(typed))
    steps = 2 if entry is not None and entry.by_steps else 1
    game = SimpleNamespace(id=_game(typed), actions_a_turn=steps, evaluator=True)
    for kind in playable(game):  # type: ignore[arg-type]
        yield from ((spec, kind.meaning) for spec in kind.specs)
    yield from PREFIXES.items()


def _options(typed: Mapping[str, Any]) -> Words:
    """The options of the game, as its RULES.md has them; with their values where these are words."""
    from ludodrome.cli.console import section
    from ludodrome.games import GAMES

    entry = GAMES.get(_game(typed))
    table = section(entry.rules(), "Options") if entry else ""
    for name, values, meaning in re.findall(r"^\| `(\w+)` \| (.+?) \| .+? \| (.+?) \|$", table, re.MULTILINE):
        if words := re.findall(r"`([^`]+)`", values):
            yield from ((f"{name}={word}", meaning) for word in words)
        else:
            yield f"{name}=", f"{meaning}: {values}"


def _languages(typed: Mapping[str, Any]) -> Words:
    from ludodrome.bots.starters import LANGUAGES

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
"""By what the help calls a parameter."""

WORDS: dict[str, Callable[[Mapping[str, Any]], Words]] = {
    "language": _languages,
    "ladder": _few("gentle", "off", "on"),
    "legal_moves": _few("both", "hidden", "shown"),
    "policy": _few("forfeit", "retry:3", "substitute"),
    "shell": _few("bash", "fish", "zsh"),
}
"""By a parameter's name."""
