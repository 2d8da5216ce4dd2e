"""Commands about boards: `count`, `generate`, `sample`, `check`, `draw` and `build`; parameters that others share."""

import os
import sys
from contextlib import suppress
from importlib.util import find_spec
from json import dumps
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ludodrome.cli import console
from ludodrome.cli.base import (
    NO,
    UNDECIDED,
    Command,
    CommandError,
    Json,
    command_errors,
    examples,
    interpret_kernels,
    interruptible,
)
from ludodrome.cli.lazy import lazy_imports

with lazy_imports():
    from ludodrome import validation
    from ludodrome.cli.spaces import board_viewer, builder_app
    from ludodrome.games import spaces
    from ludodrome.games.spaces import boards as game_boards
    from ludodrome.games.spaces import generation, ranking, sampling
    from ludodrome.spaces_lab import board_builder, board_files, saved_state

if TYPE_CHECKING:
    from ludodrome.games.spaces.generation import BoardWalk
    from ludodrome.spaces_lab.board_builder import BoardBuilder
    from ludodrome.spaces_lab.board_files import BoardFile

app = typer.Typer()

Size = Annotated[
    int, typer.Argument(metavar="SIZE", min=2, max=100, show_default=False, help="Rows and columns, 2 to 100.")
]
Rules = Annotated[str, typer.Option("--rules", metavar="RULES", help="Rule set: written or live.")]
Board = Annotated[
    str,
    typer.Argument(
        metavar="BOARD", show_default=False, help="A code like 3:1:u6uf, FILE, or FILE#3 for the third board."
    ),
]


def checked_rules(rules: str) -> str:
    """Return the rule set, or raise CommandError."""
    if rules not in ("written", "live"):
        raise CommandError(f"the rules of spaces are written or live, not {rules!r}")
    return rules


def one_board(text: str) -> dict[str, Any]:
    """The board of a code or a file; CommandError names the place."""
    with command_errors(), console.compiling("spaces"):
        return board_files.read_board(text)


SMALL_CODE, SMALL_FILE = 1000, 50_000
"""Characters of a code and bytes of a file up to which a round is played faster than kernels are loaded."""


def expect_little(*sources: str) -> None:
    """Prepare for a round of these boards, codes or files: without compiled kernels if they are small."""
    if all(
        len(source) <= SMALL_CODE
        and (os.path.getsize(path) <= SMALL_FILE if os.path.isfile(path := source.partition("#")[0]) else True)
        for source in sources
    ):
        interpret_kernels()


def size_of(board: Any) -> int:
    """The size that a board claims, or CommandError."""
    size = board.get("boardSize") if isinstance(board, dict) else None
    if type(size) is not int or not 2 <= size <= 100:
        raise CommandError("the boardSize of a board is a whole number from 2 to 100")
    return size


def print_json(value: Any) -> None:
    """Print a value as one line of JSON."""
    console.say(dumps(value))


Out = Annotated[
    str | None,
    typer.Option(
        "--out",
        metavar="FILE",
        show_default=False,
        help="Output file: .json, .npy, else codes; .gz compresses. Default: stdout.",
    ),
]


@app.command(
    cls=Command,
    epilog=examples("ludodrome spaces count 4", "ludodrome spaces count 20 --rules live --by traps --json"),
)
def count(
    size: Size,
    rules: Rules = "written",
    by: Annotated[
        str, typer.Option("--by", metavar="KIND", help="Also count by start, traps or length. Default: the total only.")
    ] = "",
    json: Json = False,
) -> None:
    """Count the legal boards exactly, without listing them.

    Limits: live up to size 40, written up to size 5; by length, live up to size 14.
    """
    checked_rules(rules)
    with command_errors(), console.waiting(f"counting the boards of size {size} ..."):
        total = interruptible(lambda: spaces.count_boards(size, rules))
        counts = interruptible(lambda: spaces.count_by(size, rules, by)) if by else {}
    if json:
        by_kind = {f"by_{by}": {str(key): value for key, value in counts.items()}} if by else {}
        print_json({"size": size, "rules": rules, "count": total, **by_kind})
        return
    console.say(f"{total:,}")
    if by:
        rows = [(str(key), f"{value:,}", f"{value / total:.3%}") for key, value in counts.items()]
        console.show_table((by, "boards", "share"), rows, (by, "boards", "share"))


