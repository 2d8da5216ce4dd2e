"""Servers: `serve`, the web page, and `mcp`, for language models."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import webbrowser
from contextlib import suppress
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from ludodrome.cli import console
from ludodrome.cli.base import Command, CommandError, command_errors, examples
from ludodrome.games import PAGE_ORDER
from ludodrome.installation import has_display
from ludodrome.system import HOST, PORT, base_url

if TYPE_CHECKING:
    from fastapi import FastAPI

    from ludodrome.web.auth import Mode
    from ludodrome.web.owner import OwnerProof

app = typer.Typer()

EVERYWHERE = "0.0.0.0"
NEIGHBOURS = 20
"""Number of ports to try if none is given."""
PORTS = range(PORT, PORT + NEIGHBOURS)
FIRST_GAME = PAGE_ORDER[0]
ELSEWHERE = ("192.0.2.1", 9)
"""A reserved address: the local address used to reach it is ours in the local network."""

Database = Annotated[
    str | None,
    typer.Option(
        "--db",
        metavar="URL",
        show_default=False,
        help="Database: a file or postgresql://... Default: LUDODROME_DATABASE_URL, or a file in your data folder.",
    ),
]


@app.command(
    cls=Command,
    epilog=examples(
        "ludodrome serve",
        "ludodrome serve --lan",
        "ludodrome serve --hosted --host-name play.example.org --behind-proxy",
    ),
)
def serve(
    port: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=0, max=65535, show_default=False, help=f"Port. Default: {PORT}, or the next free one."
        ),
    ] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
    db: Database = None,
    lan: Annotated[bool, typer.Option("--lan", help="Let people in the local network play by link.")] = False,
    hosted: Annotated[bool, typer.Option("--hosted", help="Public server: people sign up and sign in.")] = False,
    host_name: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", show_default=False, help="Host name that the server answers to. Repeatable."),
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(
            metavar="IP", show_default=False, help=f"Address to listen on. Default: {HOST}; with --lan {EVERYWHERE}."
        ),
    ] = None,
    behind_proxy: Annotated[
        bool, typer.Option("--behind-proxy", help="With --hosted: take client addresses from the proxy's headers.")
    ] = False,
    ladder: Annotated[
        str,
        typer.Option(metavar="WHEN", help="Whether league bots play in the background: on, off or gentle."),
    ] = "gentle",
    log_format: Annotated[
        str, typer.Option(metavar="FORMAT", help="Format of the log on standard error: text or json.")
    ] = "text",
    log_level: Annotated[
        str,
        typer.Option(metavar="LEVEL", help="Least level to log: debug, info (every request), warning or error."),
    ] = "warning",
    processes: Annotated[
        int, typer.Option(metavar="N", min=1, max=64, help="Web processes that share the port and the database.")
    ] = 1,
    sandbox: Annotated[
        bool,
        typer.Option("--sandbox/--no-sandbox", help="Run uploaded bots in a sandbox, where this machine has one."),
    ] = True,
) -> None:
    """Serve the web page: play, watch, analyse, enter bots.

    Without --lan or --hosted, only this machine can connect and nobody signs in: you are the owner of the server, and
    the printed address proves it to other browsers. Ctrl-C ends the server.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _end_at_once)  # before the imports, which take a second
    mode = _mode(lan, hosted, behind_proxy)
    if processes > 1 and not hasattr(os, "fork"):
        raise CommandError("--processes needs a system on which processes can share a socket: use 1")
    if hosted and not sandbox:
        raise CommandError("--no-sandbox is for your own machine: with --hosted, uploaded bots belong to strangers")
    try:  # optional extra
        # optional extra: the server needs ludodrome[web]
        from ludodrome.arena.ladder.runner import Supervisor
        from ludodrome.arena.ladder.scheduler import LADDERS
        from ludodrome.arena.ladder.uploads import OFF, PREFERRED, REQUIRED
        from ludodrome.store.database import open_database, server_database
        from ludodrome.web.app import create_app
        from ludodrome.web.logs import LOG_FORMATS, LOG_LEVELS, set_up_logs
        from ludodrome.web.processes import WebProcesses
        from ludodrome.web.server import capacity_line
        from ludodrome.web.server import serve as run
    except ImportError as error:
        raise CommandError(
            f"`serve` needs {error.name}, which is not installed: pip install 'ludodrome[web]'"
        ) from error
    if ladder not in LADDERS:
        raise CommandError(f"--ladder is {', '.join(LADDERS)}, not {ladder}")
    chosen = next((one for one in LOG_FORMATS if one == log_format), None)
    if chosen is None:
        raise CommandError(f"--log-format is {' or '.join(LOG_FORMATS)}, not {log_format}")
    if log_level not in LOG_LEVELS:
        raise CommandError(f"--log-level is {', '.join(LOG_LEVELS)}, not {log_level}")
    set_up_logs(chosen, log_level)
    with command_errors():
        engine = open_database(server_database(db), create=True, durable=True)
    listening = _listen(address or (EVERYWHERE if lan else HOST), port)
    port_served = listening.getsockname()[1]
    policy = REQUIRED if hosted else PREFERRED if sandbox else OFF
    made = create_app(
        engine,
        mode=mode,
        host_names=host_name or (),
        behind_proxy=behind_proxy,
        warm=PAGE_ORDER,
        sandbox=policy,
    )
    if not hosted:
        _write_token(made.state.owner, port_served)
    here = _announce(made, listening, host_name or [])
    if mode != "local":
        console.say(capacity_line())
        sys.stdout.flush()
    runner = Supervisor(engine, ladder, sandbox=policy)
    runner.start()
    if browser and mode != "hosted" and has_display():
        with suppress(OSError):  # the address is printed
            page = made.state.owner.address_to_open(here, port_served)
            threading.Thread(target=_open, args=(page,), daemon=True).start()
    if processes > 1:
        WebProcesses(made, listening, processes, (chosen, log_level)).run()
    else:
        run(made, [listening])
    runner.stop()
    with suppress(OSError):
        made.state.owner.remove_files(port_served)
    sys.stdout.flush()
    os._exit(0)  # a thinking bot or a compiling kernel must not block the terminal


