"""Those who play: the workers that a command was given, and whether its bots can be played at all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ludodrome.bots.catalogue import KINDS, right_specs
from ludodrome.bots.specs import LLM, read_spec
from ludodrome.cli import console
from ludodrome.cli.base import CommandError, command_errors
from ludodrome.cli.lazy import lazy_imports
from ludodrome.system import core_count
from ludodrome.validation import show

with lazy_imports():
    from ludodrome import arena
    from ludodrome.arena import transports
    from ludodrome.arena.matches import pool
    from ludodrome.arena.matches import workers as arena_workers
    from ludodrome.bots import languagemodels

if TYPE_CHECKING:
    from ludodrome.arena.matches.workers import Workers
    from ludodrome.game import Game


WorkerCount = Annotated[
    int | None,
    typer.Option(
        "--workers", metavar="N", min=1, max=1024, help="Games at once; one for each core, if nothing is said."
    ),
]
ClusterAddress = Annotated[
    str | None,
    typer.Option("--cluster", metavar="ADDRESS", help="Play on a Dask cluster: its scheduler, like tcp://host:8786."),
]


@contextmanager
def gathered(count: int | None, cluster: str | None) -> Iterator[Workers]:
    """The workers, for as long as they are needed."""
    if cluster is not None and count is not None:
        raise CommandError("either --workers of this machine or --cluster: a cluster knows its workers")
    workers: Workers
    with command_errors(), console.waiting("calling the cluster ..."):
        workers = (
            arena_workers.LocalWorkers(count or core_count()) if cluster is None else arena_workers.Cluster(cluster)
        )
    try:
        yield workers
    except pool.ClusterLost as error:
        raise CommandError(f"{error}. What was finished is kept") from error
    finally:
        workers.close()


def check_bots(game: Game, specs: Iterable[str]) -> None:
    """Refuses bots that cannot play the game, before anybody waits for them."""
    with command_errors():
        for spec in dict.fromkeys(specs):
            kind, colon, rest = spec.partition(":")
            if colon and kind in (transports.COMMAND, transports.FILE):
                transports.command(kind, rest)
            elif colon and kind == transports.BOX:
                arena.sandbox.box(Path(rest))
            elif colon and kind == LLM:
                languagemodels.endpoint(spec)
            elif kind in KINDS:
                read_spec(spec, game)
            else:
                raise ValueError(
                    f"there is no bot {show(kind)}; the bots of {game.id} are {right_specs(game)}; {transports.PROGRAMS}"
                )