@app.command(
    cls=Command,
    epilog=examples(
        "ludodrome spaces generate 3 --rules live",
        "ludodrome spaces generate 4 --view",
        "ludodrome spaces generate 4 --where 'traps<=1, length<8'",
        "ludodrome spaces generate 5 --rules live --out boards.txt.gz",
        "ludodrome spaces generate 5 --rules live --out boards.txt.gz --resume",
    ),
)
def generate(
    size: Size,
    rules: Rules = "written",
    out: Out = None,
    limit: Annotated[
        int | None, typer.Option(metavar="N", min=1, show_default=False, help="Maximum number of boards. Default: all.")
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            "--where",
            metavar="CONDITION",
            show_default=False,
            help="Only boards like this: traps<=2, length<9; also start, goal, supermoves, sideways. Repeatable.",
        ),
    ] = None,
    after: Annotated[
        str | None, typer.Option(metavar="CODE", show_default=False, help="Start after this board. Only without --out.")
    ] = None,
    view: Annotated[bool, typer.Option("--view", help="Page through drawings of the boards, five at a time.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Continue an unfinished file.")] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="List them even if there are more than 100,000,000, or 10 GB of them.")
    ] = False,
) -> None:
    """List all legal boards in a fixed order, one code per line.

    A file is written as FILE.part, with its progress in FILE.state; both are removed when FILE is complete. Continue
    an interrupted run with --resume. Asked for very many boards, the command says how large the file would be and how
    long it would take, and needs --limit, --where or --yes.
    """
    checked_rules(rules)
    if out is None and resume:
        raise CommandError("--resume goes with --out: there is no file to continue")
    if out is not None and after is not None:
        raise CommandError("--after goes without --out: continue a file with --resume")
    if view and (out is not None or limit is not None):
        raise CommandError("--view shows boards and writes no file: it goes without --out and --limit")
    with command_errors(), console.compiling("spaces"):
        conditions = generation.parse_filter(where or [])
        if view:
            pages = board_viewer.open_pages(size, rules, conditions, after)
        else:
            file = board_files.BoardFile(out or "", size, rules, limit, resume, conditions)
            walk = generation.BoardWalk(size, rules, after, where=conditions)
            if not yes and not file.started:
                _check_size(file, after)
    if view:
        board_viewer.show_pages(pages)
    elif out is None:
        _generate_to_stdout(walk, limit)
    else:
        with command_errors(), console.bar("boards") as progress:
            done = file.run(lambda made, total: progress(made, total or made))
        console.say(f"{validation.plural(done, 'board')} in {out}")


def _check_size(file: "BoardFile", after: str | None) -> None:
    """Refuse to list more boards than anybody is likely to want."""
    filtered = file.where != generation.EVERYTHING
    which = f" with {file.where}" if filtered else ""
    if after is not None and file.most is not None and not filtered:
        left = spaces.count_boards(file.size, file.rules)
        left -= ranking.number_of(game_boards.parse_code(after)[1], file.size, file.rules)
        file.most = min(file.most, left)
        which = f" after {after}"
    found = board_files.estimate(file)
    if file.most is not None and (found is None or not found.is_large):
        return
    under = f"size {file.size} under {file.rules}"
    if found is None:
        facts = f"{under} has more boards{which} than can be counted. Ask for fewer with --limit N"
    else:
        many = f"{'' if file.total is not None else 'at most '}{found.boards:,} boards{which}"
        facts = f"{under} has {many}" if file.limit is None else f"of {under}, {many} are asked for"
        facts += (
            f": about {console.in_bytes(found.bytes)} as {file.format}, and {'at least ' if filtered else ''}"
            f"{console.in_time(found.seconds)}. Ask for fewer with --limit N or --where 'traps<=1'"
        )
    sample = f"ludodrome spaces sample {file.size} 100" + (" --rules live" if file.rules == "live" else "")
    raise CommandError(
        f"{facts}, page through them with --view, draw some at random with `{sample}`, or insist with --yes: it is "
        f"needed beyond {board_files.MAX_UNASKED_BOARDS:,} boards or {console.in_bytes(board_files.MAX_UNASKED_BYTES)}"
    )


def _generate_to_stdout(walk: "BoardWalk", limit: int | None) -> None:
    with console.compiling("spaces"):
        chunk = walk.next(limit)
    left = limit
    while len(chunk.ends):
        sys.stdout.write(walk.codes(chunk).decode())
        left = None if left is None else left - len(chunk.ends)
        chunk = walk.next(left)


