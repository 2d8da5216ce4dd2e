"""How a finished game comes to count: its record and what it changes are one transaction, once and never again.

What the ratings become is computed in ``arena/ladder/``; here is what they are read from and written to.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

from sqlalchemy import Engine, delete, insert, select, update
from sqlalchemy.orm import Session

from ludodrome.store.league_matches import row_count
from ludodrome.store.models import (
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
    RatingRow,
    RatingStepRow,
    now_ms,
    packed,
)


class LadderScore(NamedTuple):
    """What is believed of a bot, and what it is believed from."""

    mu: float
    sigma: float
    games: int
    wins: int
    draws: int
    losses: int
    verdicts: dict[str, int]


class RatedGame(NamedTuple):
    """A rated game: its place, its bots by seat, what counts of it."""

    place: int
    bots: tuple[str, ...]
    counted: dict[str, Any]


Meetings = dict[tuple[str, str], tuple[int, int, int]]
"""By the bots of the two seats: wins, draws and losses of the first."""


class RatingBook(Protocol):
    """What is believed of the bots of one ladder: read and changed, game by game."""

    def score(self, bot: str) -> LadderScore | None:
        """What is believed of a bot; None if it has no rated games."""

    def write(self, bot: str, score: LadderScore) -> None:
        """Believe this of a bot from now on."""

    def step(self, bot: str, place: int, mu: float, sigma: float) -> None:
        """A point of a bot's history; a later one of the same place counts."""

    def meetings(self) -> Meetings:
        """How all games so far ended."""

    def meet(self, first: str, second: str, result: int) -> None:
        """One more game of two bots: 0 the first won, 1 nobody, 2 the second."""


class StoredBook:
    """The book in the database, inside a transaction."""

    def __init__(self, session: Session, game: str) -> None:
        self._session, self._game = session, game

    def score(self, bot: str) -> LadderScore | None:
        """What is believed of a bot."""
        row = self._session.get(RatingRow, bot)
        return None if row is None else _score(row)

    def write(self, bot: str, score: LadderScore) -> None:
        """Believe this of a bot from now on."""
        self._session.merge(RatingRow(bot=bot, **score._asdict()))

    def step(self, bot: str, place: int, mu: float, sigma: float) -> None:
        """A point of a bot's history."""
        self._session.merge(RatingStepRow(bot=bot, place=place, mu=mu, sigma=sigma))

    def meetings(self) -> Meetings:
        """How all games so far ended."""
        mine = select(HeadToHeadRow).where(HeadToHeadRow.game == self._game)
        return {(row.first, row.second): (row.wins, row.draws, row.losses) for row in self._session.scalars(mine)}

    def meet(self, first: str, second: str, result: int) -> None:
        """One more game of two bots."""
        row = self._session.get(HeadToHeadRow, (first, second))
        if row is None:
            row = HeadToHeadRow(first=first, second=second, game=self._game, wins=0, draws=0, losses=0)
            self._session.add(row)
        row.wins += result == 0
        row.draws += result == 1
        row.losses += result == 2


class DraftBook:
    """A book in memory, to be written down as a whole."""

    def __init__(self) -> None:
        self.scores: dict[str, LadderScore] = {}
        self.steps: dict[tuple[str, int], tuple[float, float]] = {}
        self._pairs: Meetings = {}

    def score(self, bot: str) -> LadderScore | None:
        """What is believed of a bot."""
        return self.scores.get(bot)

    def write(self, bot: str, score: LadderScore) -> None:
        """Believe this of a bot from now on."""
        self.scores[bot] = score

    def step(self, bot: str, place: int, mu: float, sigma: float) -> None:
        """A point of a bot's history."""
        self.steps[bot, place] = mu, sigma

    def meetings(self) -> Meetings:
        """How all games so far ended."""
        return self._pairs

    def meet(self, first: str, second: str, result: int) -> None:
        """One more game of two bots."""
        wins, draws, losses = self._pairs.get((first, second), (0, 0, 0))
        self._pairs[first, second] = wins + (result == 0), draws + (result == 1), losses + (result == 2)

    def write_down(self, session: Session, game: str) -> None:
        """Into tables in which nothing stands of this ladder."""
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
"""Changes what is believed because of a game."""


def finish(engine: Engine, match_id: str, counted: dict[str, Any], record: dict[str, Any], rate: Rate) -> bool:
    """Writes a game down, and lets it count if it is one of the ladder; False, and nothing happens, if it is known."""
    with Session(engine) as session:
        open_ = MatchRow.id == match_id, MatchRow.status.in_((QUEUED, PLAYING))
        mine = update(MatchRow).where(*open_).values(status=DONE, ended=now_ms(), runner=None, lease=None)
        if not row_count(session.execute(mine)):
            session.rollback()
            return False
        game, why = session.execute(select(MatchRow.game, MatchRow.why).where(MatchRow.id == match_id)).one()
        place = _next_place(session, game) if why == LADDER and counted["rated"] else None
        row = FinishedGameRow(
            match=match_id, game=game, place=place, counted=counted, record=packed(record), ended=now_ms()
        )
        session.add(row)
        session.execute(delete(LiveMatchRow).where(LiveMatchRow.match == match_id))
        if place is not None:
            seats = select(MatchSeatRow.bot).where(MatchSeatRow.match == match_id).order_by(MatchSeatRow.seat)
            rate(StoredBook(session, game), RatedGame(place, tuple(session.scalars(seats)), counted))
        session.commit()
        return True


def _next_place(session: Session, game: str) -> int:
    """The place of one more game. Whoever is here holds the ladder's row: games are rated one after the other."""
    grown = update(LadderRow).where(LadderRow.game == game).values(games=LadderRow.games + 1)
    if not row_count(session.execute(grown)):
        session.add(LadderRow(game=game, games=1))
        session.flush()
    return int(session.scalar(select(LadderRow.games).where(LadderRow.game == game)) or 0)


def ladders(engine: Engine) -> list[str]:
    """The games that have rated games."""
    with Session(engine) as session:
        return list(session.scalars(select(LadderRow.game).order_by(LadderRow.game)))


def rated_games(session: Session, game: str) -> Iterator[RatedGame]:
    """All rated games of a ladder, in the order in which they counted."""
    seats: dict[str, list[str]] = {}
    places = select(MatchSeatRow.match, MatchSeatRow.bot).join(
        FinishedGameRow, FinishedGameRow.match == MatchSeatRow.match
    )
    rated = FinishedGameRow.game == game, FinishedGameRow.place.is_not(None)
    for match, bot in session.execute(places.where(*rated).order_by(MatchSeatRow.seat)):
        seats.setdefault(match, []).append(bot)
    wanted = (
        select(FinishedGameRow.match, FinishedGameRow.place, FinishedGameRow.counted)
        .where(*rated)
        .order_by(FinishedGameRow.place)
    )
    for match, place, counted in session.execute(wanted):
        yield RatedGame(place, tuple(seats[match]), counted)


def recount(engine: Engine, game: str, rate: Rate) -> tuple[dict[str, LadderScore], dict[str, LadderScore]]:
    """Forgets all ratings of a ladder and makes them anew from its games; those before and those after."""
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
        for one in rated_games(session, game):
            rate(draft, one)
        draft.write_down(session, game)
        session.commit()
        return before, draft.scores
