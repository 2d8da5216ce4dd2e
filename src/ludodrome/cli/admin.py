"""The group `admin`: backups, ratings, accounts and their passwords, bans, the audit log."""

from __future__ import annotations

import getpass
import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ludodrome.cli import console
from ludodrome.cli.base import Command, CommandError, GameId, Group, Json, command_errors, examples
from ludodrome.cli.lazy import lazy_imports
from ludodrome.cli.serve import Database

with lazy_imports():
    from ludodrome.arena.ladder import rating_updates
    from ludodrome.store import accounts as account_store
    from ludodrome.store import audit as audit_store
    from ludodrome.store import backups, database, league_bots, models
    from ludodrome.web import auth

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from ludodrome.store.accounts import AccountInfo
    from ludodrome.store.audit import Actor


app = typer.Typer(
    cls=Group,
    name="admin",
    help="Manage the server's database and its accounts.",
    epilog=examples(
        "ludodrome admin backup monday.db",
        "ludodrome admin make-admin Ada",
        "ludodrome admin reset-password Ada",
        "ludodrome admin audit --account Mallory",
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
        audit_store.note(engine, _operator(), audit_store.BACKED_UP, file=file.name, rows=rows)
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
    with _opened(db) as engine:
        audit_store.note(engine, _operator(), audit_store.RESTORED, file=file.name, rows=rows)
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
        account_store.set_banned(engine, _find(engine, account).id, True, _operator())
    console.say(f"{account} is banned")


@app.command(cls=Command, epilog=examples("ludodrome admin unban Mallory"))
def unban(account: Name, db: Database = None) -> None:
    """Lift the ban of an account."""
    with _opened(db) as engine, command_errors():
        account_store.set_banned(engine, _find(engine, account).id, False, _operator())
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
        account_store.set_admin(engine, _find(engine, account).id, not no, _operator())
    console.say(f"{account} is {'no longer an administrator' if no else 'an administrator'}")


PASSWORD_BYTES = 12
"""Random bytes of a one-time password: 16 characters."""


@app.command(
    "reset-password",
    cls=Command,
    epilog=examples("ludodrome admin reset-password Ada", "ludodrome admin reset-password Ada --second-factor"),
)
def reset_password(
    account: Name,
    db: Database = None,
    stdin: Annotated[bool, typer.Option("--stdin", help="Read the password from stdin, one line.")] = False,
    second_factor: Annotated[
        bool, typer.Option("--second-factor", help="Turn the account's second factor off, too.")
    ] = False,
) -> None:
    """Give an account a one-time password and end its sessions.

    The password is printed once. It is valid for seven days, and signing in with it requires a new one.
    """
    with _opened(db) as engine, command_errors():
        person = _find(engine, account)
        if person.id == models.LOCAL:
            raise CommandError("the account of the person at this machine has no password")
        password = sys.stdin.readline().rstrip("\r\n") if stdin else secrets.token_urlsafe(PASSWORD_BYTES)
        account_store.set_password(engine, person.id, _hashed(password), once=True, by=_operator())
        if second_factor:
            account_store.drop_second_factor(engine, person.id, _operator())
    if not stdin:
        console.say(password)


@app.command("export-account", cls=Command, epilog=examples("ludodrome admin export-account Ada ada.json"))
def export_account(
    account: Name,
    file: Annotated[Path, typer.Argument(metavar="FILE", show_default=False, help="File to write; must not exist.")],
    db: Database = None,
) -> None:
    """Write everything that is kept about an account to a JSON file, without secrets."""
    with _opened(db) as engine, command_errors():
        person = _find(engine, account)
        audit_store.note(engine, _operator(), audit_store.EXPORTED, person.id, person.name)
        try:
            handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as error:
            raise CommandError(f"{file} cannot be written: {error.strerror}") from error
        with open(handle, "w", encoding="utf-8") as out:
            out.writelines(audit_store.export_account(engine, person.id))
    console.say(f"{file}: the data of {person.name}")


@app.command("delete-account", cls=Command, epilog=examples("ludodrome admin delete-account Mallory --yes"))
def delete_account(
    account: Name,
    db: Database = None,
    yes: Annotated[bool, typer.Option("--yes", help="Delete it; without this nothing happens.")] = False,
) -> None:
    """Delete an account: sessions, tokens, solved puzzles, sources of bots. Its games stay, without an owner."""
    with _opened(db) as engine, command_errors():
        person = _find(engine, account)
        if not yes:
            raise CommandError(f"this deletes the account {person.name} for good; say --yes to do it")
        audit_store.delete_account(engine, person.id, _operator())
    console.say(f"{person.name} is deleted")


@app.command(
    cls=Command,
    epilog=examples("ludodrome admin audit --account Ada", "ludodrome admin audit --action sign-in-failed --json"),
)
def audit(
    db: Database = None,
    account: Annotated[
        str | None, typer.Option(metavar="ACCOUNT", show_default=False, help="By or about this account.")
    ] = None,
    action: Annotated[
        str | None, typer.Option(metavar="ACTION", show_default=False, help="Of this kind, such as sign-in-failed.")
    ] = None,
    limit: Annotated[int, typer.Option(metavar="N", min=1, max=100_000, help="Number of entries.")] = 100,
    json: Json = False,
) -> None:
    """Show the audit log, latest first: who did what to which account or bot."""
    with _opened(db) as engine, command_errors():
        if action is not None and action not in audit_store.ACTIONS:
            raise CommandError(f"there is no action {action}; they are {', '.join(audit_store.ACTIONS)}")
        known = None if account is None else account_store.find_account(engine, account)
        found = audit_store.entries(engine, account if known is None else known[0].id, action, most=limit)
    if json:
        console.say(dumps([entry._asdict() | {"at": models.iso_time(entry.at)} for entry in found]))
        return
    rows = [
        (models.iso_time(one.at)[:19], one.action, one.subject, one.actor, one.address, _details(one.details))
        for one in found
    ]
    console.show_table(("at", "action", "account", "by", "from", ""), rows)


def _details(details: dict[str, object]) -> str:
    return ", ".join(f"{key} {value}" for key, value in details.items())


def _hashed(password: str) -> str:
    """The hash of a password."""
    try:
        return auth.hash_password(password)
    except ModuleNotFoundError as error:
        raise CommandError(
            f"passwords need {error.name}, which is not installed: pip install 'ludodrome[web]'"
        ) from error


def _operator() -> Actor:
    """The user of this machine who gives the command, for the audit log."""
    try:
        name = getpass.getuser()
    except (KeyError, OSError):  # a uid without a name
        name = str(os.getuid())
    return audit_store.Actor(None, f"command line ({name})")


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
    league_bots.ban(engine, found.id, banned, _operator())
    return found.name
