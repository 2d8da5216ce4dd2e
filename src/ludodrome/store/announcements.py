"""Announcements: changes that web processes on one database tell each other.

PostgreSQL delivers them itself, by NOTIFY at the commit. SQLite keeps them in a table that every process reads.
"""

from sqlalchemy import delete, text
from sqlalchemy.orm import Session

from ludodrome.store.models import AnnouncementRow, now_ms

CHANNEL = "ludodrome"
PLAY, ACCOUNT, BOT, TOKEN, LEAGUE = "play", "account", "bot", "token", "league"
"""Topics: a play has new events; the sessions of an account, the connections of a bot or the holders of a token must
prove themselves again; a match of the league has changed."""
KEEP_MS = 60_000
"""How long SQLite keeps an announcement."""


def announce(session: Session, topic: str, subject: str) -> None:
    """Announce a change when the transaction of ``session`` commits."""
    if session.get_bind().dialect.name == "postgresql":
        session.execute(
            text("SELECT pg_notify(:channel, :message)"), {"channel": CHANNEL, "message": f"{topic} {subject}"}
        )
        return
    session.execute(delete(AnnouncementRow).where(AnnouncementRow.at < now_ms() - KEEP_MS))
    session.add(AnnouncementRow(topic=topic, subject=subject, at=now_ms()))
