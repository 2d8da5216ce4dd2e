"""The command ``mcp``: a server by which language models play."""

from __future__ import annotations

import socket
import sys
from contextlib import suppress
from typing import Annotated

import typer

from ludodrome.cli import console
from ludodrome.cli.base import Command, CommandError, examples

app = typer.Typer()

HOST = "127.0.0.1"
PORT = 8009


@app.command(cls=Command, epilog=examples("ludodrome mcp", "ludodrome mcp --http", "ludodrome mcp --http --port 9001"))
def mcp(
    http: Annotated[bool, typer.Option("--http", help="Streamable HTTP instead of standard input and output.")] = False,
    port: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, max=65535, show_default=False, help=f"With --http: the port; else {PORT}."),
    ] = None,
) -> None:
    """Serve the games to language models by the Model Context Protocol.

    By standard input and output, as most clients start it, or with --http on this machine alone, at /mcp.
    """
    if port is not None and not http:
        raise CommandError("--port goes with --http")
    try:
        from ludodrome.mcp.server import create_server
    except ImportError as error:
        raise CommandError(str(error)) from error
    server = create_server()
    if not http:
        with suppress(KeyboardInterrupt):
            server.run("stdio")
        return
    import uvicorn

    try:
        listening = socket.create_server((HOST, PORT if port is None else port))
    except OSError as error:
        taken = PORT if port is None else port
        raise CommandError(f"port {taken} cannot be used ({error.strerror}); name a free one with --port N") from error
    console.say(f"MCP is at http://{HOST}:{listening.getsockname()[1]}/mcp  (Ctrl-C ends it)")
    sys.stdout.flush()
    web = server.streamable_http_app(stateless_http=True, json_response=True, host=HOST)
    with suppress(KeyboardInterrupt):
        uvicorn.Server(uvicorn.Config(web, log_level="warning", server_header=False)).run(sockets=[listening])
