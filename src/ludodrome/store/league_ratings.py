"""Rating updates: a finished game and its effects are one transaction, and count once.

The ratings are computed in ``arena/ladder/rating_updates.py``; this module reads and writes them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from sqlalchemy import Engine, delete, insert, select, update
from sqlalchemy.orm import Session, aliased

from ludodrome.store import audit
from ludodrome.store.announcements import BOT, LEAGUE, announce
from ludodrome.store.database import clock_ms, row_count, writing
from ludodrome.store.league_matches import has_just_ended
from ludodrome.store.league_models import (
    BUILTIN,
    DONE,
    DROPPED,
    LADDER,
    PLAYING,
    QUEUED,
    BotRow,
    BotVersionRow,
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

MAX_FAILURES = 5
"""A bot that fails this many ladder games in a row is paused."""
SOME = 500
"""Rows that one statement names."""


class LadderScore(NamedTuple):
    """The rating of a version, and the counts behind it."""

    mu: float
    sigma: float
    games: int = 0
    wins: int = 0
    draws: int = 0
    losses: int = 0
    failures: int = 0
    """Games that it lost by a failure of its own."""
    verdicts: Mapping[str, int] = {}


class VersionEntry(NamedTuple):
    """A version as the ladder rates it."""

    version: str
    bot: str
    builtin: str | None
    """The name of a built-in bot, which is its spec; None for others."""
    previous: str | None
    """The version before it."""


class RatedGame(NamedTuple):
    """A rated game: its place in the order, the versions by seat, its result."""

    place: int
    versions: tuple[str, ...]
    counted: dict[str, Any]


Meetings = dict[tuple[str, str], tuple[int, int, int]]
"""Wins, draws and losses of the first version, by the versions of the two seats."""


class RatingBook(Protocol):
    """The ratings of one ladder, read and written game by game."""

    @property
    def game(self) -> str:
        """The id of the game."""

    def entrant(self, version: str) -> VersionEntry:
        """What is known of a version."""

    def score(self, version: str) -> LadderScore | None:
        """The score of a version; None if it has none."""

    def write(self, version: str, score: LadderScore) -> None:
        """Set the score of a version."""

    def step(self, version: str, place: int, mu: float, sigma: float) -> None:
        """Add a point to a version's history; a later one of the same place replaces it."""

    def meetings(self) -> Meetings:
        """The results of all games so far that are evidence for both sides."""

    def meet(self, first: str, second: str, result: int) -> None:
        """Count a game of two versions: 0 the first won, 1 a draw, 2 the second won.

        3 the first failed, 4 the second failed, and the game is no evidence for the other.
        """


PAIR_COUNTS = ("wins", "draws", "losses", "failed_first", "failed_second")
"""What is counted of a pair, by the results of ``meet``."""


class StoredBook:
    """The ratings in the database, inside a transaction."""

    def __init__(self, session: Session, game: str) -> None:
        self._session, self.game = session, game

    def entrant(self, version: str) -> VersionEntry:
        """What is known of a version."""
        return next(_entrants(self._session, BotVersionRow.id == version))

    def score(self, version: str) -> LadderScore | None:
        """The score of a version."""
        row = self._session.get(RatingRow, version)
        return None if row is None else _score(row)

    def write(self, version: str, score: LadderScore) -> None:
        """Set the score of a version."""
        self._session.merge(RatingRow(version=version, **score._asdict()))

    def step(self, version: str, place: int, mu: float, sigma: float) -> None:
        """Add a point to a version's history."""
        self._session.merge(RatingStepRow(version=version, place=place, mu=mu, sigma=sigma))

    def meetings(self) -> Meetings:
        """The results of all games so far that are evidence for both sides."""
        mine = select(HeadToHeadRow).where(HeadToHeadRow.game == self.game)
        return {(row.first, row.second): (row.wins, row.draws, row.losses) for row in self._session.scalars(mine)}

    def meet(self, first: str, second: str, result: int) -> None:
        """Count a game of two versions."""
        row = self._session.get(HeadToHeadRow, (first, second))
        if row is None:
            row = HeadToHeadRow(first=first, second=second, game=self.game, **dict.fromkeys(PAIR_COUNTS, 0))
            self._session.add(row)
        setattr(row, PAIR_COUNTS[result], getattr(row, PAIR_COUNTS[result]) + 1)


