"""How commands are read and how they fail: the classes behind the Typer app, and shared parameters.

A failure that the person at the keyboard can mend is a ``Refusal``: one sentence on stderr,
exit code 2, no traceback. Any other exception is a bug and shows itself.
"""

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from ludodrome.cli.console import colours_wanted, compiling, complain

if TYPE_CHECKING:
    from ludodrome.game import Game


DONE, NO, REFUSED, UNDECIDED, INTERRUPTED = 0, 1, 2, 3, 130
"""The exit codes; docs/reference/exit-codes.md says when each is given."""


class Refusal(typer.TyperException):
    """What was asked cannot be done; the sentence says why."""

    exit_code = REFUSED


@contextmanager
def refusals() -> Iterator[None]:
    """The library's refusals (ValueErrors, all with a sentence) become the command's."""
    try:
        yield
    except ValueError as error:
        raise Refusal(str(error)) from error


# The classes behind the app


class _AsTyped:
    """Texts and flags as they were typed, for Typer to take in place of a Pydantic adapter."""

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        many = param.multiple or param.nargs == -1
        return (() if many else None) if value is None else list(value) if many else value


def _completed(context: Any, param: Any, begun: str) -> list[Any]:
    """What a shell offers for a parameter, in the form that Typer wants."""
    from typer._click.shell_completion import CompletionItem

    from ludodrome.cli.completion import candidates

    return [CompletionItem(word, help=told) for word, told in candidates(param, context, begun)]


class _Manners:
    """What the app and its commands have in common: quick to start, help that is easy to read.

    Typer 0.29 checks every parameter, even a --help that was not given, with a Pydantic
    adapter, and importing Pydantic takes longer than all the rest of ``ludodrome games``.
    So texts and flags are taken as they are, and everything is while a line is only completed.
    Help is written by Typer's plain formatter: what Typer uses of Rich for its boxes
    (Markdown, Pygments) takes as long to import as Typer itself.
    """

    epilog: str | None

    def get_params(self, ctx: Any) -> list[Any]:
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if ctx.resilient_parsing or param.type_descriptor.annotation in (str, bool, list[str]):
                param.get_runtime_param = _AsTyped
            if param.metavar:
                param._custom_shell_complete = _completed
        return params

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        pieces: list[str] = super().collect_usage_pieces(ctx)  # type: ignore[misc]
        return [re.sub(r"^\{(.*)\}", r"\1", piece) for piece in pieces]

    def get_help(self, ctx: Any) -> str:
        text: str = super().get_help(ctx)  # type: ignore[misc]
        return re.sub(r"^(Usage|\w+(?=:$))", lambda word: typer.style(word[0], bold=True), text, flags=re.MULTILINE)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Arguments, options, and the commands of a group."""
        params = self.get_params(ctx)
        arguments = [(param.metavar, param.help) for param in params if param.param_type_name == "argument"]
        options = [param.get_help_record(ctx) for param in params if param.param_type_name == "option"]
        for title, records in (("Arguments", arguments), ("Options", options)):
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """The examples, line by line."""
        if self.epilog:
            with formatter.section("Examples"):
                for line in self.epilog.splitlines():
                    formatter.write(f"  {line}\n")


class Command(_Manners, TyperCommand):
    """A command of the app."""


class Group(_Manners, TyperGroup):
    """The app: here errors leave the program."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Commands first: they are what one looks for."""
        self.format_commands(ctx, formatter)
        super().format_options(ctx, formatter)

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Runs a command. Usage errors and refusals become one sentence."""
        try:
            code = super().main(
                args, prog_name, complete_var, False, windows_expand_args, color=colours_wanted(), **extra
            )
            sys.stdout.flush()
        except typer.TyperException as error:
            complain(_sentence(error))
            code = error.exit_code
        except BrokenPipeError:
            # Whoever read the output has left, as head does.
            _give_up_stdout()
            code = NO
        except OSError as error:
            if error.filename is not None:  # a file of ours, not a stream of theirs
                raise
            _give_up_stdout()
            complain(f"the output cannot be written: {error.strerror or error}")
            code = NO
        if standalone_mode:
            sys.exit(code)
        return code


def _give_up_stdout() -> None:
    """What is left in the buffer goes nowhere: Python must not flush it again when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _sentence(error: typer.TyperException) -> str:
    """A refusal as it is; Typer's messages in the same manner: one line, no capital at its start, no full stop."""
    message = error.format_message()
    if isinstance(error, Refusal):
        return message
    line = " ".join(message.split()).removesuffix(".")
    context = getattr(error, "ctx", None)
    hint = f" (see {context.command_path} --help)" if context else ""
    return f"{line[:1].lower()}{line[1:]}{hint}"


def examples(*lines: str) -> str:
    """The last lines of a help page, see ``format_epilog``."""
    return "\n".join(lines)


# Parameters that several commands share

GameId = Annotated[str, typer.Argument(metavar="GAME", show_default=False, help="The game's id, as `games` lists it.")]
Options = Annotated[
    list[str] | None,
    typer.Option(
        "--option", "-o", metavar="K=V", show_default=False, help="An option of the game; may be given several times."
    ),
]
StateText = Annotated[
    str | None,
    typer.Option("--state", metavar="STATE", show_default=False, help="Begin here: a one-line form or JSON text."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def open_game(game_id: str, options: Sequence[str] | None) -> "Game":
    """The game with its options; this imports Numba."""
    from ludodrome.games import find

    with refusals():
        entry = find(game_id)
        chosen = read_options(options)
        with compiling(entry.id):
            return entry.room()(**chosen)


def read_options(texts: Sequence[str] | None) -> dict[str, int | str]:
    """The options in ``k=v`` texts: whole numbers where they look like it, else words."""
    options: dict[str, int | str] = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise Refusal(f"an option is written like turn_limit=50, not {text!r}")
        if name in options:
            raise Refusal(f"the option {name} is given twice")
        options[name] = int(value) if re.fullmatch(r"[+-]?[0-9]{1,18}", value) else value
    return options


def read_state(game: "Game", text: str | None) -> Any:
    """The position of a one-line form or of JSON text; the initial one if there is no text."""
    with refusals(), compiling(game.id):
        if text is None:
            return game.initial_state()
        if not text.lstrip().startswith(("{", "[")):
            return game.parse_state(text.strip())
        state = _read_json(text)
        game.format_state(state)
        return state


def _read_json(text: str) -> Any:
    import json

    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise Refusal(f"the state is no JSON: {error}") from error
    except RecursionError as error:
        raise Refusal("the state is JSON, but nested too deeply") from error
