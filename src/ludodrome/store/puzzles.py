"""Which puzzles an account has solved. What the person at this machine has solved is in their own file."""

from sqlalchemy import Engine, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from ludodrome.store.account_models import SolvedPuzzleRow


def solved_puzzles(engine: Engine, account_id: str) -> set[str]:
    """The names of the puzzles that an account has solved."""
    with Session(engine) as session:
        return set(session.scalars(select(SolvedPuzzleRow.puzzle).where(SolvedPuzzleRow.account_id == account_id)))


def add_solved(engine: Engine, account_id: str, puzzle: str) -> None:
    """Writes down that an account has solved a puzzle; once is enough."""
    with Session(engine) as session:
        session.add(SolvedPuzzleRow(account_id=account_id, puzzle=puzzle))
        try:
            session.commit()
        except IntegrityError:
            session.rollback()
