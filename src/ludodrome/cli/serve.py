"""The web page: `serve`."""

import os
import socket
import sys
import threading
from contextlib import suppress
from typing import Annotated

import typer

from ludodrome.cli import screen
from ludodrome.cli.commands import Command, Refusal, examples, refusals

app = typer.Typer()

HOST = "127.0.0.1"
PORT = 8008
NEIGHBOURS = 20
"""Where nobody asked for a certain port, so many after the usual one are tried."""
DATABASE = "ludodrome.db"
FIRST_GAME = "skysummit"


@app.command(cls=Command, epilog=examples("ludodrome serve", "ludodrome serve --port 9000 --no-browser"))
def serve(
    port: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, max=65535, show_default=False, help=f"The port; {PORT} if it is free."),
    ] = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in a browser, if there is one.")
    ] = True,
) -> None:
    """Serve the web page: play, puzzles, rules.

    It listens on this machine alone and asks for no sign-in. Ctrl-C ends it.
    """
    try:
        from ludodrome.puzzlebook.solved import data_folder
        from ludodrome.store.database import open_database
        from ludodrome.web.app import create_app
        from ludodrome.web.service import serve as run
    except ImportError as error:
        raise Refusal(f"the web page needs more packages ({error.name} is missing): install ludodrome[web]") from error
    with refusals():
        folder = data_folder()
        folder.mkdir(parents=True, exist_ok=True)
        engine = open_database(folder / DATABASE, create=True)
    listening = _listen(port)
    address = f"http://{HOST}:{listening.getsockname()[1]}/"
    screen.say(f"Ludodrome is at {address}  (Ctrl-C ends it)")
    sys.stdout.flush()
    if browser and _has_display():
        threading.Thread(target=_open, args=(address,), daemon=True).start()
    with suppress(KeyboardInterrupt):
        run(create_app(engine, warm=(FIRST_GAME,)), [listening])
    sys.stdout.flush()
    os._exit(0)  # a bot that is still thinking, or a kernel that is being compiled, must not hold the terminal


def _listen(port: int | None) -> socket.socket:
    """A socket on the port asked for, or on the first free one."""
    tried = [port] if port is not None else range(PORT, PORT + NEIGHBOURS)
    for number in tried:
        listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((HOST, number))
            listening.listen()  # whoever comes before the server is ready waits, and is not turned away
        except OSError as error:
            listening.close()
            reason = error.strerror
        else:
            return listening
    raise Refusal(f"port {tried[0]} cannot be used ({reason}); name a free one with --port N")


def _has_display() -> bool:
    return sys.platform in ("win32", "darwin") or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


def _open(address: str) -> None:
    import webbrowser

    webbrowser.open(address)
