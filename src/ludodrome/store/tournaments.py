"""Queries about tournaments. Every game is one transaction."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from sqlalchemy import Engine, delete, func, select, update
from sqlalchemy.exc import DatabaseError, IntegrityError
from sqlalchemy.orm import Session

from ludodrome.store.models import Base, OpeningRow, TournamentGameRow, TournamentRow, now_ms, packed, unpacked

BATCH = 500
"""Records held in memory while all are read."""


class Summary(NamedTuple):
    """A tournament for lists."""

    name: str
    plan: dict[str, Any]
    begun: int
    games: int


def tournaments(engine: Engine) -> list[Summary]:
    """All tournaments, in the order in which they started."""
    count = func.count(TournamentGameRow.id)
    wanted = (
        select(TournamentRow, count).outerjoin(TournamentGameRow).group_by(TournamentRow.id).order_by(TournamentRow.id)
    )
    with Session(engine) as session:
        return [Summary(one.name, one.plan, one.begun, games) for one, games in session.execute(wanted)]


class StoredLedger:
    """The games and openings of one tournament, in the database."""

    def __init__(self, engine: Engine, tournament_id: int) -> None:
        self._engine, self._id = engine, tournament_id

    @staticmethod
    def begin(engine: Engine, name: str, plan: dict[str, Any]) -> "StoredLedger":
        """Add a tournament; ValueError if there is one of that name."""
        with Session(engine) as session:
            row = TournamentRow(name=name, plan=plan, begun=now_ms())
            session.add(row)
            try:
                session.commit()
            except IntegrityError as error:
                raise ValueError(f"there is a tournament {name} already") from error
            return StoredLedger(engine, row.id)

    @staticmethod
    def find(engine: Engine, name: str) -> "tuple[StoredLedger, dict[str, Any]] | None":
        """A tournament and its plan; None if there is none of that name."""
        with Session(engine) as session:
            row = session.scalar(select(TournamentRow).where(TournamentRow.name == name))
            return None if row is None else (StoredLedger(engine, row.id), row.plan)

    def change_plan(self, plan: dict[str, Any]) -> None:
        """Replace the plan: the same tournament with other versions of its bots."""
        with Session(self._engine) as session:
            session.execute(update(TournamentRow).where(TournamentRow.id == self._id).values(plan=plan))
            session.commit()

    # Openings

    def openings(self) -> Iterator[tuple[str, int, list[Any]]]:
        """All openings that were drawn: name of the game, number, moves."""
        with Session(self._engine) as session:
            for row in session.scalars(select(OpeningRow).where(OpeningRow.tournament_id == self._id)):
                yield row.discipline, row.number, row.moves

    def add_opening(self, game: str, number: int, moves: list[Any]) -> None:
        """Keep an opening, unless it is there already."""
        self._add(OpeningRow(tournament_id=self._id, discipline=game, number=number, moves=moves))

    # Games

    def games(self) -> Iterator[tuple[str, dict[str, Any], float]]:
        """Every game played: the name of the game, the result, and when it finished, in seconds since 1970."""
        wanted = (
            select(TournamentGameRow.discipline, TournamentGameRow.counted, TournamentGameRow.finished)
            .where(TournamentGameRow.tournament_id == self._id)
            .order_by(TournamentGameRow.id)
        )
        with Session(self._engine) as session:
            for game, counted, finished in session.execute(wanted).tuples():
                yield game, counted, finished / 1000

    def add_game(self, match: str, game: str, rated: bool, counted: dict[str, Any], record: Any) -> bool:
        """Keep a game, in one transaction; False if it is there already."""
        row = TournamentGameRow(
            tournament_id=self._id,
            match=match,
            discipline=game,
            rated=rated,
            counted=counted,
            record=packed(record),
            finished=now_ms(),
        )
        return self._add(row)

    def _add(self, row: Base) -> bool:
        """Insert a row in its own transaction; False if it is there already, ValueError if it cannot be written."""
        with Session(self._engine) as session:
            session.add(row)
            try:
                session.commit()
            except IntegrityError:
                session.rollback()
                return False
            except DatabaseError as error:
                raise ValueError(f"{self._engine.url.database} cannot be written: {error.orig}") from error
            return True

    def records(self) -> Iterator[dict[str, Any]]:
        """Every record, in the order in which the games finished."""
        wanted = (
            select(TournamentGameRow.record)
            .where(TournamentGameRow.tournament_id == self._id)
            .order_by(TournamentGameRow.id)
        )
        with Session(self._engine) as session:
            for content in session.scalars(wanted.execution_options(yield_per=BATCH)):
                yield unpacked(content)

    def forget_unrated(self) -> int:
        """Delete the unrated games, so that they are played again; return their number."""
        with Session(self._engine) as session:
            gone = session.execute(
                delete(TournamentGameRow).where(
                    TournamentGameRow.tournament_id == self._id, TournamentGameRow.rated.is_(False)
                )
            )
            session.commit()
            return int(gone.rowcount)  # type: ignore[attr-defined]
