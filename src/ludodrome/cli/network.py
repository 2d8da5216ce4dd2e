"""Learned evaluations: `network self-play`, `network train`, `network gate`."""

from __future__ import annotations

from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ludodrome.cli import console
from ludodrome.cli.base import (
    DONE,
    NO,
    UNDECIDED,
    Command,
    GameId,
    Group,
    Json,
    Options,
    command_errors,
    examples,
    open_game,
)
from ludodrome.cli.lazy import lazy_imports

with lazy_imports():
    from ludodrome.arena.statistics import scores
    from ludodrome.bots import networks
    from ludodrome.nnue import gating, samples, training

if TYPE_CHECKING:
    from ludodrome.game import Game
    from ludodrome.search.network import NetworkWeights

app = typer.Typer(
    cls=Group,
    name="network",
    help="Make a learned evaluation: self-play, training and gating.",
    epilog=examples(
        "ludodrome network self-play santorini samples --samples 2000000",
        "ludodrome network train santorini samples --to network.npz",
        "ludodrome network gate santorini network.npz",
    ),
)

NetworkChoice = Annotated[
    str, typer.Option("--network", metavar="WHICH", help="Evaluation that plays: none, game, or a file.")
]


@app.command(
    "self-play",
    cls=Command,
    epilog=examples(
        "ludodrome network self-play santorini samples --samples 2000000",
        "ludodrome network self-play santorini second --network network.npz --workers 2",
    ),
)
def self_play(
    game: GameId,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder of the samples; a stopped run goes on.")],
    option: Options = None,
    count: Annotated[int, typer.Option("--samples", metavar="N", min=1, help="Number of samples.")] = 2_000_000,
    nodes: Annotated[int, typer.Option(metavar="N", min=1, help="Nodes per move.")] = 500,
    opening: Annotated[str, typer.Option(metavar="LOW-HIGH", help="Random moves at the start of a game.")] = "2-12",
    random_moves: Annotated[
        int, typer.Option(metavar="N", min=0, max=1000, help="Random moves among a thousand later ones.")
    ] = 50,
    network: NetworkChoice = "none",
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Random seed.")] = 0,
    workers: Annotated[int, typer.Option(metavar="N", min=1, help="Processes.")] = 1,
) -> None:
    """Let the search play against itself and keep quiet positions with scores and results."""
    made = open_game(game, option)
    with command_errors(), console.bar("samples") as bar:
        low, high = _range(opening)
        settings = samples.SampleSettings(game, made.options, network, nodes, low, high, random_moves, seed)
        total = 0
        for total in samples.generate(folder, settings, count, workers):
            bar(min(total, count), count)
    console.say(f"{folder}: {total:,} samples")


@app.command(
    cls=Command,
    epilog=examples("ludodrome network train santorini samples --to network.npz --filters 64 --epochs 20"),
)
def train(
    game: GameId,
    folders: Annotated[list[Path], typer.Argument(metavar="FOLDER", help="Folders of samples.")],
    to: Annotated[Path, typer.Option("--to", metavar="FILE", help="File of the network.")],
    option: Options = None,
    filters: Annotated[int, typer.Option(metavar="N", min=1, max=256, help="Filters of the hidden layer.")] = 64,
    epochs: Annotated[int, typer.Option(metavar="N", min=1, help="Passes over the samples.")] = 12,
    result_share: Annotated[
        float, typer.Option(metavar="X", min=0, max=1, help="Weight of results in the target; the rest: scores.")
    ] = 0.5,
    scale: Annotated[
        int, typer.Option(metavar="N", min=1, max=1000, help="Hundredths of a value for one unit of log-odds.")
    ] = 125,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Random seed.")] = 0,
    threads: Annotated[int, typer.Option(metavar="N", min=1, help="Threads.")] = 1,
    json: Json = False,
) -> None:
    """Train a network on samples and write it as integers. Needs PyTorch (`pip install torch`).

    Samples of another game count if its positions have the same features.
    """
    made = open_game(game, option)
    with command_errors():
        settings = training.TrainingSettings(filters, epochs, result_share=result_share, scale=scale, seed=seed)
        model = training.new_model(made, settings)
        data = training.read_training_set(made, folders, settings)
        if not json:
            console.say(f"{len(data.targets):,} samples")
        for progress in training.train(data, settings, model, threads):
            text = f"epoch {progress.epoch}: loss {progress.loss:.5f}, validation {progress.validation:.5f}"
            console.say(dumps(progress._asdict()) if json else text)
        training.save(training.quantise(model, made, scale), to)
    if not json:
        console.say(f"{to}: {to.stat().st_size:,} bytes")


@app.command(
    cls=Command,
    epilog=examples(
        "ludodrome network gate santorini network.npz",
        "ludodrome network gate santorini second.npz --against network.npz --nodes 5000",
    ),
)
def gate(
    game: GameId,
    network: Annotated[Path, typer.Argument(metavar="NETWORK", help="File of the new network.")],
    against: Annotated[
        str, typer.Option(metavar="WHICH", help="Opponent: none (the evaluator), game, or a file.")
    ] = "none",
    option: Options = None,
    nodes: Annotated[int, typer.Option(metavar="N", min=1, help="Nodes per move.")] = 20_000,
    elo0: Annotated[float, typer.Option(metavar="ELO", help="Fail if it is at most this much stronger.")] = 0.0,
    elo1: Annotated[float, typer.Option(metavar="ELO", help="Pass if it is at least this much stronger.")] = 30.0,
    pairs: Annotated[int, typer.Option(metavar="N", min=1, help="Maximum pairs of games.")] = 1000,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Random seed.")] = 0,
) -> None:
    """Test whether a network plays better than another, or than the evaluator.

    The exit code is 1 if it does not, and 3 if the pairs do not decide it.
    """
    made = open_game(game, option)
    with command_errors():
        new, old = networks.network_weights(made, str(network)), networks.network_weights(made, against)
        verdict = _gate(made, new, old, gating.GateSettings(nodes, elo0, elo1, pairs, seed))
    stronger = verdict == "H1"
    raise typer.Exit(UNDECIDED if verdict is None else DONE if stronger else NO)


def _gate(
    game: Game, new: NetworkWeights | None, old: NetworkWeights | None, settings: gating.GateSettings
) -> str | None:
    assert new is not None
    state = None
    with console.bar("pairs") as bar:
        for state in gating.gate(game, new, old, settings):
            bar(sum(state.pairs), settings.max_pairs)
    assert state is not None
    share = sum(value * count for value, count in zip(scores.PAIR_VALUES, state.pairs, strict=True)) / sum(state.pairs)
    console.say(
        f"{2 * sum(state.pairs)} games, {share:.1%} of the points, pairs {list(state.pairs)}, "
        f"LLR {state.llr:.2f} in ({state.lower:.2f}, {state.upper:.2f}): {state.verdict or 'no verdict'}"
    )
    return state.verdict


def _range(text: str) -> tuple[int, int]:
    """Read LOW-HIGH."""
    low, dash, high = text.partition("-")
    if not (dash and low.isdecimal() and high.isdecimal() and int(low) <= int(high) <= 100):
        raise ValueError(f"--opening is two whole numbers up to 100 like 2-12, not {text}")
    return int(low), int(high)
