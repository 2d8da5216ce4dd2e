"""Bots of this machine in the league of a server: `enter`."""

from __future__ import annotations

import re
from contextlib import suppress
from threading import Event
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ludodrome.cli import console
from ludodrome.cli.base import Command, CommandError, GameId, command_errors, examples, open_game
from ludodrome.cli.lazy import lazy_imports
from ludodrome.cli.serve import HOST, PORT
from ludodrome.cli.workers import check_bots

with lazy_imports():
    from ludodrome import client as server_client
    from ludodrome.arena.transports import remote_client

if TYPE_CHECKING:
    from ludodrome.client import Client

app = typer.Typer()

HOME = f"http://{HOST}:{PORT}"


@app.command(
    cls=Command,
    epilog=examples(
        'ludodrome enter skysummit "cmd:python3 bot.py" --name mybot',
        "ludodrome enter dots cmd:./bot --name mybot --server https://example.org",
    ),
)
def enter(
    game: GameId,
    bot: Annotated[
        str,
        typer.Argument(
            metavar="BOT", show_default=False, help="The bot: cmd:./mybot, py:mine.py:MyBot, or a built-in."
        ),
    ],
    name: Annotated[str, typer.Option(metavar="NAME", show_default=False, help="What it is called in the league.")],
    server: Annotated[str, typer.Option(metavar="URL", help="The server that it plays on.")] = HOME,
    token: Annotated[
        str | None,
        typer.Option(metavar="TOKEN", show_default=False, help="Where people have accounts: one of yours for bots."),
    ] = None,
    games: Annotated[
        int | None, typer.Option(metavar="N", min=1, show_default=False, help="Leave after so many games.")
    ] = None,
) -> None:
    """Enter a bot into the league of a running server.

    The bot stays on this machine and plays as long as this runs; Ctrl-C ends it. A bot of that name that you have
    entered before goes on, with its rating.
    """
    check_bots(open_game(game, None), [bot])
    try:
        from ludodrome.client import Client, Refused  # optional extra
    except ImportError as error:
        raise CommandError(f"playing on a server needs {error.name}: install ludodrome[client]") from error
    if not re.match(r"https?://\w", server):
        raise CommandError(f"a server is named like {HOME}, not {server}")
    try:
        with Client(server, token) as client:
            entered = _entered(client, game, name)
        console.say(f"{name} is in the league: {server.rstrip('/')}/{game}/bots/{entered['id']}  (Ctrl-C ends it)")
        _play(server, entered, bot, games)
    except Refused as error:
        raise CommandError(str(error)) from error


def _entered(client: Client, game: str, name: str) -> Any:
    """The remote bot of that name with a token: the caller's from before, or a new one."""
    from httpx import HTTPError  # optional extra

    try:
        mine = (one for one in client.bots(game, mine=True) if one["name"] == name and one["kind"] == "remote")
        known = next(mine, None)
        return client.enter_remote_bot(game, name) if known is None else client.renew_token(known["id"])
    except HTTPError as error:
        hint = "is `ludodrome serve` running there? --server names another address"
        raise CommandError(f"{client.url} does not answer ({error}); {hint}") from error


def _play(server: str, entered: Any, spec: str, games: int | None) -> None:
    stop, played = Event(), 0

    def ended(over: Any, seat: int) -> None:
        nonlocal played
        played += 1
        fate = "drawn" if over["winner"] is None else "won" if over["winner"] == seat else "lost"
        verdict = f"; {over['verdict']['cause']}: {over['verdict']['why']}" if over["verdict"] else ""
        console.say(f"game {played}: {fate} ({over['reason']}){verdict}")
        if played == games:
            stop.set()

    away = remote_client.RemoteClient(spec, ended)
    url = f"{server.rstrip('/')}/api/v1/bots/{entered['id']}/connect"
    try:
        with suppress(KeyboardInterrupt), command_errors():
            server_client.connect_player(url, entered["token"], away.hear, stop)
    finally:
        away.close()
