"""The command group ``spaces``: the laboratory of the game of that name. Each module holds related commands."""

import typer

from ludodrome.cli.base import Group, examples
from ludodrome.cli.spaces import boards, rounds, scores, sessions, solving, testing

app = typer.Typer(
    cls=Group,
    name="spaces",
    help="Build, count, sample, simulate and solve boards of spaces.",
    epilog=examples(
        "ludodrome spaces count 4 --rules live",
        "ludodrome spaces sample 5 3 --rules live --seed 1",
        "ludodrome spaces simulate 3:1:uuf 3:0:u6uf",
        "ludodrome spaces build 4",
    ),
)
for group in (boards.app, rounds.app, solving.app, scores.app, testing.app, sessions.app):
    app.add_typer(group)
