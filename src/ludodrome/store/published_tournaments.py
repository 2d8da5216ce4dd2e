"""Tournaments of the command line on the page: their games as rows of the league, where the Arena finds them.

They change no rating. Bots that the league does not know are entered as bots that do not play any more.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, delete, select
from sqlalchemy.orm import Session

from ludodrome.store.accounts import ensure_local, new_id
from ludodrome.store.announcements import LEAGUE, announce
from ludodrome.store.database import writing
from ludodrome.store.league_models import (
    BUILTIN,
    DONE,
    REMOTE,
    TOURNAMENT,
    BotRow,
    BotVersionRow,
    EventRow,
    FinishedGameRow,
    MatchRow,
    MatchSeatRow,
    PrivateLogRow,
)
from ludodrome.store.models import LOCAL, now_ms, packed

MAX_NAME = 40
"""Characters of a bot's name in the league."""


@dataclass(frozen=True, slots=True)
class PublishedGame:
    """A finished game of a tournament."""

    number: int
    """Its place in the event."""
    match: str
    names: tuple[str, ...]
    play_spec: dict[str, Any]
    counted: dict[str, Any]
    public_record: dict[str, Any]
    """The record without the bots' own words ..."""
    logs: Sequence[dict[str, Any]]
    """... and these words, by seat."""
    finished: float
    """In seconds since 1970."""


@dataclass(frozen=True, slots=True)
class PublishedTournament:
    """What is published of one game of a tournament."""

    name: str
    game: str
    plan: dict[str, Any]
    specs: dict[str, str]
    """By the names of the bots."""
    identities: dict[str, str]
    total: int
    games: Sequence[PublishedGame]

    @property
    def event_id(self) -> str:
        """The same whenever the same tournament is published again."""
        told = f"{self.name}\0{self.game}\0{self.plan['games'][0]['name']}\0{self.plan['seed']}"
        return hashlib.sha256(told.encode()).hexdigest()[:24]


def publish(engine: Engine, told: PublishedTournament) -> str:
    """Write a tournament in one transaction, replacing what was published of it before; return the event's id."""
    ensure_local(engine)
    with writing(engine) as session:
        session.execute(delete(MatchRow).where(MatchRow.id.in_([game.match for game in told.games])))
        session.execute(delete(EventRow).where(EventRow.id == told.event_id))
        bots = {name: _bot(session, told, name) for name in told.specs}
        began = min((int(game.finished * 1000) for game in told.games), default=now_ms())
        session.add(
            EventRow(
                id=told.event_id,
                game=told.game,
                why=TOURNAMENT,
                name=told.name,
                plan=told.plan,
                bots={name: bot.id for name, bot in bots.items()},
                games=told.total,
                asked_by=LOCAL,
                status=DONE,
                created=began,
                trouble="",
                pace_ms=0,
            )
        )
        session.flush()
        for game in told.games:
            _add_game(session, told, game, bots)
        announce(session, LEAGUE, told.event_id)
    return told.event_id


def _bot(session: Session, told: PublishedTournament, name: str) -> BotRow:
    """The built-in of the league with this spec, or the bot that stands for this one; it is entered if it is new."""
    spec, key = told.specs[name], f"tournament:{name.casefold()}"
    of_game = select(BotRow).where(BotRow.game == told.game)
    found = session.scalar(of_game.where(BotRow.kind == BUILTIN, BotRow.spec == spec))
    found = found or session.scalar(of_game.where(BotRow.key == key))
    if found is not None:
        return found
    bot_id, version_id, now = new_id(), new_id(), now_ms()
    bot = BotRow(
        id=bot_id,
        game=told.game,
        owner=LOCAL,
        name=name[:MAX_NAME],
        key=key,
        kind=REMOTE,
        spec=f"{REMOTE}:{bot_id}",
        token=None,
        created=now,
        retired=now,
        banned=False,
        version=version_id,
    )
    session.add(bot)
    session.flush()
    identity = told.identities.get(name, "")
    session.add(
        BotVersionRow(
            id=version_id, bot=bot_id, number=1, source="", size=0, findings=[], created=now, identity=identity
        )
    )
    session.flush()
    return bot


def _add_game(session: Session, told: PublishedTournament, game: PublishedGame, bots: dict[str, BotRow]) -> None:
    ended = int(game.finished * 1000)
    session.add(
        MatchRow(
            id=game.match,
            game=told.game,
            why=TOURNAMENT,
            event=told.event_id,
            number=game.number,
            pair=None,
            assignment=game.play_spec,
            status=DONE,
            queued=ended,
            begun=ended,
            ended=ended,
            runner=None,
            lease=None,
            tries=1,
        )
    )
    session.flush()
    for seat, name in enumerate(game.names):
        session.add(MatchSeatRow(match=game.match, seat=seat, bot=bots[name].id, version=bots[name].version))
        if any(game.logs[seat].values()):
            session.add(PrivateLogRow(match=game.match, seat=seat, content=packed(game.logs[seat])))
    session.add(
        FinishedGameRow(
            match=game.match,
            game=told.game,
            place=None,
            counted=game.counted,
            record=packed(game.public_record),
            ended=ended,
            contended=False,
        )
    )
