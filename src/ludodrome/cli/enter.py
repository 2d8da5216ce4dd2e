"""A bot of this machine in the league of a server: `enter`."""

from __future__ import annotations

import re
from contextlib import suppress
from queue import Queue
from threading import Event, Thread
from time import sleep
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ludodrome.cli import console
from ludodrome.cli.base import (
    BotsFile,
    Command,
    CommandError,
    GameId,
    check_bots,
    command_errors,
    examples,
    open_game,
    resolve_bot,
)
from ludodrome.cli.lazy import lazy_imports
from ludodrome.system import api_url, base_url

with lazy_imports():
    from ludodrome import client as server_client
    from ludodrome.arena.transports import remote_client
    from ludodrome.bots import identity

if TYPE_CHECKING:
    from ludodrome.client import Client

app = typer.Typer()

HOME = base_url()
PATIENCE, PAUSE = 5.0, 0.1
"""Seconds to wait for the result of a game that has ended, and between two questions."""
LAST_LINES = 10
"""Lines of the standard error that are shown when the bot fails."""


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
            metavar="BOT", show_default=False, help="Bot: cmd:./mybot, ./bot.py, wasm:bot.wasm or a built-in."
        ),
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
    bots: BotsFile = None,
) -> None:
    """Enter a bot into the league of a running server.

    The bot runs on this machine and plays until Ctrl-C. If you have entered a bot of this name before and it has not
    changed since, it continues with its rating; if it has changed, it is a new version, with a rating of its own that
    begins with that of the version before.
    """
    bot = resolve_bot(bot, bots)
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
            entered = _entered(client, game, name, identity.identity(bot))
            page = f"{client.url}/{game}/bots/{entered['id']}"
            console.say(f"{name} is in the league: {page}  (Ctrl-C ends it)")
            with _GameReporter(client, entered["id"], name) as reporter:
                _play(server, entered, bot, games, reporter)
    except Refused as error:
        raise CommandError(str(error)) from error


def _entered(client: Client, game: str, name: str, identity: str) -> Any:
    """The caller's remote bot of that name with a new token; entered first if there is none, resumed if paused."""
    from httpx import HTTPError  # optional extra

    try:
        mine = (one for one in client.bots(game, mine=True) if one["name"] == name and one["kind"] == "remote")
        known = next(mine, None)
        if known is None:
            return client.enter_remote_bot(game, name, identity)
        renewed = client.renew_token(known["id"], identity)
        if known.get("paused") is not None:
            last = next(iter(client.bot_failures(known["id"])), None)
            why = "" if last is None else f" The last failure was a {last['cause']}: {last['why']}"
            client.resume_bot(known["id"])
            console.say(console.printable(f"{name} was paused because it kept failing; it plays again.{why}", True))
        return renewed
    except HTTPError as error:
        hint = "is `ludodrome serve` running there? Give another address with --server"
        raise CommandError(f"{client.url} does not answer ({error}); {hint}") from error


def _play(server: str, entered: Any, spec: str, games: int | None, reporter: _GameReporter) -> None:
    stop, played = reporter.stop, 0

    def ended(over: Any, seat: int) -> None:
        nonlocal played
        played += 1
        reporter.report(played, over, seat, away.stderr if over["verdict"] else "")
        if played == games:
            stop.set()

    away = remote_client.RemoteClient(spec, ended)
    url = api_url(server, f"/bots/{entered['id']}/connect")
    try:
        with suppress(KeyboardInterrupt), command_errors():
            server_client.connect_player(url, entered["token"], away.hear, stop)
    finally:
        away.close()


class _GameReporter:
    """Prints a line about each game that ended. A thread asks the server, so that the next game need not wait."""

    def __init__(self, client: Client, bot: str, name: str) -> None:
        self._client, self._bot, self._name = client, bot, name
        self.stop = Event()
        """Set when the bot should leave: all games are played, or it was paused."""
        self._games: Queue[tuple[int, Any, int, str] | None] = Queue()
        self._thread = Thread(target=self._run, daemon=True)

    def __enter__(self) -> _GameReporter:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._games.put(None)
        self._thread.join(2 * PATIENCE)

    def report(self, number: int, over: Any, seat: int, stderr: str) -> None:
        """Report a game: its number, the ``over`` message, the bot's seat, and its standard error if it failed."""
        self._games.put((number, over, seat, stderr))

    def _run(self) -> None:
        from httpx import HTTPError  # optional extra

        while (game := self._games.get()) is not None:
            number, over, seat, stderr = game
            fate = "drawn" if over["winner"] is None else "won" if over["winner"] == seat else "lost"
            verdict = f"; {over['verdict']['cause']}: {over['verdict']['why']}" if over["verdict"] else ""
            try:
                known, paused = self._known(over["match"], seat)
            except (server_client.Refused, HTTPError):  # the server is gone, or does not know the game
                known, paused = "", False
            lines = [f"game {number}: {fate} ({over['reason']}){known}{verdict}"]
            lines += [f"  stderr: {line}" for line in stderr.rstrip().splitlines()[-LAST_LINES:]]
            if paused:
                lines.append(f"{self._name} is paused, because it kept failing. Fix it, then enter it again.")
                self.stop.set()
            for line in lines:
                console.say(console.printable(line, True))

    def _known(self, match: str, seat: int) -> tuple[str, bool]:
        """Opponents, rating and link of a game, and whether the bot is paused. The result comes a moment later here."""
        for _ in range(int(PATIENCE / PAUSE)):
            found = self._client.match(match)
            if found["result"] is not None:
                break
            sleep(PAUSE)
        rivals = " and ".join(name for other, name in enumerate(found["names"]) if other != seat)
        bot = self._client.bot(self._bot)
        shown = "not rated yet"
        if bot["rating"] is not None:
            shown = "rating {rating:.0f} [{low:.0f}, {high:.0f}]".format(**bot["rating"])
        return f" against {rivals}; {shown}; {self._client.url}/games/{match}", bot.get("paused") is not None