@app.command(
    cls=Command,
    epilog=examples(
        "ludodrome spaces sample 5 10 --rules live --seed 7", "ludodrome spaces sample 4 10 --out deck.json"
    ),
)
def sample(
    size: Size,
    number: Annotated[int, typer.Argument(metavar="N", min=1, show_default=False, help="Number of boards.")],
    rules: Rules = "written",
    seed: Annotated[int, typer.Option(metavar="S", help="Random seed.")] = 0,
    out: Out = None,
    json: Json = False,
) -> None:
    """Draw random legal boards, all equally likely.

    Limits: live up to size 40, written up to size 4. Larger boards are made step by step, each legal step equally
    likely; such boards are not uniform, and a line on stderr says so.
    """
    checked_rules(rules)
    with command_errors(), console.compiling("spaces"):
        uniform = size <= sampling.UNIFORM[rules]
        boards = interruptible(lambda: _sampled(size, number, rules, seed, uniform))
    if not uniform:
        print(
            f"not uniform: beyond size {sampling.UNIFORM[rules]} under {rules}, boards are made step by step",
            file=sys.stderr,
        )
    if out is not None:
        with command_errors():
            is_json = out.removesuffix(".gz").endswith(".json")
            board_files.write_text(
                out,
                board_files.format_collection(_json_boards(boards)) if is_json else "".join(f"{c}\n" for c in boards),
            )
        console.say(f"{validation.plural(len(boards), 'board')} in {out}")
    elif json:
        print_json({"size": size, "rules": rules, "uniform": uniform, "boards": boards})
    else:
        console.say("\n".join(boards))


def _json_boards(codes: list[str]) -> list[dict[str, Any]]:
    return [spaces.parse_board(code) for code in codes]


def _sampled(size: int, number: int, rules: str, seed: int, uniform: bool) -> list[str]:
    """The codes of random boards."""
    if uniform:
        return [game_boards.format_code(board, size) for board in spaces.sample(size, number, rules, seed)]

    return [spaces.encode_board(spaces.quick(size, rules, seed * 1_000_003 + one)) for one in range(number)]


@app.command(
    cls=Command,
    epilog=examples("ludodrome spaces check 3:1:u6uf --rules live", "ludodrome spaces check boards.json --json"),
)
def check(
    board: Annotated[
        str, typer.Argument(metavar="BOARD", show_default=False, help="A code like 3:1:u6uf, or a file of boards.")
    ],
    rules: Rules = "written",
    json: Json = False,
) -> None:
    """Validate boards in four layers: structure, moves, sequence, playability.

    Names every fault with its step and its rule. For the rules, see `ludodrome rules spaces --full`.
    The exit code is 1 if a board is not legal.
    """
    checked_rules(rules)
    names, boards = _read_all(board)
    reports = []
    with command_errors(), console.compiling("spaces"):
        for one in boards:
            claimed = one.get("boardSize")
            size = claimed if type(claimed) is int and 2 <= claimed <= 100 else 3
            reports.append(spaces.validate(one, size, rules))
    legal = [all(layer.passed for layer in layers) for layers in reports]
    if json:
        print_json(
            {
                "rules": rules,
                "boards": [
                    {
                        "name": name,
                        "legal": fine,
                        "layers": [
                            {"name": one.name, "passed": one.passed, "faults": [f._asdict() for f in one.faults]}
                            for one in layers
                        ],
                    }
                    for name, fine, layers in zip(names, legal, reports, strict=True)
                ],
            }
        )
    else:
        for name, layers in zip(names, reports, strict=True):
            _print_layers(name, layers)
    if not all(legal):
        raise typer.Exit(NO)


def _read_all(text: str) -> tuple[list[str], list[dict[str, Any]]]:
    """Names and boards of a code or a file."""
    with command_errors(), console.compiling("spaces"):
        if board_files.is_code(text) or "#" in text:
            return [text], [board_files.read_board(text)]
        collection = board_files.read_boards(text, alike=False)
    names = [*collection.names, *[""] * len(collection.boards)]
    return [names[at] or f"{text}#{at + 1}" for at in range(len(collection.boards))], collection.boards


