"""Rating updates: a finished game and its effects are one transaction, and count once.

The ratings are computed in ``arena/ladder/rating_updates.py``; this module reads and writes them.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from sqlalchemy import Engine, delete, insert, select, update
from sqlalchemy.orm import Session

from ludodrome.store.announcements import LEAGUE, announce
from ludodrome.store.league_bots import row_count
from ludodrome.store.league_models import (
    DONE,
    LADDER,
    PLAYING,
    QUEUED,
    BotRow,
    FinishedGameRow,
    HeadToHeadRow,
    LadderRow,
    LiveMatchRow,
    MatchRow,
    MatchSeatRow,
    PrivateLogRow,
    RatingRow,
    RatingStepRow,
)
from ludodrome.store.models import now_ms, packed


class LadderScore(NamedTuple):
    """A bot's rating, and the counts behind it."""

    mu: float
    sigma: float
    games: int
    wins: int
    draws: int
    losses: int
    verdicts: dict[str, int]


class RatedGame(NamedTuple):
    """A rated game: its place in the order, its bots by seat, its result."""

    place: int
    bots: tuple[str, ...]
    counted: dict[str, Any]


Meetings = dict[tuple[str, str], tuple[int, int, int]]
"""Wins, draws and losses of the first bot, by the bots of the two seats."""


class RatingBook(Protocol):
    """The ratings of one ladder, read and written game by game."""

    def score(self, bot: str) -> LadderScore | None:
        """The score of a bot; None if it has no rated games."""

    def write(self, bot: str, score: LadderScore) -> None:
        """Set the score of a bot."""

    def step(self, bot: str, place: int, mu: float, sigma: float) -> None:
        """Add a point to a bot's history; a later one of the same place replaces it."""

    def meetings(self) -> Meetings:
        """The results of all games so far."""

    def meet(self, first: str, second: str, result: int) -> None:
        """Count a game of two bots: 0 the first won, 1 a draw, 2 the second won."""


class StoredBook:
    """The ratings in the database, inside a transaction."""

    def __init__(self, session: Session, game: str) -> None:
        self._session, self._game = session, game

    def score(self, bot: str) -> LadderScore | None:
        """The score of a bot."""
        row = self._session.get(RatingRow, bot)
        return None if row is None else _score(row)

    def write(self, bot: str, score: LadderScore) -> None:
        """Set the score of a bot."""
        self._session.merge(RatingRow(bot=bot, **score._asdict()))

    def step(self, bot: str, place: int, mu: float, sigma: float) -> None:
        """Add a point to a bot's history."""
        self._session.merge(RatingStepRow(bot=bot, place=place, mu=mu, sigma=sigma))

    def meetings(self) -> Meetings:
        """The results of all games so far."""
        mine = select(HeadToHeadRow).where(HeadToHeadRow.game == self._game)
        return {(row.first, row.second): (row.wins, row.draws, row.losses) for row in self._session.scalars(mine)}

    def meet(self, first: str, second: str, result: int) -> None:
        """Count a game of two bots."""
        row = self._session.get(HeadToHeadRow, (first, second))
        if row is None:
            row = HeadToHeadRow(first=first, second=second, game=self._game, wins=0, draws=0, losses=0)
            self._session.add(row)
        row.wins += result == 0
        row.draws += result == 1
        row.losses += result == 2


class DraftBook:
    """The ratings in memory, to be written as a whole."""

    def __init__(self) -> None:
        self.scores: dict[str, LadderScore] = {}
        self.steps: dict[tuple[str, int], tuple[float, float]] = {}
        self._pairs: Meetings = {}

    def score(self, bot: str) -> LadderScore | None:
        """The score of a bot."""
        return self.scores.get(bot)

    def write(self, bot: str, score: LadderScore) -> None:
        """Set the score of a bot."""
        self.scores[bot] = score

    def step(self, bot: str, place: int, mu: float, sigma: float) -> None:
        """Add a point to a bot's history."""
        self.steps[bot, place] = mu, sigma

    def meetings(self) -> Meetings:
        """The results of all games so far."""
        return self._pairs

    def meet(self, first: str, second: str, result: int) -> None:
        """Count a game of two bots."""
        wins, draws, losses = self._pairs.get((first, second), (0, 0, 0))
        self._pairs[first, second] = wins + (result == 0), draws + (result == 1), losses + (result == 2)

    def write_down(self, session: Session, game: str) -> None:
        """Write everything; the tables have no rows of this ladder."""
        ratings = [{"bot": bot, **score._asdict()} for bot, score in self.scores.items()]
        steps = [{"bot": b, "place": p, "mu": mu, "sigma": sigma} for (b, p), (mu, sigma) in self.steps.items()]
        pairs = [
            {"first": first, "second": second, "game": game, "wins": wins, "draws": draws, "losses": losses}
            for (first, second), (wins, draws, losses) in self._pairs.items()
        ]
        for table, rows in ((RatingRow, ratings), (RatingStepRow, steps), (HeadToHeadRow, pairs)):
            if rows:
                session.execute(insert(table), rows)


