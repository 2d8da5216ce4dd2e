"""What commands share: the Typer classes behind them, exit codes, errors, parameters.

An error that the user can fix is a ``CommandError``: one sentence on stderr, exit code 2, no traceback. Any other
exception is a bug and shows its traceback.
"""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from json import JSONDecodeError, loads
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from ludodrome.cli.console import colours_wanted, compiling, complain, waiting
from ludodrome.cli.lazy import lazy_imports
from ludodrome.games import find
from ludodrome.system import core_count

with lazy_imports():
    from ludodrome import kernel_cache
    from ludodrome.arena import api
    from ludodrome.arena.matches import pool
    from ludodrome.arena.matches import workers as arena_workers
    from ludodrome.bots import bots_file
    from ludodrome.bots import specs as bot_specs

if TYPE_CHECKING:
    from ludodrome.arena.matches.workers import Workers
    from ludodrome.bots.bots_file import BotsFileEntry
    from ludodrome.game import Game

Result = TypeVar("Result")

COMPLETION_VARIABLE = "_LUDODROME_COMPLETE"
"""The environment variable in which a shell that asks for completions names itself."""

DONE, NO, REFUSED, UNDECIDED, INTERRUPTED = 0, 1, 2, 3, 130
"""The exit codes, see docs/reference/exit-codes.md."""
INSTALL = "pip install 'ludodrome["
"""What the message of an ImportError says that names a missing extra."""


class CommandError(typer.TyperException):
    """The command cannot do what was asked; the message says why, in one sentence."""

    exit_code = REFUSED


@contextmanager
def command_errors() -> Iterator[None]:
    """Turn ValueErrors of the library, whose messages are sentences, into CommandErrors."""
    try:
        yield
    except ValueError as error:
        raise CommandError(str(error)) from error


