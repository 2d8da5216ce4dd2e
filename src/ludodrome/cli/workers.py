"""Those who play: the workers that a command was given, and whether its bots can be played at all."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ludodrome.cli import console
from ludodrome.cli.base import Refusal, refusals

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


def cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def gathered(count: int | None, cluster: str | None) -> "Iterator[Workers]":
    """The workers, for as long as they are needed."""
    from ludodrome.arena.matches.pool import ClusterLost
    from ludodrome.arena.matches.workers import Cluster, LocalWorkers

    if cluster is not None and count is not None:
        raise Refusal("either --workers of this machine or --cluster: a cluster knows its workers")
    workers: Workers
    with refusals(), console.waiting("calling the cluster ..."):
        workers = LocalWorkers(count or cores()) if cluster is None else Cluster(cluster)
    try:
        yield workers
    except ClusterLost as error:
        raise Refusal(f"{error}. What was finished is kept") from error
    finally:
        workers.close()


def check_bots(game: "Game", specs: Iterable[str]) -> None:
    """Refuses bots that cannot play the game, before anybody waits for them."""
    from ludodrome.arena.transports import BOX, COMMAND, FILE, PROGRAMS, command
    from ludodrome.bots.catalogue import KINDS, right_specs
    from ludodrome.bots.specs import LLM, read_spec
    from ludodrome.validation import show

    with refusals():
        for spec in dict.fromkeys(specs):
            kind, colon, rest = spec.partition(":")
            if colon and kind in (COMMAND, FILE):
                command(kind, rest)
            elif colon and kind == BOX:
                from ludodrome.arena import sandbox

                sandbox.box(Path(rest))
            elif colon and kind == LLM:
                from ludodrome.bots.languagemodels import endpoint

                endpoint(spec)
            elif kind in KINDS:
                read_spec(spec, game)
            else:
                raise ValueError(
                    f"there is no bot {show(kind)}; the bots of {game.id} are {right_specs(game)}; {PROGRAMS}"
                )