class DraftBook:
    """The ratings in memory, to be written as a whole."""

    def __init__(self, game: str, entrants: Iterable[VersionEntry]) -> None:
        self.game = game
        self.entrants = {one.version: one for one in entrants}
        self.scores: dict[str, LadderScore] = {}
        self.steps: dict[tuple[str, int], tuple[float, float]] = {}
        self._pairs: dict[tuple[str, str], list[int]] = {}

    def entrant(self, version: str) -> VersionEntry:
        """What is known of a version."""
        return self.entrants[version]

    def score(self, version: str) -> LadderScore | None:
        """The score of a version."""
        return self.scores.get(version)

    def write(self, version: str, score: LadderScore) -> None:
        """Set the score of a version."""
        self.scores[version] = score

    def step(self, version: str, place: int, mu: float, sigma: float) -> None:
        """Add a point to a version's history."""
        self.steps[version, place] = mu, sigma

    def meetings(self) -> Meetings:
        """The results of all games so far that are evidence for both sides."""
        return {pair: (counts[0], counts[1], counts[2]) for pair, counts in self._pairs.items()}

    def meet(self, first: str, second: str, result: int) -> None:
        """Count a game of two versions."""
        self._pairs.setdefault((first, second), [0] * len(PAIR_COUNTS))[result] += 1

    def write_down(self, session: Session) -> None:
        """Write everything; the tables have no rows of this ladder."""
        ratings = [{"version": version, **score._asdict()} for version, score in self.scores.items()]
        steps = [{"version": v, "place": p, "mu": mu, "sigma": sigma} for (v, p), (mu, sigma) in self.steps.items()]
        pairs = [
            {"first": first, "second": second, "game": self.game, **dict(zip(PAIR_COUNTS, counts, strict=True))}
            for (first, second), counts in self._pairs.items()
        ]
        for table, rows in ((RatingRow, ratings), (RatingStepRow, steps), (HeadToHeadRow, pairs)):
            if rows:
                session.execute(insert(table), rows)


def _entrants(session: Session, *wanted: Any) -> Iterator[VersionEntry]:
    before = aliased(BotVersionRow)
    earlier = (
        select(before.id)
        .where(before.bot == BotVersionRow.bot, before.number < BotVersionRow.number)
        .order_by(before.number.desc())
        .limit(1)
        .scalar_subquery()
    )
    found = select(BotVersionRow.id, BotRow.id, BotRow.kind, BotRow.name, earlier)
    for version, bot, kind, name, previous in session.execute(found.join(BotRow).where(*wanted)):
        yield VersionEntry(version, bot, name if kind == BUILTIN else None, previous)


def _score(row: RatingRow) -> LadderScore:
    return LadderScore(row.mu, row.sigma, row.games, row.wins, row.draws, row.losses, row.failures, dict(row.verdicts))


Rate = Callable[[RatingBook, RatedGame], None]
"""Updates the ratings after a game."""
Begin = Callable[[RatingBook, VersionEntry], None]
"""Writes the rating that a version begins with, if there is one."""
Belongs = Callable[[Mapping[str, Any]], bool]
"""Whether a match, given by its play spec, has the options that its ladder plays with."""