def interruptible(work: Callable[[], Result]) -> Result:
    """Run the work on a thread of its own, so that Ctrl-C need not wait for a kernel to return."""
    results: list[Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        thread.join()
    except KeyboardInterrupt:
        kernel_cache.end_compiling()
        raise
    if errors:
        raise errors[0]
    return results[0]


# The classes behind the app


class _RawValue:
    """Typer's parser of texts and flags, without Pydantic."""

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        many = param.multiple or param.nargs == -1
        return (() if many else None) if value is None else list(value) if many else value


class _PlainValue:
    """Typer's parser of numbers and paths, for values that are plainly right; Typer itself judges the others."""

    def __init__(self, param: Any) -> None:
        about = param.type_descriptor
        self._kind, self._least, self._most = about.annotation, about.parameter_info.min, about.parameter_info.max
        self._typer = type(param).get_runtime_param

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        if value is None or (type(value) is self._kind and self._kind in (int, float)):
            return value
        if type(value) is str and self._kind is Path and value:
            return Path(value)
        if type(value) is str and self._kind in (int, float) and re.fullmatch(r"-?[0-9]{1,40}", value):
            number = self._kind(value)
            if (self._least is None or number >= self._least) and (self._most is None or number <= self._most):
                return number
        return self._typer(param).coerce(value, param, ctx)


class _CommandMixin:
    """Fast start and readable help, for the app and its commands.

    Typer 0.29 checks every parameter, even a --help that was not given, with a Pydantic adapter, and importing
    Pydantic takes longer than the rest of ``ludodrome games``. So texts and flags are not checked, numbers and paths
    only where they look wrong, and nothing is while a line is only completed. Help is written by Typer's plain
    formatter: the parts of Rich that Typer uses for its boxes (Markdown, Pygments) take as long to import as Typer
    itself.
    """

    epilog: str | None

    def get_params(self, ctx: Any) -> list[Any]:
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if ctx.resilient_parsing or param.type_descriptor.annotation in (str, bool, list[str]):
                param.get_runtime_param = _RawValue
            elif param.type_descriptor.annotation in (int, float, Path):
                param.get_runtime_param = partial(_PlainValue, param)
        return params

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        pieces: list[str] = super().collect_usage_pieces(ctx)  # type: ignore[misc]
        return [re.sub(r"^\{(.*)\}", r"\1", piece) for piece in pieces]

    def get_help(self, ctx: Any) -> str:
        text: str = super().get_help(ctx)  # type: ignore[misc]
        return re.sub(r"^(Usage|\w+(?=:$))", lambda word: typer.style(word[0], bold=True), text, flags=re.MULTILINE)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """List the arguments and the options."""
        params = self.get_params(ctx)
        arguments = [(param.metavar, param.help) for param in params if param.param_type_name == "argument"]
        options = [param.get_help_record(ctx) for param in params if param.param_type_name == "option"]
        for title, records in (("Arguments", arguments), ("Options", options)):
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the examples, line by line."""
        if self.epilog:
            with formatter.section("Examples"):
                for line in self.epilog.splitlines():
                    formatter.write(f"  {line}\n")


class Command(_CommandMixin, TyperCommand):
    """A command of the app."""


class Group(_CommandMixin, TyperGroup):
    """A group of commands. The outermost one turns errors into a sentence and an exit code."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """List the commands before the options."""
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
        """Run a command. Usage errors and CommandErrors become one sentence."""
        try:
            code = super().main(
                args, prog_name, complete_var, False, windows_expand_args, color=colours_wanted(), **extra
            )
            sys.stdout.flush()
        except typer.TyperException as error:
            complain(_sentence(error))
            code = error.exit_code
        except ImportError as error:
            if INSTALL not in str(error):  # a bug, not an extra that is not installed
                raise
            complain(str(error))
            code = REFUSED
        except BrokenPipeError:
            _discard_stdout()  # the reader has gone, as head does
            code = NO
        except OSError as error:
            if error.filename is not None:  # a file, not an output stream
                raise
            _discard_stdout()
            complain(f"the output cannot be written: {error.strerror or error}")
            code = NO
        if standalone_mode:
            sys.exit(code)
        return code


class LazyGroup(Group):
    """A group whose command modules are imported when one of their commands is called.

    Until then the help of the group and completion show the one-line helps of the table.
    """

    table: ClassVar[Mapping[str, tuple[str, str]]]
    """Command name -> (module of this package, one-line help). The module's ``app`` has the command, or is it."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands.update({name: Command(name, help=text) for name, (_, text) in self.table.items()})
        self._pending = set(self.table)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Import the module of the command before it is looked up."""
        if args:
            self.load(args[0])
        return super().resolve_command(ctx, args)

    def load(self, name: str) -> None:
        """Replace the placeholder of a command by the command, unless that has happened or there is none."""
        if name in self._pending:
            module = import_module(f"{__package__}.{self.table[name][0]}")
            module.app.rich_markup_mode = self.rich_markup_mode
            group = typer.main.get_group(module.app)
            self.commands[name] = group if group.name == name else group.commands[name]
            self._pending.remove(name)

    def load_all(self) -> None:
        """Load every command, for those who list the parameters of all."""
        for name in self.table:
            self.load(name)


def _discard_stdout() -> None:
    """Send the rest of the buffer nowhere: Python must not flush it again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _sentence(error: typer.TyperException) -> str:
    """The message of a CommandError; Typer's messages in the same form: one line, no capital, no full stop."""
    message = error.format_message()
    if isinstance(error, CommandError):
        return message
    line = " ".join(message.split()).removesuffix(".")
    context = getattr(error, "ctx", None)
    hint = f" (see {context.command_path} --help)" if context else ""
    return f"{line[:1].lower()}{line[1:]}{hint}"


def examples(*lines: str) -> str:
    """The examples at the end of a help page, see ``format_epilog``."""
    return "\n".join(lines)


# Parameters that several commands share

GameId = Annotated[
    str, typer.Argument(metavar="GAME", show_default=False, help="Id of the game, see `ludodrome games`.")
]
Options = Annotated[
    list[str] | None,
    typer.Option(
        "--option", "-o", metavar="K=V", show_default=False, help="Option of the game, like rows=3. Repeatable."
    ),
]
StateText = Annotated[
    str | None,
    typer.Option(
        "--state",
        metavar="STATE",
        show_default=False,
        help="Starting position: one-line form or JSON. Default: the initial one.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def open_game(game_id: str, options: Sequence[str] | None, for_people: bool = False) -> Game:
    """The game with its options. ``for_people``: the others are those that people meet first. This imports Numba."""
    with command_errors():
        entry = find(game_id)
        chosen = read_options(options)
        with compiling(entry.id):
            game_class = entry.game_class()
            return game_class(**({**game_class.people_options, **chosen} if for_people else chosen))


def read_options(texts: Sequence[str] | None) -> dict[str, int | str]:
    """Parse ``k=v`` texts: values that look like whole numbers become numbers, others stay text."""
    options: dict[str, int | str] = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise CommandError(f"an option is written like turn_limit=50, not {text!r}")
        if name in options:
            raise CommandError(f"the option {name} is given twice")
        options[name] = int(value) if re.fullmatch(r"[+-]?[0-9]{1,18}", value) else value
    return options


def read_state(game: Game, text: str | None) -> Any:
    """Parse a one-line form or JSON text; without a text, the initial position."""
    with command_errors(), compiling(game.id):
        if text is None:
            return game.initial_state()
        if not text.lstrip().startswith(("{", "[")):
            return game.parse_state(text.strip())
        state = _read_json(text)
        game.format_state(state)
        return state


def _read_json(text: str) -> Any:
    try:
        return loads(text)
    except JSONDecodeError as error:
        raise CommandError(f"the state is not JSON: {error}") from error
    except RecursionError as error:
        raise CommandError("the state is JSON, but nested too deeply") from error


# Workers for matches, and the check that bots can play


WorkerCount = Annotated[
    int | None,
    typer.Option("--workers", metavar="N", min=1, max=1024, help="Games played at once. Default: one per core."),
]
ClusterAddress = Annotated[
    str | None,
    typer.Option(
        "--cluster", metavar="ADDRESS", help="Play on a Dask cluster: address of its scheduler, like tcp://host:8786."
    ),
]


@contextmanager
def start_workers(count: int | None, cluster: str | None) -> Iterator[Workers]:
    """Start workers and close them at the end."""
    if cluster is not None and count is not None:
        raise CommandError("give either --workers or --cluster: a cluster has its own workers")
    workers: Workers
    with command_errors(), waiting("connecting to the cluster ..."):
        workers = (
            arena_workers.Cluster(cluster)
            if cluster is not None
            else arena_workers.LocalWorkers(count)
            if count
            else arena_workers.LocalWorkers(core_count(), chosen=False)
        )
    try:
        yield workers
    except pool.ClusterLost as error:
        raise CommandError(f"{error}. Finished games are kept") from error
    finally:
        workers.close()


BotsFile = Annotated[
    Path | None,
    typer.Option("--bots", metavar="FILE", show_default=False, help="Bots file (TOML): its names can be used as bots."),
]


def bots_of_file(path: Path | None) -> dict[str, BotsFileEntry]:
    """The bots of a bots file by name; empty without a file."""
    if path is None:
        return {}
    with command_errors():
        return bots_file.read_bots_file(path)


def resolve_bot(bot: str, path: Path | None) -> str:
    """The spec of a bot that is given by a spec, a path or a name of the bots file."""
    (named,) = bots_file.resolved([bot], bots_of_file(path))
    with command_errors():
        (spec,) = bot_specs.named_bots([named]).values()
    return spec


def check_early(game_id: str, bots: Sequence[str] | Mapping[str, str]) -> None:
    """Raise CommandError for a bot that is not there, before the game and with it Numba are loaded."""
    with command_errors():
        bot_specs.check_early(bot_specs.named_bots(bots).values(), find(game_id))


def check_bots(game: Game, specs: Iterable[str]) -> None:
    """Raise CommandError if a bot cannot play the game, before anything starts."""
    with command_errors():
        api.check_bots(game, specs)
