"""The group `admin`: back up, restore, recompute, list accounts, ban accounts and bots."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ludodrome.cli import console
from ludodrome.cli.base import Command, CommandError, GameId, Group, command_errors, examples
from ludodrome.cli.lazy import lazy_imports
from ludodrome.cli.serve import Database

with lazy_imports():
    from ludodrome.arena.ladder import rating_updates
    from ludodrome.store import accounts as account_store
    from ludodrome.store import backups, database, league_bots, models

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from ludodrome.store.accounts import AccountInfo


app = typer.Typer(
    cls=Group,
    name="admin",
    help="Manage the server's database and its accounts.",
    epilog=examples(
        "ludodrome admin backup monday.db", "ludodrome admin make-admin Ada", "ludodrome admin ban Mallory"
    ),
)

Name = Annotated[str, typer.Argument(metavar="ACCOUNT", show_default=False, help="Name of the account.")]
BotName = Annotated[str, typer.Argument(metavar="BOT", show_default=False, help="The bot's name in the league.")]


@app.command(cls=Command, epilog=examples("ludodrome admin backup monday.db"))
def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", show_default=False, help="File to write; must not exist.")],
    db: Database = None,
) -> None:
    """Back up the database to a file. The server may keep running.

    A backup of SQLite is a SQLite database; one of PostgreSQL has lines of JSON. `restore` reads both.
    """
    with _opened(db) as engine, command_errors(), console.waiting("writing ..."):
        rows = backups.back_up(engine, file)
    console.say(f"{file}: {rows:,} rows")


@app.command(
    cls=Command, epilog=examples("ludodrome admin restore monday.db --db postgresql://ludodrome@/ludodrome --replace")
)
def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", show_default=False, help="File written by `backup`.")],
    db: Database = None,
    replace: Annotated[bool, typer.Option("--replace", help="Delete the present contents of the database.")] = False,
) -> None:
    """Restore a backup, all or nothing. Stop the server first."""
    with command_errors(), console.waiting("reading ..."):
        rows = backups.restore(file, database.server_database(db), replace=replace)
    console.say(f"{rows:,} rows restored")


@app.command(cls=Command, epilog=examples("ludodrome admin recompute", "ludodrome admin recompute --without-contended"))
def recompute(
    db: Database = None,
    without_contended: Annotated[
        bool,
        typer.Option(
            "--without-contended", help="Leave out games during which other work kept the machine's processors busy."
        ),
    ] = False,
) -> None:
    """Recompute all ratings of the league from the records of its games."""
    with _opened(db) as engine, command_errors(), console.waiting("computing ..."):
        report = rating_updates.recompute(engine, without_contended)
    console.say(str(report))


@app.command(cls=Command, epilog=examples("ludodrome admin accounts"))
def accounts(db: Database = None) -> None:
    """List the accounts."""
    with _opened(db) as engine:
        rows = [
            (one.name, _word(one), models.iso_time(one.made)[:10], one.id) for one in account_store.accounts(engine)
        ]
    console.show_table(("name", "", "since", "id"), rows)


@app.command(cls=Command, epilog=examples("ludodrome admin ban Mallory"))
def ban(account: Name, db: Database = None) -> None:
    """Ban an account: its sessions end, its tokens and bots are suspended."""
    with _opened(db) as engine, command_errors():
        account_store.set_banned(engine, _find(engine, account).id, True)
    console.say(f"{account} is banned")


@app.command(cls=Command, epilog=examples("ludodrome admin unban Mallory"))
def unban(account: Name, db: Database = None) -> None:
    """Lift the ban of an account."""
    with _opened(db) as engine, command_errors():
        account_store.set_banned(engine, _find(engine, account).id, False)
    console.say(f"{account} is no longer banned")


@app.command("ban-bot", cls=Command, epilog=examples("ludodrome admin ban-bot GAME Mallory"))
def ban_bot(game: GameId, bot: BotName, db: Database = None) -> None:
    """Ban a bot from the league: it plays no more matches and leaves the tables. Its games stay."""
    with _opened(db) as engine:
        name = _ban_bot(engine, game, bot, True)
    console.say(f"{name} is banned")


@app.command("unban-bot", cls=Command, epilog=examples("ludodrome admin unban-bot GAME Mallory"))
def unban_bot(game: GameId, bot: BotName, db: Database = None) -> None:
    """Lift the ban of a bot."""
    with _opened(db) as engine:
        name = _ban_bot(engine, game, bot, False)
    console.say(f"{name} may play again")


@app.command(
    "make-admin", cls=Command, epilog=examples("ludodrome admin make-admin Ada", "ludodrome admin make-admin Ada --no")
)
def make_admin(
    account: Name,
    db: Database = None,
    no: Annotated[bool, typer.Option("--no", help="Revoke the right.")] = False,
) -> None:
    """Make an account an administrator."""
    with _opened(db) as engine, command_errors():
        account_store.set_admin(engine, _find(engine, account).id, not no)
    console.say(f"{account} is {'no longer an administrator' if no else 'an administrator'}")


@contextmanager
def _opened(db: str | None) -> Iterator[Engine]:
    """Open the server's database, which must exist."""
    with command_errors():
        engine = database.open_database(database.server_database(db), durable=True)
    try:
        yield engine
    finally:
        engine.dispose()


def _word(person: AccountInfo) -> str:
    return ", ".join(word for word, holds in (("admin", person.admin), ("banned", person.banned)) if holds)


def _find(engine: Engine, name: str) -> AccountInfo:
    found = account_store.find_account(engine, name)
    if found is None:
        raise CommandError(f"there is no account {name}; see `ludodrome admin accounts`")
    return found[0]


def _ban_bot(engine: Engine, game: str, name: str, banned: bool) -> str:
    """Ban a bot or lift its ban; its name as the league shows it."""
    found = league_bots.find_named_bot(engine, game, name)
    if found is None:
        raise CommandError(f"there is no bot {name} in the league of {game}")
    league_bots.ban(engine, found.id, banned)
    return found.name