def begin(engine: Engine, game: str, begin_with: Begin, rules: int) -> bool:
    """Write the ratings that the current versions of a game's bots begin with, where they have none.

    Return whether the ladder's ratings were computed by other rules than ``rules``, so that they must be recomputed.
    """
    with writing(engine) as session:
        ladder = session.get(LadderRow, game)
        if ladder is None:
            ladder = LadderRow(game=game, games=0, rules=rules)
            session.add(ladder)
            session.flush()
        rated = select(RatingRow.version).where(RatingRow.version == BotVersionRow.id).exists()
        book = StoredBook(session, game)
        for one in list(_entrants(session, BotRow.game == game, BotRow.version == BotVersionRow.id, ~rated)):
            begin_with(book, one)
        return ladder.rules != rules


def finish(
    engine: Engine,
    match_id: str,
    counted: dict[str, Any],
    record: dict[str, Any],
    rate: Rate,
    logs: Sequence[dict[str, Any]] = (),
    *,
    contended: bool = False,
    failures: Mapping[int, bool] | None = None,
    belongs: bool = True,
) -> bool:
    """Keep a game, and rate it if it is one of the ladder; False, without any change, if it is known.

    ``belongs``: whether a ladder game has the options that the ladder plays with today; others are not rated.
    ``logs`` are the private logs by seat; those that say nothing are not kept. ``contended``: whether other work on the
    machine slowed its bots down. ``failures``: by seat whether the bot failed; one that keeps failing is paused. Seats
    that are not named do not count either way.
    """
    with Session(engine) as session:
        open_ = MatchRow.id == match_id, MatchRow.status.in_((QUEUED, PLAYING))
        mine = update(MatchRow).where(*open_).values(status=DONE, ended=now_ms(), runner=None, lease=None)
        if not row_count(session.execute(mine)):
            session.rollback()
            return False
        game, why = session.execute(select(MatchRow.game, MatchRow.why).where(MatchRow.id == match_id)).one()
        place = _next_place(session, game) if why == LADDER and belongs and counted["rated"] else None
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
        over = select(MatchRow.id).where(MatchRow.status.in_((DONE, DROPPED)), ~has_just_ended(clock_ms(session)))
        session.execute(delete(LiveMatchRow).where(LiveMatchRow.match.in_(over)))
        announce(session, LEAGUE, match_id)
        if place is not None:
            wanted = select(MatchSeatRow.bot, MatchSeatRow.version).where(MatchSeatRow.match == match_id)
            seats = session.execute(wanted.order_by(MatchSeatRow.seat)).tuples().all()
            rate(StoredBook(session, game), RatedGame(place, tuple(version for _, version in seats), counted))
            _count_failures(session, match_id, {seats[seat][0]: failed for seat, failed in (failures or {}).items()})
        session.commit()
        return True


def _count_failures(session: Session, match_id: str, bots: Mapping[str, bool]) -> None:
    """Count failures in a row; pause a bot with ``MAX_FAILURES``. Bots in one order, so that there is no deadlock."""
    for bot_id, failed in sorted(bots.items()):
        mine = update(BotRow).where(BotRow.id == bot_id, BotRow.kind != BUILTIN)
        if not failed:
            session.execute(mine.where(BotRow.failures > 0).values(failures=0))
            continue
        session.execute(mine.values(failures=BotRow.failures + 1))
        too_many = BotRow.failures >= MAX_FAILURES, BotRow.paused.is_(None)
        if row_count(session.execute(mine.where(*too_many).values(paused=now_ms(), paused_by=match_id))):
            name = session.scalar(select(BotRow.name).where(BotRow.id == bot_id)) or ""
            audit.record(session, audit.SYSTEM, audit.BOT_PAUSED, bot_id, name, match=match_id, failures=MAX_FAILURES)
            theirs = select(MatchSeatRow.match).where(MatchSeatRow.bot == bot_id)
            waiting = MatchRow.status == QUEUED, MatchRow.why == LADDER, MatchRow.id.in_(theirs)
            session.execute(update(MatchRow).where(*waiting).values(status=DROPPED, ended=now_ms()))
            announce(session, BOT, bot_id)


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
    places = select(MatchSeatRow.match, MatchSeatRow.version).join(
        FinishedGameRow, FinishedGameRow.match == MatchSeatRow.match
    )
    rated = [FinishedGameRow.game == game, FinishedGameRow.place.is_not(None)]
    if without_contended:
        rated.append(FinishedGameRow.contended.is_(False))
    for match, version in session.execute(places.where(*rated).order_by(MatchSeatRow.seat)):
        seats.setdefault(match, []).append(version)
    wanted = (
        select(FinishedGameRow.match, FinishedGameRow.place, FinishedGameRow.counted)
        .where(*rated)
        .order_by(FinishedGameRow.place)
    )
    for match, place, counted in session.execute(wanted):
        yield RatedGame(place, tuple(seats[match]), counted)