def _print_layers(name: str, layers: list[Any]) -> None:
    verdict = "legal" if all(layer.passed for layer in layers) else "not legal"
    console.say(f"{name}: {verdict}")
    for number, layer in enumerate(layers, 1):
        word = {True: "passed", False: "failed", None: "not checked"}[layer.passed]
        console.say(f"  {number}. {layer.name}: {word}")
        for fault in layer.faults:
            console.say(f"       {fault.sentence}")


@app.command(
    cls=Command, epilog=examples("ludodrome spaces draw 3:1:l5u6uf", "ludodrome spaces draw 3:1:l5u6uf --svg board.svg")
)
def draw(
    board: Board,
    svg: Annotated[
        str | None,
        typer.Option(
            "--svg", metavar="FILE", show_default=False, help="Write an SVG file. Default: draw in the terminal."
        ),
    ] = None,
) -> None:
    """Draw a board in the terminal or as SVG."""
    given = one_board(board)
    size_of(given)
    with command_errors(), console.compiling("spaces"):
        if svg is None:
            console.say(spaces.box_board(given))
            return

        board_files.write_text(svg, spaces.board_svg(given))
    console.say(f"drawn in {svg}")


# `build`, on a screen or by commands


@app.command(
    cls=Command,
    epilog=examples(
        "ludodrome spaces build 4 --rules live --against 4:1:uuuf --out mine.json",
        "ludodrome spaces build 3 --do 'start 1; up; trap left; up; finish'",
        "printf 'start 1\\nup\\nup\\nfinish\\n' | ludodrome spaces build 3 --do -",
    ),
)
def build(
    size: Annotated[int, typer.Argument(metavar="SIZE", min=2, max=100, help="Rows and columns, 2 to 100.")] = 3,
    rules: Rules = "written",
    against: Annotated[
        str | None,
        typer.Option(
            metavar="BOARD", show_default=False, help="Opponent's board: a code, FILE, or FILE#3. Default: none."
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out", metavar="FILE", show_default=False, help="Collection to save to. Default on a screen: boards.json."
        ),
    ] = None,
    do: Annotated[
        str | None,
        typer.Option(
            "--do", metavar="COMMANDS", show_default=False, help="Run these commands without a screen; - reads stdin."
        ),
    ] = None,
) -> None:
    """Build a board with the keyboard: arrows move, t and a direction set a trap, f finishes, ? shows all keys.

    With --do, give commands as words, separated by semicolons or line ends: start 1, up, left, right, trap up, trap
    here, finish, undo, clear, save. `finish` goes straight up to the goal from anywhere. Prints the board's code; the
    exit code is 3 if the board is not finished.
    """
    checked_rules(rules)
    opponent = None if against is None else one_board(against)
    with command_errors(), console.compiling("spaces"):
        builder = board_builder.BoardBuilder(size, rules, opponent)
    builder.on_change = _keep_draft
    if do is not None:
        _follow(builder, sys.stdin.read() if do == "-" else do, out)
        return

    if find_spec("textual") is None:
        raise CommandError("the builder needs Textual: pip install 'ludodrome[lab]'; --do works without it")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise CommandError("the builder needs a terminal; --do works without one")

    saved = builder_app.BuilderApp(builder, out or "").run()
    for line in saved or []:
        console.say(line)


def _keep_draft(builder: "BoardBuilder") -> None:
    """Save the board for `test builder`. Building goes on where it cannot be saved."""
    with suppress(ValueError):
        saved_state.save_draft(builder.code, builder.rules)


def _follow(builder: "BoardBuilder", text: str, out: str | None) -> None:
    """Run commands; stop at the first that fails."""
    commands = [part.strip() for line in text.splitlines() for part in line.split(";")]
    with command_errors():
        for number, command in enumerate(filter(None, commands), 1):
            try:
                if command.lower() == "save":
                    _save(builder, out)
                else:
                    builder.do(command)
            except ValueError as error:
                raise CommandError(f"command {number}, {command!r}: {error}") from error
    console.say(builder.code)
    played = builder.trial()
    if played is not None:
        console.say(f"{played.points[0]} : {played.points[1]} ({played.ended})")
    if not builder.is_finished:
        raise typer.Exit(UNDECIDED)


def _save(builder: "BoardBuilder", out: str | None) -> None:
    if out is None:
        raise ValueError("there is no file to save to: give --out FILE")
    if not builder.is_finished:
        raise ValueError("the board is not finished")
    board_files.add_to_collection(out, builder.board)
