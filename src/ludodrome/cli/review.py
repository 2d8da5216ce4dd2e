"""The command ``review``: a recorded game graded at the terminal."""

from __future__ import annotations

from json import dumps
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ludodrome.cli import console
from ludodrome.cli.base import Command, CommandError, Json, command_errors, examples
from ludodrome.cli.lazy import lazy_imports

with lazy_imports():
    from rich import table as rich_table
    from rich import text as rich_text

    from ludodrome.analysis import game_review
    from ludodrome.arena import records as arena_records
    from ludodrome.arena.records import archive
    from ludodrome.arena.records import replay as replays

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from ludodrome.analysis.game_review import GameReview, GradedMove
    from ludodrome.analysis.move_review import MoveReview
    from ludodrome.analysis.win_probability import Value
    from ludodrome.arena.records.replay import Replay

app = typer.Typer()

SIGNS = {"inaccuracy": "?!", "mistake": "?", "blunder": "??"}
MOST_NODES = 10**9


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
        int, typer.Option(metavar="N", min=1, max=MOST_NODES, help="Positions to look at for each move.")
    ] = 200_000,
    json: Json = False,
) -> None:
    """Grade every move of a recorded game by what it gave away.

    A move is `exact` where a solver knows the truth about it, else the engine's estimate. Accuracy is the mean over a
    seat's own moves of 100 e^(-4.5 loss). The same game is graded alike on every machine.
    """
    record = _record(path)
    with command_errors(), console.compiling(record["game"]):
        arena_records.verify(record)
        told = replays.replay_record(record)
        grading = game_review.GameReview(told.game, told.states, told.moves, [turn.own for turn in told.turns], nodes)
    with console.bar("grading") as tell:
        for number, _ in enumerate(grading.work(), 1):
            tell(number, grading.total)
    if json:
        console.say(dumps(_value(record, told, grading), ensure_ascii=False))
    else:
        console.stdout().print(_table(told, grading))
        for line in _summary(record, grading):
            console.stdout().print(line)


def _record(path: str) -> dict[str, Any]:
    with command_errors():
        found = list(archive.find([path]))
    if len(found) != 1:
        raise CommandError(f"review grades one game, and {len(found)} were found in {path}")
    return found[0]


def _table(told: Replay, grading: GameReview) -> Table:
    table = rich_table.Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in ("turn", "", "move", "grade", "", "gave", "better"):
        table.add_column(name, no_wrap=name != "better", justify="right" if name in ("turn", "gave") else "left")
    for ply, turn in enumerate(told.turns):
        one = grading.plies[ply]
        word = one.grade or ("opening" if turn.opening else "not its own" if not turn.own else "forced")
        sign = SIGNS.get(word, "")
        better = "" if one.grade in (None, "best") else f"{one.review.text}  {worth_words(one.review.best)}"
        table.add_row(
            str(ply),
            console.seat_name(turn.seat),
            f"{turn.text}{sign}",
            rich_text.Text(word, console.BAD if sign in ("?", "??") else "" if one.grade else "dim"),
            rich_text.Text("exact" if one.review.exact else "estimated", "dim"),
            _gave(one),
            better,
        )
    return table


def _gave(one: GradedMove) -> str:
    """What a move gave away."""
    if one.grade in (None, "best"):
        return ""
    return f"{100 * one.loss:.0f}%" if one.points is None else f"{one.points:g}"


def worth_words(value: Value) -> str:
    """A value for people."""
    if value.distance is not None:
        return f"{'wins' if value.score > 0 else 'loses'} in {value.distance}"
    return f"{value.score:+.1f}"


def _summary(record: dict[str, Any], grading: GameReview) -> list[Text]:
    """One line a seat."""
    lines = []
    for seat, name in enumerate(record["names"]):
        accuracy = grading.accuracy(seat)
        own = [one.grade for one in grading.plies.values() if one.seat == seat]
        counts = [f"{own.count(grade)} {sign}" for grade, sign in SIGNS.items() if own.count(grade)]
        said = "no move of its own" if accuracy is None else f"accuracy {accuracy:.1f}%"
        lines.append(rich_text.Text().append(console.seat_name(seat)).append(f" {name}: {'  '.join([said, *counts])}"))
    return lines


def _value(record: dict[str, Any], told: Replay, grading: GameReview) -> dict[str, Any]:
    seats = range(told.game.seats)
    return {
        "match": record["match"],
        "game": told.game.id,
        "accuracy": [grading.accuracy(seat) for seat in seats],
        "turning_points": grading.turning_points(),
        "plies": [_ply(told.turns[ply].text, grading.plies[ply]) for ply in range(grading.total)],
    }


def _ply(text: str, one: GradedMove) -> dict[str, Any]:
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