def _leave_out(session: Session, game: str, belongs: Belongs) -> None:
    """Leave out the games of a ladder that were played with other options than its own; drop those not begun.

    They stay in the lists of games, without a place. The others move up: their places have no gaps.
    """
    ladder = MatchRow.game == game, MatchRow.why == LADDER
    queued = select(MatchRow.id, MatchRow.assignment).where(*ladder, MatchRow.status == QUEUED)
    dropped = [match for match, play_spec in session.execute(queued).tuples() if not belongs(play_spec)]
    for at in range(0, len(dropped), SOME):
        these = update(MatchRow).where(MatchRow.id.in_(dropped[at : at + SOME]), MatchRow.status == QUEUED)
        session.execute(these.values(status=DROPPED, ended=now_ms()).execution_options(synchronize_session=False))
    rated = (
        select(FinishedGameRow.match, MatchRow.assignment)
        .join(MatchRow, MatchRow.id == FinishedGameRow.match)
        .where(FinishedGameRow.game == game, FinishedGameRow.place.is_not(None))
        .order_by(FinishedGameRow.place)
    )
    listed = [(match, belongs(play_spec)) for match, play_spec in session.execute(rated).tuples()]
    if all(stays for _, stays in listed):
        return
    kept = [match for match, stays in listed if stays]
    session.execute(
        update(FinishedGameRow)
        .where(FinishedGameRow.game == game)
        .values(place=None)
        .execution_options(synchronize_session=False)
    )
    if kept:
        session.execute(update(FinishedGameRow), [{"match": one, "place": at} for at, one in enumerate(kept, 1)])
    session.execute(update(LadderRow).where(LadderRow.game == game).values(games=len(kept)))


def recount(
    engine: Engine,
    game: str,
    rate: Rate,
    begin_with: Begin,
    rules: int,
    without_contended: bool = False,
    belongs: Belongs = lambda play_spec: True,
) -> tuple[dict[str, LadderScore], dict[str, LadderScore]]:
    """Recompute all ratings of a ladder from its games; return the scores by version before and after.

    ``rules`` is kept as the number of the rules that they are computed by. Games that do not belong to the ladder are
    no longer rated.
    """
    with Session(engine) as session:
        session.execute(update(LadderRow).where(LadderRow.game == game).values(rules=rules))  # nobody rates meanwhile
        _leave_out(session, game, belongs)
        mine = select(BotVersionRow.id).join(BotRow).where(BotRow.game == game)
        before = {
            row.version: _score(row) for row in session.scalars(select(RatingRow).where(RatingRow.version.in_(mine)))
        }
        for table, key in (
            (RatingRow, RatingRow.version),
            (RatingStepRow, RatingStepRow.version),
            (HeadToHeadRow, HeadToHeadRow.first),
        ):
            session.execute(delete(table).where(key.in_(mine)).execution_options(synchronize_session=False))
        session.expunge_all()
        draft = DraftBook(game, _entrants(session, BotRow.game == game))
        for one in rated_games(session, game, without_contended):
            rate(draft, one)
        for entrant in list(_entrants(session, BotRow.game == game, BotRow.version == BotVersionRow.id)):
            if draft.score(entrant.version) is None:
                begin_with(draft, entrant)
        draft.write_down(session)
        session.commit()
        return before, draft.scores
