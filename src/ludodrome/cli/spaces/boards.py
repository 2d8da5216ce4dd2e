"""Boards: `count`, `generate`, `sample`, `check` and `draw`."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ludodrome.cli import console
from ludodrome.cli.base import NO, UNDECIDED, Command, CommandError, Json, command_errors, examples, interruptible
from ludodrome.cli.lazy import lazy_imports
from ludodrome.cli.spaces.parameters import Board, Rules, Size, checked_rules, one_board, print_json, size_of

with lazy_imports():
    from ludodrome.cli.spaces import builder_app
    from ludodrome.games.spaces import boards as board_codes
    from ludodrome.games.spaces import counting, generation, legality, sampling, simulation
    from ludodrome.spaces_lab import board_builder, board_files


if TYPE_CHECKING:
    from ludodrome.spaces_lab.board_builder import Bench

app = typer.Typer()

Out = Annotated[
    str | None,
    typer.Option(
        "--out", metavar="FILE", show_default=False, help="Write there: .json, .npy, else codes; .gz packs them."
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
        str, typer.Option("--by", metavar="KIND", help="Also by start, by traps or by length; or none of them.")
    ] = "",
    json: Json = False,
) -> None:
    """Count the legal boards, exactly, without making them.

    By dynamic programming: live to size 40, written to size 5; by length live to size 14.
    """
    checked_rules(rules)
    with command_errors(), console.waiting(f"counting the boards of size {size} ..."):
        total = interruptible(lambda: counting.count_boards(size, rules))
        counts = interruptible(lambda: counting.count_by(size, rules, by)) if by else {}
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
        "ludodrome spaces generate 5 --rules live --out boards.txt.gz",
        "ludodrome spaces generate 5 --rules live --out boards.txt.gz --resume",
    ),
)
def generate(
    size: Size,
    rules: Rules = "written",
    out: Out = None,
    limit: Annotated[
        int | None, typer.Option(metavar="N", min=1, show_default=False, help="No more than so many boards.")
    ] = None,
    after: Annotated[
        str | None, typer.Option(metavar="CODE", show_default=False, help="Begin after this board (without --out).")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a file that was not finished.")] = False,
) -> None:
    """Make all legal boards, in a fixed order, one code a line.

    While a file is made it is called FILE.part, and FILE.state says how far it is; when it is done, both are gone and
    FILE is there. A run that was stopped is taken up with --resume.
    """
    checked_rules(rules)
    if out is None:
        if resume:
            raise CommandError("--resume goes with --out: there is no file to go on with")
        _generate_to_stdout(size, rules, limit, after)
        return
    if after is not None:
        raise CommandError("--after goes without --out: a file is taken up with --resume")
    with command_errors(), console.bar("boards") as progress:
        with console.compiling("spaces"):
            file = board_files.BoardFile(out, size, rules, limit, resume)
        done = file.run(lambda made, total: progress(made, total or made))
    console.say(f"{done:,} boards in {out}")


def _generate_to_stdout(size: int, rules: str, limit: int | None, after: str | None) -> None:
    with command_errors(), console.compiling("spaces"):
        walk = generation.Walk(size, rules, after)
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
    number: Annotated[int, typer.Argument(metavar="N", min=1, show_default=False, help="How many boards.")],
    rules: Rules = "written",
    seed: Annotated[int, typer.Option(metavar="S", help="The same seed gives the same boards.")] = 0,
    out: Out = None,
    json: Json = False,
) -> None:
    """Draw legal boards by lot, each exactly as likely as any other.

    live to size 40, written to size 4. Beyond that, boards are made step by step, each step as likely as the others
    that may come next: such boards are not equally likely, and a line on stderr says so.
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
        console.say(f"{len(boards):,} boards in {out}")
    elif json:
        print_json({"size": size, "rules": rules, "uniform": uniform, "boards": boards})
    else:
        console.say("\n".join(boards))


def _json_boards(codes: list[str]) -> list[dict[str, Any]]:
    return [board_codes.parse_board(code) for code in codes]