def _score(row: RatingRow) -> LadderScore:
    return LadderScore(row.mu, row.sigma, row.games, row.wins, row.draws, row.losses, dict(row.verdicts))


Rate = Callable[[RatingBook, RatedGame], None]
"""Updates the ratings after a game."""


def finish(
    engine: Engine,
    match_id: str,
    counted: dict[str, Any],
    record: dict[str, Any],
    rate: Rate,
    logs: Sequence[dict[str, Any]] = (),
    *,
    contended: bool = False,
) -> bool:
    """Keep a game, and rate it if it belongs to the ladder; False, without any change, if it is known.

    ``logs`` are the private logs by seat; those that say nothing are not kept. ``contended``: whether other work on the
    machine slowed its bots down.
    """
    with Session(engine) as session:
        open_ = MatchRow.id == match_id, MatchRow.status.in_((QUEUED, PLAYING))
        mine = update(MatchRow).where(*open_).values(status=DONE, ended=now_ms(), runner=None, lease=None)
        if not row_count(session.execute(mine)):
            session.rollback()
            return False
        game, why = session.execute(select(MatchRow.game, MatchRow.why).where(MatchRow.id == match_id)).one()
        place = _next_place(session, game) if why == LADDER and counted["rated"] else None
        row = FinishedGameRow(
            match=match_id,
            game=game,
            place=place,
            counted=counted,
            record=packed(record),
            ended=now_ms(),
            contended=contended,
        )
        session.add(row)
        for seat, content in enumerate(logs):
            if any(content.values()):
                session.add(PrivateLogRow(match=match_id, seat=seat, content=packed(content)))
        session.execute(delete(LiveMatchRow).where(LiveMatchRow.match == match_id))
        announce(session, LEAGUE, match_id)
        if place is not None:
            seats = select(MatchSeatRow.bot).where(MatchSeatRow.match == match_id).order_by(MatchSeatRow.seat)
            rate(StoredBook(session, game), RatedGame(place, tuple(session.scalars(seats)), counted))
        session.commit()
        return True


def _next_place(session: Session, game: str) -> int:
    """The place of the next game. This locks the ladder's row, so games are rated one after another."""
    grown = update(LadderRow).where(LadderRow.game == game).values(games=LadderRow.games + 1)
    if not row_count(session.execute(grown)):
        session.add(LadderRow(game=game, games=1))
        session.flush()
    return int(session.scalar(select(LadderRow.games).where(LadderRow.game == game)) or 0)


def ladders(engine: Engine) -> list[str]:
    """The ids of the games with rated games."""
    with Session(engine) as session:
        return list(session.scalars(select(LadderRow.game).order_by(LadderRow.game)))


def rated_games(session: Session, game: str, without_contended: bool = False) -> Iterator[RatedGame]:
    """All rated games of a ladder, in order; without those on a contended machine if asked."""
    seats: dict[str, list[str]] = {}
    places = select(MatchSeatRow.match, MatchSeatRow.bot).join(
        FinishedGameRow, FinishedGameRow.match == MatchSeatRow.match
    )
    rated = [FinishedGameRow.game == game, FinishedGameRow.place.is_not(None)]
    if without_contended:
        rated.append(FinishedGameRow.contended.is_(False))
    for match, bot in session.execute(places.where(*rated).order_by(MatchSeatRow.seat)):
        seats.setdefault(match, []).append(bot)
    wanted = (
        select(FinishedGameRow.match, FinishedGameRow.place, FinishedGameRow.counted)
        .where(*rated)
        .order_by(FinishedGameRow.place)
    )
    for match, place, counted in session.execute(wanted):
        yield RatedGame(place, tuple(seats[match]), counted)


def recount(
    engine: Engine, game: str, rate: Rate, without_contended: bool = False
) -> tuple[dict[str, LadderScore], dict[str, LadderScore]]:
    """Recompute all ratings of a ladder from its games; return the scores before and after."""
    with Session(engine) as session:
        session.execute(
            update(LadderRow).where(LadderRow.game == game).values(games=LadderRow.games)
        )  # nobody rates meanwhile
        mine = select(BotRow.id).where(BotRow.game == game)
        before = {row.bot: _score(row) for row in session.scalars(select(RatingRow).where(RatingRow.bot.in_(mine)))}
        for table, key in (
            (RatingRow, RatingRow.bot),
            (RatingStepRow, RatingStepRow.bot),
            (HeadToHeadRow, HeadToHeadRow.first),
        ):
            session.execute(delete(table).where(key.in_(mine)).execution_options(synchronize_session=False))
        session.expunge_all()
        draft = DraftBook()
        for one in rated_games(session, game, without_contended):
            rate(draft, one)
        draft.write_down(session, game)
        session.commit()
        return before, draft.scores
