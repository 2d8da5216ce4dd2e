"""The server's database, looked after: `admin backup`, `restore`, `recompute`, `accounts`, `ban`, `make-admin`."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ludodrome.cli import console
from ludodrome.cli.base import Command, Group, Refusal, examples, refusals
from ludodrome.cli.serve import Database

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from ludodrome.store.accounts import AccountInfo


app = typer.Typer(
    cls=Group,
    name="admin",
    help="Look after the server's database: back it up, restore it, recompute ratings, ban accounts.",
    epilog=examples(
        "ludodrome admin backup monday.db", "ludodrome admin make-admin Ada", "ludodrome admin ban Mallory"
    ),
)

Name = Annotated[str, typer.Argument(metavar="ACCOUNT", show_default=False, help="The account's name.")]


@app.command(cls=Command, epilog=examples("ludodrome admin backup monday.db"))
def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", show_default=False, help="A new file.")],
    db: Database = None,
) -> None:
    """Write the whole database into a file. The server may go on meanwhile.

    Of SQLite the file is a database of its own, of PostgreSQL it has lines of JSON; `restore` reads both.
    """
    from ludodrome.store.backups import back_up

    with _opened(db) as engine, refusals(), console.waiting("writing ..."):
        rows = back_up(engine, file)
    console.say(f"{file}: {rows:,} rows")


@app.command(
    cls=Command, epilog=examples("ludodrome admin restore monday.db --db postgresql://ludodrome@/ludodrome --replace")
)
def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", show_default=False, help="What `backup` wrote.")],
    db: Database = None,
    replace: Annotated[bool, typer.Option("--replace", help="Lose what is in the database now.")] = False,
) -> None:
    """Bring a backup back, all or nothing. End the server first."""
    from ludodrome.store.backups import restore as bring_back
    from ludodrome.store.database import server_database

    with refusals(), console.waiting("reading ..."):
        rows = bring_back(file, server_database(db), replace=replace)
    console.say(f"{rows:,} rows are back")


@app.command(cls=Command, epilog=examples("ludodrome admin recompute"))
def recompute(db: Database = None) -> None:
    """Make all ratings of the league anew from the records of its games."""
    from ludodrome.arena.ladder.rating_updates import recompute as make_anew

    with _opened(db) as engine, refusals(), console.waiting("counting ..."):
        report = make_anew(engine)
    console.say(str(report))


@app.command(cls=Command, epilog=examples("ludodrome admin accounts"))
def accounts(db: Database = None) -> None:
    """List the accounts."""
    from ludodrome.store.accounts import accounts as everybody

    with _opened(db) as engine:
        rows = [(one.name, _word(one), one.made[:10], one.id) for one in everybody(engine)]
    console.show_table(("name", "", "since", "id"), rows)


@app.command(cls=Command, epilog=examples("ludodrome admin ban Mallory"))
def ban(account: Name, db: Database = None) -> None:
    """Shut an account out: its sessions end, its tokens and bots rest."""
    from ludodrome.store.accounts import set_banned

    with _opened(db) as engine, refusals():
        set_banned(engine, _find(engine, account).id, True)
    console.say(f"{account} is shut out")


@app.command(cls=Command, epilog=examples("ludodrome admin unban Mallory"))
def unban(account: Name, db: Database = None) -> None:
    """Let an account in again."""
    from ludodrome.store.accounts import set_banned

    with _opened(db) as engine, refusals():
        set_banned(engine, _find(engine, account).id, False)
    console.say(f"{account} may come in again")


@app.command(
    "make-admin", cls=Command, epilog=examples("ludodrome admin make-admin Ada", "ludodrome admin make-admin Ada --no")
)
def make_admin(
    account: Name,
    db: Database = None,
    no: Annotated[bool, typer.Option("--no", help="Take it back.")] = False,
) -> None:
    """Make an account an administrator."""
    from ludodrome.store.accounts import set_admin

    with _opened(db) as engine, refusals():
        set_admin(engine, _find(engine, account).id, not no)
    console.say(f"{account} is {'no administrator any more' if no else 'an administrator'}")


@contextmanager
def _opened(db: str | None) -> Iterator["Engine"]:
    """The server's database, which must be there."""
    from ludodrome.store.database import open_database, server_database

    with refusals():
        engine = open_database(server_database(db), durable=True)
    try:
        yield engine
    finally:
        engine.dispose()


def _word(person: "AccountInfo") -> str:
    return ", ".join(word for word, holds in (("admin", person.admin), ("banned", person.banned)) if holds)


def _find(engine: "Engine", name: str) -> "AccountInfo":
    from ludodrome.store.accounts import find_account

    found = find_account(engine, name)
    if found is None:
        raise Refusal(f"there is no account {name}; `ludodrome admin accounts` lists them")
    return found[0]
