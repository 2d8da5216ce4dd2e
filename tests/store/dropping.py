"""A match that is dropped, as a runner drops one that was tried too often."""

from sqlalchemy import Engine, delete, update
from sqlalchemy.orm import Session

from ludodrome.store.league_models import DROPPED, PLAYING, QUEUED, LiveMatchRow, MatchRow
from ludodrome.store.models import now_ms


def drop(engine: Engine, match_id: str) -> None:
    """End a match that is not over."""
    with Session(engine) as session:
        open_ = MatchRow.id == match_id, MatchRow.status.in_((QUEUED, PLAYING))
        session.execute(update(MatchRow).where(*open_).values(status=DROPPED, ended=now_ms()))
        session.execute(delete(LiveMatchRow).where(LiveMatchRow.match == match_id))
        session.commit()
