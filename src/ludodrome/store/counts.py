"""Numbers about a whole database, for those who watch over a server."""

from sqlalchemy import Engine, func, select, text
from sqlalchemy.exc import DatabaseError
from sqlalchemy.orm import Session

from ludodrome.store.account_models import AccountRow
from ludodrome.store.league_models import LadderRow, LiveMatchRow


def is_reachable(engine: Engine) -> bool:
    """Whether the database answers."""
    try:
        with engine.connect() as connection:
            connection.execute(text("SELECT 1"))
    except DatabaseError:
        return False
    return True


def matches_playing(engine: Engine) -> int:
    """Matches of the league that are being played."""
    with Session(engine) as session:
        return session.scalar(select(func.count()).select_from(LiveMatchRow)) or 0


def rated_games(engine: Engine) -> int:
    """Games of the league that have counted."""
    with Session(engine) as session:
        return session.scalar(select(func.sum(LadderRow.games))) or 0


def accounts_made(engine: Engine) -> int:
    """Accounts, the house's own among them."""
    with Session(engine) as session:
        return session.scalar(select(func.count()).select_from(AccountRow)) or 0
