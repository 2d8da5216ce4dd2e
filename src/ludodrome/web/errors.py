"""What is raised when something is not done, with a sentence for whoever asked. ``app.py`` answers them with it."""

from sqlalchemy.exc import IntegrityError, SQLAlchemyError


class Conflict(ValueError):
    """What was asked cannot be done now; the sentence says why."""

    status = 409


class Forbidden(Conflict):
    """It can be done, but by somebody else."""

    status = 403


class Busy(Exception):
    """It could be done, but not at the moment."""


def write_error(error: SQLAlchemyError) -> Exception:
    """Something could not be written down, and so it has not happened."""
    if isinstance(error, IntegrityError):
        return Conflict("the game has changed meanwhile; load it again")
    return Busy("the database did not save this, so it did not happen; try again")