def _sampled(size: int, number: int, rules: str, seed: int, uniform: bool) -> list[str]:
    """The codes of boards by lot."""
    if uniform:
        return [board_codes.format_code(board, size) for board in sampling.sample(size, number, rules, seed)]
    return [board_codes.encode_board(sampling.quick(size, rules, seed * 1_000_003 + one)) for one in range(number)]


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

    Every fault is named, with its step and its rule (`ludodrome rules spaces`). The exit code is 1 if a board is not
    legal.
    """
    checked_rules(rules)
    names, boards = _read_all(board)
    reports = []
    with command_errors(), console.compiling("spaces"):
        for one in boards:
            claimed = one.get("boardSize")
            size = claimed if type(claimed) is int and 2 <= claimed <= 100 else 3
            reports.append(legality.validate(one, size, rules))
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
            _tell(name, layers)
    if not all(legal):
        raise typer.Exit(NO)


def _read_all(text: str) -> tuple[list[str], list[dict[str, Any]]]:
    """Names and boards of a code or of a file."""
    with command_errors(), console.compiling("spaces"):
        if board_files.is_code(text) or "#" in text:
            return [text], [board_files.read_board(text)]
        collection = board_files.read_boards(text, alike=False)
    names = [*collection.names, *[""] * len(collection.boards)]
    return [names[at] or f"{text}#{at + 1}" for at in range(len(collection.boards))], collection.boards


def _tell(name: str, layers: list[Any]) -> None:
    verdict = "legal" if all(layer.passed for layer in layers) else "not legal"
    console.say(f"{name}: {verdict}")
    for number, layer in enumerate(layers, 1):
        word = {True: "passed", False: "failed", None: "not judged"}[layer.passed]
        console.say(f"  {number}. {layer.name}: {word}")
        for fault in layer.faults:
            console.say(f"       {fault.sentence}")


@app.command(
    cls=Command, epilog=examples("ludodrome spaces draw 3:1:l5u6uf", "ludodrome spaces draw 3:1:l5u6uf --svg board.svg")
)
def draw(
    board: Board,
    svg: Annotated[
        str | None, typer.Option("--svg", metavar="FILE", show_default=False, help="Draw it as SVG, into this file.")
    ] = None,
) -> None:
    """Draw a board: in the terminal, or as SVG."""
    given = one_board(board)
    size_of(given)
    with command_errors(), console.compiling("spaces"):
        if svg is None:
            console.say(simulation.box_board(given))
            return
        board_files.write_text(svg, simulation.board_svg(given))
    console.say(f"drawn in {svg}")


# Making a board by hand: `build`, on the screen or by commands.


@app.command(
    cls=Command,
    epilog=examples(
        "ludodrome spaces build 4 --rules live --against 4:1:uuuf --out mine.json",
        "ludodrome spaces build 3 --do 'start 1; up; trap left; up; finish'",
        "printf 'start 1\\nup\\nup\\nfinish\\n' | ludodrome spaces build 3 --do -",
    ),
)
def build(
    size: Annotated[int, typer.Argument(metavar="SIZE", min=2, max=100, help="Rows and columns: 2 to 100.")] = 3,
    rules: Rules = "written",
    against: Annotated[
        str | None,
        typer.Option(metavar="BOARD", show_default=False, help="An opponent's board: a code, FILE, or FILE#3."),
    ] = None,
    out: Annotated[
        str | None, typer.Option("--out", metavar="FILE", show_default=False, help="The collection to save to.")
    ] = None,
    do: Annotated[
        str | None,
        typer.Option(
            "--do", metavar="COMMANDS", show_default=False, help="No screen: these commands, or - to read them."
        ),
    ] = None,
) -> None:
    """Make a board with the keyboard: arrows move, t and a direction set a trap, z takes back, s saves.

    With --do the same commands come as words, parted by semicolons or line ends: start 1, up, left, right, trap up,
    trap here, finish, undo, clear, save. The board's code is printed; the exit code is 3 if it is not finished.
    """
    checked_rules(rules)
    opponent = None if against is None else one_board(against)
    with command_errors(), console.compiling("spaces"):
        bench = board_builder.Bench(size, rules, opponent)
    if do is not None:
        _follow(bench, sys.stdin.read() if do == "-" else do, out)
        return
    if find_spec("textual") is None:
        raise CommandError("the builder needs Textual: pip install 'ludodrome[lab]'; --do works without it")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise CommandError("the builder needs a terminal; --do takes commands from anywhere")
    saved = builder_app.Builder(bench, out or "").run()
    for line in saved or []:
        console.say(line)


def _follow(bench: Bench, text: str, out: str | None) -> None:
    """Carry out commands; the first that cannot be done ends it."""
    commands = [part.strip() for line in text.splitlines() for part in line.split(";")]
    with command_errors():
        for number, command in enumerate(filter(None, commands), 1):
            try:
                if command.lower() == "save":
                    _save(bench, out)
                else:
                    bench.do(command)
            except ValueError as error:
                raise CommandError(f"command {number}, {command!r}: {error}") from error
    console.say(bench.code)
    played = bench.trial()
    if played is not None:
        console.say(f"{played.points[0]} : {played.points[1]} ({played.ended})")
    if not bench.is_finished:
        raise typer.Exit(UNDECIDED)


def _save(bench: Bench, out: str | None) -> None:
    if out is None:
        raise ValueError("there is no file to save to: --out FILE")
    if not bench.is_finished:
        raise ValueError("the board is not finished")
    board_files.add_to_collection(out, bench.board)
