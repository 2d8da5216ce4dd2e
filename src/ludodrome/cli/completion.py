"""The shells' completion: `completion`, and the answers to a shell that asks.

The script of a shell asks by starting the program with two variables: which shell it is, and the line up to the
cursor. The answer is a line for each word: the word, a tab, a few words about it. What may stand where is in
``candidates.py``.
"""

import os
import re
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from ludodrome.cli import screen
from ludodrome.cli.commands import Command, Refusal, examples

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
    screen.say(SCRIPTS[shell].rstrip("\n"))


def answer(program: Any, shell: str) -> None:
    """Says what may stand at the end of the line that the shell has told."""
    try:
        for word, told in _words(program, os.environ.get(LINE, ""), _breaks(shell)):
            screen.say(word if shell == "bash" or not told else f"{word}\t{told}")
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
