"""Errors with a sentence for the caller. ``app.py`` turns them into responses."""

from sqlalchemy.exc import IntegrityError, SQLAlchemyError


class Conflict(ValueError):
    """The request conflicts with the current state."""

    status = 409


class Forbidden(Conflict):
    """The caller may not do this."""

    status = 403


class Busy(Exception):
    """Too much is going on; the caller may try again."""


def write_error(error: SQLAlchemyError) -> Exception:
    """The error to raise when the database did not save something."""
    if isinstance(error, IntegrityError):
        return Conflict("the game has changed meanwhile; load it again")
    return Busy("the database did not save this, so it did not happen; try again")
