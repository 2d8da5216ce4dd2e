"""The sandbox: `sandbox`."""

from __future__ import annotations

from collections import Counter
from json import dumps
from typing import TYPE_CHECKING, Annotated

import typer

from ludodrome.cli import console
from ludodrome.cli.base import NO, Command, Json, examples
from ludodrome.cli.lazy import lazy_imports

with lazy_imports():
    from ludodrome.arena import sandbox as arena_sandbox
    from ludodrome.arena.sandbox import attacks

if TYPE_CHECKING:
    from ludodrome.arena.sandbox import SandboxLevel

app = typer.Typer()


@app.command(cls=Command, epilog=examples("ludodrome sandbox", "ludodrome sandbox --again --json"))
def sandbox(
    again: Annotated[
        bool, typer.Option("--again", help="Try everything anew, also if it was tried in the last hours.")
    ] = False,
    json: Json = False,
) -> None:
    """Say how bots that strangers wrote are run here, and what was tried against it.

    Levels are tried with real attacks, the best first; the first that holds them all off is in force. Exit code 1
    says that none does: then no such bot is run.
    """
    with console.waiting("attacking ..."):
        found = arena_sandbox.level(anew=again)
    if json:
        console.say(dumps(found.to_json()))
    else:
        _show(found)
    if not found.holds:
        raise typer.Exit(NO)


def _show(found: SandboxLevel) -> None:
    console.say(found.sentence)
    if not found.holds:
        return
    for why in found.why_not_better:
        console.say(f"A better level does not hold. {why}.")
    words = {attack.name: attack.words for attack in attacks.ATTACKS}
    console.say("")
    rows = [(one["name"], one["verdict"], words.get(one["name"], "")) for one in found.tried]
    console.show_table(("attack", "came to", "what it does"), rows)
    counts = Counter(one["verdict"] for one in found.tried)
    console.say(f"\n{counts['held']} of {len(found.tried)} attacks were held off.")
