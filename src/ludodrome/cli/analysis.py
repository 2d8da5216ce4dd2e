"""Positions and recorded games analysed: `analyse`, `solve` and `review`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ludodrome.cli import console
from ludodrome.cli.base import (
    UNDECIDED,
    Command,
    CommandError,
    GameId,
    Json,
    Options,
    StateText,
    command_errors,
    examples,
    open_game,
    read_state,
)
from ludodrome.cli.lazy import lazy_imports

with lazy_imports():
    from rich import live as rich_live
    from rich import table as rich_table
    from rich import text as rich_text

    from ludodrome import analysis as engine
    from ludodrome.analysis import game_review
    from ludodrome.analysis import solving as solver
    from ludodrome.arena import records as arena_records
    from ludodrome.arena.records import archive
    from ludodrome.arena.records import replay as replays

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from ludodrome.analysis import Analysis, Line, Solution, Solving
    from ludodrome.analysis.game_review import GameReview, GradedMove
    from ludodrome.analysis.move_review import MoveReview
    from ludodrome.analysis.win_probability import Value
    from ludodrome.arena.records.replay import Replay
    from ludodrome.game import Game

app = typer.Typer()

SHOWN_PLIES = 8
"""Plies of a continuation that fit a line."""
SAVE_INTERVAL = 600.0
"""Seconds between two saves of long work."""


@app.command(
    cls=Command,
    epilog=examples(
        "ludodrome analyse santorini",
        "ludodrome analyse dots -o rows=3 -o cols=3 --time 10 --lines 5",
        "ludodrome analyse santorini -o players=3 --time 30 --json",
    ),
)
def analyse(
    game: GameId,
    option: Options = None,
    state: StateText = None,
    time: Annotated[float, typer.Option(metavar="S", min=0.01, max=86400, help="Thinking time in seconds.")] = 5.0,
    lines: Annotated[int, typer.Option(metavar="N", min=1, max=100, help="Number of best moves to show.")] = 3,
    threads: Annotated[int, typer.Option(metavar="N", min=1, max=64, help="Threads that search.")] = 1,
    json: Json = False,
) -> None:
    """Show the best moves of a position, refined as time passes.

    Scores are for the seat to move: in dots the final margin of boxes, elsewhere the engine's estimate. `wins in 5` and
    `loses in 4` are proven and count plies. Ctrl-C ends the analysis and keeps its result.
    """
    chosen = open_game(game, option)
    position = read_state(chosen, state)
    with command_errors(), console.compiling(chosen.id):
        growing = engine.analyse(chosen, position, time, lines, threads=threads)
        last = next(growing)
    if not json:
        console.draw(chosen, position)
    try:
        with _live(not json) as show:
            show(last)
            for last in growing:
                show(last)
    except KeyboardInterrupt:
        pass
    if json:
        line = chosen.format_state(position)
        console.say(dumps({"game": chosen.id, "options": chosen.options, "state": line, **asdict(last)}))


@contextmanager
def _live(wanted: bool) -> Iterator[Any]:
    """A function that shows analyses: a live table in a terminal, a table per depth elsewhere."""
    if not wanted:
        yield lambda analysis: None
        return
    out = console.stdout()
    if not out.is_terminal:
        yield lambda analysis: out.print(_table(analysis))
        return
    with rich_live.Live(console=out, auto_refresh=False) as live:
        yield lambda analysis: live.update(_table(analysis), refresh=True)


def _table(analysis: Analysis) -> Table:
    speed = f"{analysis.nodes / max(analysis.seconds, 1e-9):,.0f} a second"
    caption = f"depth {analysis.depth}, {analysis.nodes:,} positions in {analysis.seconds:.1f} s, {speed}"
    table = rich_table.Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold", caption=caption)
    table.caption_justify = "left"
    table.add_column("move", no_wrap=True)
    table.add_column("score", justify="right", no_wrap=True)
    table.add_column("continuation")
    for line in analysis.lines:
        table.add_row(line.text, _score(line), "  ".join(line.continuation[:SHOWN_PLIES]))
    return table


def _score(line: Line) -> str:
    if line.distance is not None:
        return f"{'wins' if line.score > 0 else 'loses'} in {line.distance}"
    return f"{line.score:+.2f}{' proven' if line.proven else ''}"


@app.command(
    cls=Command,
    epilog=examples(
        "ludodrome solve dots -o rows=3 -o cols=3",
        "ludodrome solve caldera --time 60",
        "ludodrome solve dots -o rows=4 -o cols=5 --file run.npz --bits 27",
        "ludodrome solve dots -o rows=3 -o cols=4 --who-wins",
    ),
)
def solve(
    game: GameId,
    option: Options = None,
    state: StateText = None,
    time: Annotated[
        float | None, typer.Option(metavar="S", min=0.01, help="Time limit in seconds. Default: none.")
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Only dots: save proven results here, and continue from them."),
    ] = None,
    bits: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=10,
            max=32,
            help="Size of the transposition table: 2^N positions of 16 bytes. Default: 22; in dots 22 to 27, by board.",
        ),
    ] = None,
    who_wins: Annotated[
        bool,
        typer.Option("--who-wins", help="Find only who wins, not by how many points or plies: it takes less time."),
    ] = False,
    json: Json = False,
) -> None:
    """Solve a position: find its value under perfect play.

    In dots the value is the final margin of boxes for the seat to move; elsewhere a win, loss or draw, and its number
    of plies. Ctrl-C ends the search and prints what is known; with --file the same command continues it later. Exit
    code 3: not solved.
    """
    chosen = open_game(game, option)
    position = read_state(chosen, state)
    with command_errors(), console.compiling(chosen.id):
        if file is not None:
            solver.check_can_save(chosen)
        if file is not None and file.exists():
            solving = solver.load_solving(chosen, position, file, bits, who_wins=who_wins)
        else:
            table_bits = bits or solver.recommended_table_bits(chosen, position)
            solving = engine.Solving(chosen, position, table_bits=table_bits, who_wins=who_wins)
    with suppress(KeyboardInterrupt):
        _work(solving, time, file)
    _save(solving, file)
    solution = solving.solution
    if json:
        known = asdict(solution) | {"nodes": solving.nodes, "seconds": solving.seconds}
        line = chosen.format_state(position)
        console.say(dumps({"game": chosen.id, "options": chosen.options, "state": line, **known}))
    else:
        console.draw(chosen, position)
        console.say(_verdict(chosen, solution, who_wins))
        console.say(f"{solving.nodes:,} positions in {solving.seconds:.2f} s")
    if not solution.proven:
        raise typer.Exit(UNDECIDED)


def _work(solving: Solving, time: float | None, file: Path | None) -> None:
    """Run until it is solved or the time is up, with a line of progress and a save now and then."""
    saved = 0.0
    with console.reporting() as report:
        while not solving.done and (time is None or solving.seconds < time):
            report(f"solving: {solving.state}, {solving.nodes:,} positions, {solving.seconds:.0f} s")
            solving.run(1.0 if time is None else min(1.0, time - solving.seconds))
            if solving.seconds - saved > SAVE_INTERVAL:
                _save(solving, file)
                saved = solving.seconds


def _save(solving: Solving, file: Path | None) -> None:
    if file is not None:
        with command_errors():
            try:
                solver.save_solving(solving, file)
            except OSError as error:
                raise ValueError(f"{file} cannot be written: {error.strerror}") from error


def _verdict(game: Game, solution: Solution, who_wins: bool) -> str:
    """A solution in a sentence."""
    if solution.value is None:
        return "not solved in the time given"
    if not who_wins and game.evaluator is not None and game.evaluator.by_points:
        result = f"the seat to move ends {solution.value:+d}" if solution.value else "a draw"
    else:
        word = {1: "wins", 0: "draws", -1: "loses"}[solution.value]
        result = f"the seat to move {word}" + (f" in {solution.distance} plies" if solution.distance else "")
    return f"{result}: {'  '.join(solution.line)}" if solution.line else result


GRADE_SIGNS = {"inaccuracy": "?!", "mistake": "?", "blunder": "??"}
MAX_NODES = 10**9


@app.command(
    cls=Command,
    epilog=examples(
        "ludodrome review games/m-0123456789abcdef.json",
        "ludodrome review game.json --nodes 2000000",
        "ludodrome review game.json --json",
    ),
)
def review(
    path: Annotated[str, typer.Argument(metavar="FILE", show_default=False, help="A recorded game.")],
    nodes: Annotated[
        int, typer.Option(metavar="N", min=1, max=MAX_NODES, help="Positions to search for each move.")
    ] = 200_000,
    json: Json = False,
) -> None:
    """Grade every move of a recorded game by what it gave away.

    A grade is `exact` where a solver knows the value of the move, else an estimate. Accuracy is the mean of
    100 e^(-4.5 loss) over a seat's own moves. Every machine gives the same grades.
    """
    record = _the_record(path)
    with command_errors(), console.compiling(record["game"]):
        arena_records.verify(record)
        replay = replays.replay_record(record)
        grading = game_review.GameReview(
            replay.game, replay.states, replay.moves, [turn.own for turn in replay.turns], nodes
        )
    with console.bar("grading") as advance:
        for number, _ in enumerate(grading.work(), 1):
            advance(number, grading.total)
    if json:
        console.say(dumps(_review_json(record, replay, grading), ensure_ascii=False))
    else:
        console.stdout().print(_review_table(replay, grading))
        for line in _review_summary(record, replay, grading):
            console.stdout().print(line)


def _the_record(path: str) -> dict[str, Any]:
    with command_errors():
        found = list(archive.find([path]))
    if len(found) != 1:
        raise CommandError(f"review grades one game, but {path} has {len(found)}")
    return found[0]


def _review_table(replay: Replay, grading: GameReview) -> Table:
    table = rich_table.Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in ("turn", "", "move", "grade", "", "gave", "better"):
        table.add_column(name, no_wrap=name != "better", justify="right" if name in ("turn", "gave") else "left")
    for ply, turn in enumerate(replay.turns):
        one = grading.plies[ply]
        word = one.grade or ("opening" if turn.opening else "not its own" if not turn.own else "forced")
        sign = GRADE_SIGNS.get(word, "")
        better = "" if one.grade in (None, "best") else f"{one.review.text}  {value_text(one.review.best)}"
        table.add_row(
            str(ply),
            console.seat_name(turn.seat, replay.game),
            f"{turn.text}{sign}",
            rich_text.Text(word, console.BAD if sign in ("?", "??") else "" if one.grade else "dim"),
            rich_text.Text("exact" if one.review.exact else "estimated", "dim"),
            _loss_text(one),
            better,
        )
    return table


def _loss_text(one: GradedMove) -> str:
    """What a move gave away, as text."""
    if one.grade in (None, "best"):
        return ""
    return f"{100 * one.loss:.0f}%" if one.points is None else f"{one.points:g}"


def value_text(value: Value) -> str:
    """A value as text."""
    if value.distance is not None:
        return f"{'wins' if value.score > 0 else 'loses'} in {value.distance}"
    return f"{value.score:+.1f}"


def _review_summary(record: dict[str, Any], replay: Replay, grading: GameReview) -> list[Text]:
    """One line per seat."""
    lines = []
    for seat, name in enumerate(record["names"]):
        accuracy = grading.accuracy(seat)
        own = [one.grade for one in grading.plies.values() if one.seat == seat]
        counts = [f"{own.count(grade)} {sign}" for grade, sign in GRADE_SIGNS.items() if own.count(grade)]
        said = "no move of its own" if accuracy is None else f"accuracy {accuracy:.1f}%"
        lines.append(
            rich_text.Text()
            .append(console.seat_name(seat, replay.game))
            .append(f" {name}: {'  '.join([said, *counts])}")
        )
    return lines


def _review_json(record: dict[str, Any], replay: Replay, grading: GameReview) -> dict[str, Any]:
    seats = range(replay.game.seats)
    return {
        "match": record["match"],
        "game": replay.game.id,
        "accuracy": [grading.accuracy(seat) for seat in seats],
        "turning_points": grading.turning_points(),
        "plies": [_ply_json(replay.turns[ply].text, grading.plies[ply]) for ply in range(grading.total)],
    }


def _ply_json(text: str, one: GradedMove) -> dict[str, Any]:
    found: MoveReview = one.review
    return {
        "ply": one.ply,
        "seat": one.seat,
        "text": text,
        "grade": one.grade,
        "exact": found.exact,
        "worth": one.win_probability,
        "loss": one.loss,
        "points": one.points,
        "best": found.text,
        "score": found.best.score,
        "distance": found.best.distance,
        "played_score": found.played.score,
        "played_distance": found.played.distance,
    }
