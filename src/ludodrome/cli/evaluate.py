"""Evaluation of language models: `evaluate`."""

from __future__ import annotations

from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ludodrome.cli import console
from ludodrome.cli.base import (
    INTERRUPTED,
    Command,
    CommandError,
    Json,
    check_bots,
    command_errors,
    examples,
    open_game,
)
from ludodrome.cli.lazy import lazy_imports
from ludodrome.games import GAMES

with lazy_imports():
    from ludodrome.arena import model_evaluation

if TYPE_CHECKING:
    from ludodrome.arena.model_evaluation import ModelTrial
    from ludodrome.game import Game

app = typer.Typer()

CONDITIONS = {"shown": (True,), "hidden": (False,), "both": (True, False)}
WORKERS = 4
STRENGTH = ("game", "opponent", "legal moves", "games", "won", "drawn", "lost", "share", "95 %", "forfeits", "unrated")
ANSWERS = (
    "game",
    "opponent",
    "legal moves",
    "asked",
    "moves",
    "refused",
    "no move",
    "declined",
    "timeouts",
    "endpoint errors",
    "tokens in",
    "tokens out",
    "s an answer",
)


@app.command(
    cls=Command,
    epilog=examples(
        "ludodrome evaluate llm:http://localhost:8000/v1,model=NAME --games 20",
        "ludodrome evaluate llm:http://host/v1,model=NAME --game dots:rows=3,cols=3",
        "ludodrome evaluate llm:https://host/v1,model=NAME,key=MY_KEY --record games",
    ),
)
def evaluate(
    model: Annotated[str, typer.Argument(metavar="MODEL", show_default=False, help="Model, like llm:URL,model=NAME.")],
    game: Annotated[
        list[str] | None,
        typer.Option(
            "--game",
            metavar="GAME",
            show_default=False,
            help="Game, like dots or dots:rows=3,cols=3. Repeatable. Default: all games.",
        ),
    ] = None,
    against: Annotated[
        list[str] | None,
        typer.Option(
            "--against", metavar="BOT", show_default=False, help="Opponent. Repeatable. Default: random and greedy."
        ),
    ] = None,
    legal_moves: Annotated[
        str,
        typer.Option(
            "--legal-moves", metavar="WHICH", help="Whether the model sees the legal moves: shown, hidden or both."
        ),
    ] = "shown",
    games: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            show_default=False,
            help="Games against each opponent. Default: 10, rounded up to whole rounds.",
        ),
    ] = None,
    openings: Annotated[
        str, typer.Option(metavar="WHICH", help="Openings, as in `match`: drawn, none, or a file.")
    ] = "drawn",
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Random seed of openings and bots.")] = 0,
    workers: Annotated[int, typer.Option(metavar="N", min=1, max=256, help="Games played at once.")] = WORKERS,
    record: Annotated[
        Path | None,
        typer.Option(
            "--record", metavar="DIR", help="Save records here, and do not replay games already recorded here."
        ),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(metavar="P", help="After a bad answer: forfeit, substitute or retry:N. Default: the game's own."),
    ] = None,
    clock: Annotated[str, typer.Option("--clock", metavar="C", help="Time per move, like 60s, or none.")] = "60s",
    json: Json = False,
) -> None:
    """Evaluate a language model: its strength and its answers.

    Strength counts the games decided by play. Losses through illegal, missing or late answers are listed apart.
    Prompts, answers, tokens and times are in the records.
    """
    chosen = [_game(text) for text in game or _all_games()]
    opponents = against or ["random", "greedy"]
    if legal_moves not in CONDITIONS:
        raise CommandError(f"--legal-moves is shown, hidden or both, not {legal_moves!r}")
    for one in chosen:
        check_bots(one, [model, *opponents])
    with command_errors():
        plan = model_evaluation.trials(model, chosen, opponents, CONDITIONS[legal_moves], games, policy, clock, seed)
    whole = _play(plan, chosen, workers, openings, record, json)
    if json:
        console.say(dumps({"model": model, "trials": [trial.to_json() for trial in plan if trial.everything.games]}))
    else:
        _show(model, plan)
    if not whole:
        raise typer.Exit(INTERRUPTED)


def _all_games() -> list[str]:
    return sorted(GAMES)


def _game(text: str) -> Game:
    """``dots`` or ``dots:rows=3,cols=3``."""
    name, _, options = text.partition(":")
    return open_game(name, options.split(",") if options else None)


def _play(
    plan: list[ModelTrial], games: list[Game], workers: int, openings: str, folder: Path | None, quiet: bool
) -> bool:
    """Play all trials with a line of progress. Returns whether they were finished, not interrupted."""
    total = sum(trial.match.games for trial in plan)
    by_options = {(game.id, str(game.options)): game for game in games}
    which = {"drawn": True, "none": False}.get(openings, openings)
    try:
        with (
            command_errors(),
            console.game_progress(lambda: _done(plan), lambda: total, lambda: _standing(plan), quiet=quiet) as show,
        ):
            for trial in plan:
                on = trial.match.settings
                model_evaluation.evaluate(trial, by_options[on.game, str(on.options)], workers, which, folder, show)
    except KeyboardInterrupt:
        return False
    return True


def _done(plan: list[ModelTrial]) -> int:
    return sum(trial.everything.games for trial in plan)


def _standing(plan: list[ModelTrial]) -> str:
    lines = [trial.strength.lines[trial.match.names[0]] for trial in plan]
    asked = sum(trial.answers.asked for trial in plan)
    moves = sum(trial.answers.outcomes["move"] for trial in plan)
    return f"{sum(line.points for line in lines):g} points by play, {moves} moves in {asked} answers"


def _show(model: str, plan: list[ModelTrial]) -> None:
    console.say(f"{model}\n\nStrength, by the games decided by play:\n")
    console.show_table(STRENGTH, (_strength(trial) for trial in plan), numbers=STRENGTH[3:])
    console.say("\nAnswers:\n")
    console.show_table(ANSWERS, (_answers(trial) for trial in plan), numbers=ANSWERS[3:])


def _head(trial: ModelTrial) -> list[str]:
    on = trial.match.settings
    options = ",".join(f"{name}={value}" for name, value in on.options.items())
    return [f"{on.game} {options}", trial.opponent, "shown" if trial.legal_moves else "hidden"]


def _strength(trial: ModelTrial) -> list[str]:
    name = trial.match.names[0]
    line, decided = trial.strength.lines[name], trial.everything.decided_by
    share = trial.strength.share(name) if line.results else None
    return [
        *_head(trial),
        str(len(line.results)),
        *map(str, (line.wins, line.draws, line.losses)),
        f"{share.share:.1%}" if share else "",
        f"{share.low:.1%} to {share.high:.1%}" if share else "",
        str(decided["forfeit"]),
        str(trial.everything.unrated),
    ]


def _answers(trial: ModelTrial) -> list[str]:
    data = trial.answers.to_json()
    asked = data["asked"]
    numbers = ("asked", "moves", "refusals", "parse_failures", "declined", "timeouts", "endpoint_errors")
    return [
        *_head(trial),
        *(str(data[name]) for name in numbers),
        *(f"{data[name]:,}" for name in ("prompt_tokens", "completion_tokens")),
        f"{data['ms'] / asked / 1000:.2f}" if asked else "",
    ]
