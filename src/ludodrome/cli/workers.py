"""Workers for matches, and the check that bots can play."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from ludodrome.cli import console
from ludodrome.cli.base import CommandError, command_errors, lazy_imports
from ludodrome.system import core_count

with lazy_imports():
    from ludodrome.arena import api
    from ludodrome.arena.matches import pool
    from ludodrome.arena.matches import workers as arena_workers

if TYPE_CHECKING:
    from ludodrome.arena.matches.workers import Workers
    from ludodrome.game import Game


WorkerCount = Annotated[
    int | None,
    typer.Option("--workers", metavar="N", min=1, max=1024, help="Games played at once. Default: one per core."),
]
ClusterAddress = Annotated[
    str | None,
    typer.Option(
        "--cluster", metavar="ADDRESS", help="Play on a Dask cluster: address of its scheduler, like tcp://host:8786."
    ),
]


@contextmanager
def start_workers(count: int | None, cluster: str | None) -> Iterator[Workers]:
    """Start workers and close them at the end."""
    if cluster is not None and count is not None:
        raise CommandError("give either --workers or --cluster: a cluster has its own workers")
    workers: Workers
    with command_errors(), console.waiting("connecting to the cluster ..."):
        workers = (
            arena_workers.LocalWorkers(count or core_count()) if cluster is None else arena_workers.Cluster(cluster)
        )
    try:
        yield workers
    except pool.ClusterLost as error:
        raise CommandError(f"{error}. Finished games are kept") from error
    finally:
        workers.close()


def check_bots(game: Game, specs: Iterable[str]) -> None:
    """Raise CommandError if a bot cannot play the game, before anything starts."""
    with command_errors():
        api.check_bots(game, specs)
