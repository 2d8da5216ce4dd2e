"""Commands about rounds: `simulate`, `replay`, `deck` and `respond`."""

import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ludodrome.cli import console
from ludodrome.cli.base import NO, Command, CommandError, Json, command_errors, examples, interruptible
from ludodrome.cli.lazy import lazy_imports
from ludodrome.cli.spaces.boards import Board, Rules, checked_rules, expect_little, one_board, print_json, size_of

with lazy_imports():
    from rich import text as rich_text

    from ludodrome.games import spaces
    from ludodrome.games.spaces import legality
    from ludodrome.spaces_lab import board_files, saved_state, suite_report

if TYPE_CHECKING:
    from ludodrome.games.spaces.simulation import Round

app = typer.Typer()

SHADES = ("#BE4A19", "#0B6E99")
"""Colours of a negative and a positive margin: the seats' colours."""

First = Annotated[str, typer.Argument(metavar="A", show_default=False, help="Blue's board: a code, FILE, or FILE#3.")]
Second = Annotated[str, typer.Argument(metavar="B", show_default=False, help="Orange's board, in the same forms.")]
Save = Annotated[bool, typer.Option("--save", help="Save the round, for `replay`.")]


@app.command(
    cls=Command,
    epilog=examples(
        "ludodrome spaces simulate 3:1:uuf 3:0:u6uf",
        "ludodrome spaces simulate 3:1:uuf 3:0:u6uf --rules live --save",
        "ludodrome spaces simulate mine.json theirs.json --all",
    ),
)
def simulate(
    a: First,
    b: Second,
    rules: Rules = "written",
    every: Annotated[
        bool, typer.Option("--all", help="Play every board of file A against every board of file B.")
    ] = False,
    save: Save = False,
    json: Json = False,
) -> None:
    """Play a round step by step, with a reason for every point."""
    checked_rules(rules)
    if every:
        if save:
            raise CommandError("--save saves one round: it does not go with --all")
        _simulate_all(a, b, rules, json)
        return
    expect_little(a, b)
    boards = [one_board(a), one_board(b)]
    size = size_of(boards[0])
    with console.compiling("spaces"):
        try:
            played = spaces.simulate(boards[0], boards[1], size, rules)
        except ValueError as error:
            raise CommandError(suite_report.with_seat_names(str(error))) from error
    _show_round(boards, played, rules, json)
    if save:
        with command_errors():
            number = saved_state.save(boards, rules, played)
        if not json:
            console.say(f"saved as round {number}")


def _simulate_all(a: str, b: str, rules: str, json: bool) -> None:
    """Play all pairings of two files."""
    with command_errors(), console.compiling("spaces"):
        first, second = board_files.read_boards(a).boards, board_files.read_boards(b).boards
        size = size_of(first[0])
        own, other = interruptible(lambda: spaces.simulate_matrix(first, second, size, rules))
    if json:
        print_json({"size": size, "rules": rules, "points": [own.tolist(), other.tolist()]})
        return
    rows = [
        (str(i + 1), f"{own[i].mean():.3f}", f"{other[i].mean():.3f}", f"{(own[i] - other[i]).mean():+.3f}")
        for i in range(len(first))
    ]
    rounds = "round" if len(first) == len(second) == 1 else "rounds"
    console.say(f"{len(first)} x {len(second)} {rounds}; the average of each board of {a}:")
    console.show_table(("board", "own", "other", "margin"), rows, ("board", "own", "other", "margin"))


def _show_round(boards: list[dict[str, Any]], played: "Round", rules: str, json: bool) -> None:
    if json:
        print_json({"rules": rules, "boards": boards, **asdict(played)})
        return

    show_lines(suite_report.round_lines(boards, played, size_of(boards[0]), drawing_width()))


def drawing_width() -> int:
    """Columns for drawings: those of the terminal, without a limit in a pipe."""
    return console.stdout().width if sys.stdout.isatty() else suite_report.NO_LIMIT


def show_lines(lines: Sequence[str]) -> None:
    """Print a drawn round with the seats in their colours."""
    text = rich_text.Text("\n".join(lines) + "\n")
    for seat, sign in enumerate("●◆"):
        text.highlight_regex(rf"\b{spaces.Spaces.seat_name(seat)}\b( {sign})?|{sign}", console.seat_style(seat))
    console.stdout().print(text, soft_wrap=True)


@app.command(cls=Command, epilog=examples("ludodrome spaces replay --last", "ludodrome spaces replay 3 --json"))
def replay(
    number: Annotated[
        int | None, typer.Argument(metavar="N", min=1, show_default=False, help="Number of the saved round.")
    ] = None,
    last: Annotated[bool, typer.Option("--last", help="Replay the round saved last.")] = False,
    list_: Annotated[bool, typer.Option("--list", help="List the saved rounds.")] = False,
    json: Json = False,
) -> None:
    """Play a saved round again; the exit code is 1 if the result differs."""
    expect_little()
    with command_errors(), console.compiling("spaces"):
        if list_:
            _list_rounds([saved_state.load(one) for one in saved_state.numbers()])
            return
        if number is None and not last:
            raise CommandError("which round? Give its number or --last; --list lists them")
        kept = saved_state.load(number)
        played = kept.replay()
    _show_round(kept.boards, played, kept.rules, json)
    if [played.points, played.ended] != [kept.points, kept.ended]:
        console.complain(f"round {kept.number} was saved with the result {kept.points} ({kept.ended})")
        raise typer.Exit(NO)