def _end_at_once(number: int, frame: FrameType | None) -> None:
    """Ctrl-C or SIGTERM before the server runs, or after it: nobody waits for an answer. The runner ends by itself."""
    os._exit(0)


def _mode(lan: bool, hosted: bool, behind_proxy: bool) -> Mode:
    if lan and hosted:
        raise CommandError("--lan is for the local network and --hosted for everybody: choose one")
    if behind_proxy and not hosted:
        raise CommandError("--behind-proxy needs --hosted: otherwise all clients would seem to be this machine")
    return "lan" if lan else "hosted" if hosted else "local"


def _write_token(owner: OwnerProof, port: int) -> None:
    """Write the owner's token to a file for programs of this user."""
    try:
        owner.write_file(port)
    except OSError as error:
        console.say(f"The file with your token cannot be written ({error}): give programs the token with --token.")


def _announce(made: FastAPI, listening: socket.socket, names: list[str]) -> str:
    """Print the addresses of the page; returns the one on this machine, without the owner's token."""
    host, port = listening.getsockname()[:2]
    mode = made.state.mode
    here = base_url(HOST if host == EVERYWHERE else host, port) + "/"
    token = "" if mode == "hosted" else f"?token={made.state.owner.token}"
    console.say(f"Ludodrome is at {here}{token}  (Ctrl-C ends it)")
    if mode == "lan":
        made.state.public_address = base_url(_own_address(), port)
        console.say(f"In your network: {made.state.public_address}/  Others play by the links that you send them.")
    if mode == "hosted":
        console.say(f"It answers to {', '.join(names) if names else 'this machine only: add names with --host-name'}.")
    sys.stdout.flush()
    return here


def _own_address() -> str:
    """The machine's address in the local network, or its name."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(ELSEWHERE)  # nothing is sent
            return str(probe.getsockname()[0])
        except OSError:
            return socket.gethostname()


def _listen(address: str, port: int | None) -> socket.socket:
    """A listening socket on the given port, or on the first free one."""
    tried = [port] if port is not None else PORTS
    for number in tried:
        listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((address, number))
            listening.listen()  # early clients wait until the server is ready
        except (OSError, TypeError, UnicodeError) as error:  # the last two: an invalid host name
            listening.close()
            reason = getattr(error, "strerror", None) or str(error)
        else:
            return listening
    raise CommandError(f"{address} port {tried[0]} cannot be used ({reason}); give a free one with --port N")


def _open(address: str) -> None:
    webbrowser.open(address)


MCP_PORT = 8009


@app.command(cls=Command, epilog=examples("ludodrome mcp", "ludodrome mcp --http", "ludodrome mcp --http --port 9001"))
def mcp(
    http: Annotated[bool, typer.Option("--http", help="Streamable HTTP instead of stdin and stdout.")] = False,
    port: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=0, max=65535, show_default=False, help=f"With --http: port. Default: {MCP_PORT}."
        ),
    ] = None,
) -> None:
    """Serve the games to language models over MCP.

    It speaks the Model Context Protocol on stdin and stdout, as most clients expect, or with --http at /mcp on this
    machine.
    """
    if port is not None and not http:
        raise CommandError("--port needs --http")
    try:
        from ludodrome.mcp.server import create_server  # optional extra
    except ImportError as error:
        raise CommandError(str(error)) from error
    server = create_server()
    if not http:
        with suppress(KeyboardInterrupt):
            server.run("stdio")
        return
    import uvicorn  # optional extra

    try:
        listening = socket.create_server((HOST, MCP_PORT if port is None else port))
    except OSError as error:
        taken = MCP_PORT if port is None else port
        raise CommandError(f"port {taken} cannot be used ({error.strerror}); give a free one with --port N") from error
    console.say(f"MCP is at {base_url(port=listening.getsockname()[1])}/mcp  (Ctrl-C ends it)")
    sys.stdout.flush()
    web = server.streamable_http_app(stateless_http=True, json_response=True, host=HOST)
    with suppress(KeyboardInterrupt):
        uvicorn.Server(uvicorn.Config(web, log_level="warning", server_header=False)).run(sockets=[listening])
