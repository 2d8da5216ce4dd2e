"""Information about games: `games`, `rules` and `show`."""

from __future__ import annotations

import sys
from json import dumps
from typing import Annotated

import typer

from ludodrome.cli import console
from ludodrome.cli.base import (
    Command,
    CommandError,
    GameId,
    Json,
    Options,
    command_errors,
    examples,
    open_game,
    read_state,
)
from ludodrome.cli.lazy import lazy_imports
from ludodrome.games import GAMES, find

with lazy_imports():
    from rich import text as rich_text

    from ludodrome import game as game_api


app = typer.Typer()

MANY = 10**18
"""A count of moves from here on is replaced by the game's own sentence."""


@app.command(cls=Command, epilog=examples("ludodrome games", "ludodrome games --json"))
def games(json: Json = False) -> None:
    """List the games."""
    entries = [GAMES[game_id] for game_id in sorted(GAMES)]
    if json:
        console.say(
            dumps({"games": [{"id": entry.id, "title": entry.title, "summary": entry.summary} for entry in entries]})
        )
        return
    console.show_table(("id", "title", "summary"), [(entry.id, entry.title, entry.summary) for entry in entries])


@app.command(cls=Command, epilog=examples("ludodrome rules dots", "ludodrome rules dots --full > dots.md"))
def rules(
    game: GameId,
    full: Annotated[
        bool, typer.Option("--full", help="Add the part for programs: numbered rules, options, encodings.")
    ] = False,
    plain: Annotated[bool, typer.Option("--plain", help="Print the Markdown source.")] = False,
) -> None:
    """Show the rules of a game.

    A terminal shows them in a pager ($PAGER, or less); other outputs get the Markdown source.
    """
    with command_errors():
        entry = find(game)
        page = entry.rules()
    text = page if full else entry.rules_for_people()
    if text != page:
        text += f"\nThe numbered rules, options and encodings: `ludodrome rules {entry.id} --full`.\n"
    if plain or not sys.stdout.isatty():
        console.say(text.rstrip("\n"))
    else:
        console.show_markdown(text, paged=True)


@app.command(
    cls=Command,
    epilog=examples(
        "ludodrome show dots -o rows=2 -o cols=3",
        "ludodrome show skysummit '00000/00000/00000/00020/00000 B2C4 B4D3 4'",
        "ludodrome show santorini --json | ludodrome show santorini -",
    ),
)
def show(
    game: GameId,
    state: Annotated[
        str | None,
        typer.Argument(
            metavar="STATE",
            show_default=False,
            help="One-line form, JSON, or - to read stdin. Default: the initial position.",
        ),
    ] = None,
    option: Options = None,
    json: Json = False,
) -> None:
    """Draw a position.

    Below the board: the one-line form, the seat to move or the result, and the number of legal moves.
    """
    chosen = open_game(game, option)
    position = read_state(chosen, _read_stdin() if state == "-" else state)
    if json:
        console.say(dumps(position))
        return
    with console.compiling(chosen.id):
        outcome, seat = chosen.outcome(position), chosen.to_move(position)
        try:
            legal = f"{len(chosen.legal_moves(position)):,}"
        except game_api.TooManyMoves as error:
            legal = f"{error.count:,}" if error.count and error.count < MANY else str(error)
    out = console.stdout()
    console.draw(chosen, position)
    out.print()
    out.print(rich_text.Text.assemble("one line     ", chosen.format_state(position)), soft_wrap=True)
    if outcome is not None:
        out.print(rich_text.Text.assemble("over         ", console.verdict(outcome, chosen)))
    elif seat is not None:
        out.print(rich_text.Text.assemble("to move      ", console.seat_name(seat, chosen)), soft_wrap=True)
    out.print(rich_text.Text.assemble("legal moves  ", legal))


def _read_stdin() -> str:
    text = sys.stdin.read()
    if not text.strip():
        raise CommandError("stdin has no position: it is empty or closed")
    return text