def _list_rounds(saved: list[Any]) -> None:
    rows = [
        (
            str(one.number),
            one.rules,
            f"{one.points[0]} : {one.points[1]}",
            one.ended,
            "  ".join(map(spaces.encode_board, one.boards)),
        )
        for one in saved
    ]
    if rows:
        console.show_table(("round", "rules", "points", "ended", "boards"), rows, ("round",))
    else:
        console.say("no round is saved yet")


@app.command(
    cls=Command,
    epilog=examples("ludodrome spaces deck a.json b.json", "ludodrome spaces deck a.json b.json --svg matrix.svg"),
)
def deck(
    a: Annotated[str, typer.Argument(metavar="A", show_default=False, help="A file of ten boards: Blue's deck.")],
    b: Annotated[str, typer.Argument(metavar="B", show_default=False, help="A file of ten boards: Orange's deck.")],
    rules: Rules = "written",
    svg: Annotated[
        str | None,
        typer.Option("--svg", metavar="FILE", show_default=False, help="Write the heat map to this SVG file."),
    ] = None,
    json: Json = False,
) -> None:
    """Play two decks, ten boards against ten, 100 rounds; print the totals and a heat map of the margins."""
    checked_rules(rules)
    with command_errors(), console.compiling("spaces"):
        decks = [board_files.read_deck(a), board_files.read_deck(b)]
        size = size_of(decks[0][0])
        for path, boards in zip((a, b), decks, strict=True):
            for number, board in enumerate(boards, 1):
                if wrong := legality.refusal(spaces.check(board, size, rules)):
                    raise CommandError(f"{path}, board {number}: {wrong}")
        own, other = spaces.simulate_matrix(decks[0], decks[1], size, rules)
        margins = (own - other).tolist()
        totals = [int(own.sum()), int(other.sum())]
        if svg is not None:
            board_files.write_text(svg, spaces.matrix_svg(margins, f"{totals[0]} : {totals[1]}"))
    if json:
        print_json({"size": size, "rules": rules, "totals": totals, "points": [own.tolist(), other.tolist()]})
        return
    _show_heat(margins)
    words = "a draw" if totals[0] == totals[1] else f"{spaces.Spaces.seat_name(int(totals[1] > totals[0]))} wins"
    console.say(f"totals {totals[0]} : {totals[1]}, {words}")


def _show_heat(margins: list[list[int]]) -> None:
    """Margins in colours: the first side's boards down, the second's across."""
    terminal = console.stdout()
    most = max(1, *(abs(margin) for row in margins for margin in row))
    terminal.print(rich_text.Text("     " + "".join(f"{number:>4}" for number in range(1, len(margins[0]) + 1)), "dim"))
    for number, row in enumerate(margins, 1):
        line = rich_text.Text(f"{number:>4} ", "dim")
        for margin in row:
            style = f"bold white on {SHADES[margin > 0]}" if abs(margin) > most / 2 else SHADES[margin > 0]
            line.append(f"{margin:>+4}" if margin else "   0", style if margin else "default")
        terminal.print(line, soft_wrap=True)


@app.command(
    cls=Command,
    epilog=examples(
        "ludodrome spaces respond 3:1:uuf --rules live", "ludodrome spaces respond 20:3:uuuuuuuuuuuuuuuuuuuf"
    ),
)
def respond(
    board: Board,
    rules: Rules = "written",
    objective: Annotated[
        str, typer.Option(metavar="WHAT", help="Maximise margin (own points minus the opponent's) or points.")
    ] = "margin",
    time: Annotated[
        float | None,
        typer.Option(metavar="S", min=0.0, show_default=False, help="Time limit in seconds. Default: none."),
    ] = None,
    json: Json = False,
) -> None:
    """Find the best response to a board, and its value."""
    checked_rules(rules)
    given = one_board(board)
    size = size_of(given)
    with command_errors(), console.compiling("spaces"):
        found = interruptible(lambda: spaces.respond(given, size, rules, objective, seconds=time))
        code = spaces.encode_board(found.board)
    if json:
        print_json({"rules": rules, "code": code, **asdict(found)})
        return

    console.say(code)
    console.say(spaces.box_board(found.board))
    proof = (
        "no legal board does better" if found.proven else f"not proven; no legal board does better than {found.bound}"
    )
    console.say(f"{found.points[0]} : {found.points[1]}, margin {found.margin:+d}; {proof}")
