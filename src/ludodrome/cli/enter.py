"""A bot of this machine in the league of a server: `enter`."""

from __future__ import annotations

import re
from contextlib import suppress
from threading import Event
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ludodrome.cli import console
from ludodrome.cli.base import Command, CommandError, GameId, check_bots, command_errors, examples, open_game
from ludodrome.cli.lazy import lazy_imports
from ludodrome.system import api_url, base_url

with lazy_imports():
    from ludodrome import client as server_client
    from ludodrome.arena.transports import remote_client

if TYPE_CHECKING:
    from ludodrome.client import Client

app = typer.Typer()

HOME = base_url()


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
        typer.Argument(metavar="BOT", show_default=False, help="Bot: cmd:./mybot, py:mine.py:MyBot, or a built-in."),
    ],
    name: Annotated[str, typer.Option(metavar="NAME", show_default=False, help="Name of the bot in the league.")],
    server: Annotated[str, typer.Option(metavar="URL", help="Address of the server.")] = HOME,
    token: Annotated[
        str | None,
        typer.Option(metavar="TOKEN", show_default=False, help="Your API token for bots, if the server has accounts."),
    ] = None,
    games: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, show_default=False, help="Stop after this many games. Default: never."),
    ] = None,
) -> None:
    """Enter a bot into the league of a running server.

    The bot runs on this machine and plays until Ctrl-C. If you have entered a bot of this name before, it continues
    with its rating.
    """
    check_bots(open_game(game, None), [bot])
    try:
        from ludodrome.client import Client, Refused  # optional extra
    except ImportError as error:
        raise CommandError(
            f"`enter` needs {error.name}, which is not installed: pip install 'ludodrome[client]'"
        ) from error
    if not re.match(r"https?://\w", server):
        raise CommandError(f"a server address looks like {HOME}, not {server}")
    try:
        with Client(server, token) as client:
            entered = _entered(client, game, name)
        console.say(f"{name} is in the league: {server.rstrip('/')}/{game}/bots/{entered['id']}  (Ctrl-C ends it)")
        _play(server, entered, bot, games)
    except Refused as error:
        raise CommandError(str(error)) from error


def _entered(client: Client, game: str, name: str) -> Any:
    """The caller's remote bot of that name with a new token; entered first if there is none."""
    from httpx import HTTPError  # optional extra

    try:
        mine = (one for one in client.bots(game, mine=True) if one["name"] == name and one["kind"] == "remote")
        known = next(mine, None)
        return client.enter_remote_bot(game, name) if known is None else client.renew_token(known["id"])
    except HTTPError as error:
        hint = "is `ludodrome serve` running there? Give another address with --server"
        raise CommandError(f"{client.url} does not answer ({error}); {hint}") from error


def _play(server: str, entered: Any, spec: str, games: int | None) -> None:
    stop, played = Event(), 0

    def ended(over: Any, seat: int) -> None:
        nonlocal played
        played += 1
        fate = "drawn" if over["winner"] is None else "won" if over["winner"] == seat else "lost"
        verdict = f"; {over['verdict']['cause']}: {over['verdict']['why']}" if over["verdict"] else ""
        console.say(console.printable(f"game {played}: {fate} ({over['reason']}){verdict}", True))
        if played == games:
            stop.set()

    away = remote_client.RemoteClient(spec, ended)
    url = api_url(server, f"/bots/{entered['id']}/connect")
    try:
        with suppress(KeyboardInterrupt), command_errors():
            server_client.connect_player(url, entered["token"], away.hear, stop)
    finally:
        away.close()
