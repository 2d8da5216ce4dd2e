"""A server for everybody, with people who are signed in."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from argon2 import PasswordHasher
from fastapi import FastAPI
from httpx import Client
from sqlalchemy import Engine

from ludodrome.store import accounts
from ludodrome.store.database import open_database
from ludodrome.web import auth
from ludodrome.web.app import create_app
from ludodrome.web.auth import COOKIE, Mode
from ludodrome.web.budgets import BUDGETS, Budgets
from tests.web.serving import serving

PASSWORD = "correct horse battery"
_hashed: list[str] = []
WEAK = PasswordHasher(time_cost=1, memory_cost=256, parallelism=1)
"""Tests sign in often; how much work a real hash is has a test of its own."""


@dataclass
class Hosted:
    """A running server."""

    address: str
    app: FastAPI
    engine: Engine
    _people: dict[str, accounts.AccountInfo] = field(default_factory=dict)

    def person(self, name: str) -> accounts.AccountInfo:
        """Somebody with an account; whoever is called Chief is an administrator."""
        if name not in self._people:
            if not _hashed:
                _hashed.append(auth.hash_password(PASSWORD))
            self._people[name] = accounts.add_account(self.engine, name, _hashed[0], admin=name == "Chief")
        return self._people[name]

    def client(self, name: str | None = None) -> Client:
        """A client in which somebody is signed in, or nobody."""
        made = Client(base_url=self.address, timeout=120)
        if name is not None:
            made.cookies.set(COOKIE, accounts.sign_in(self.engine, self.person(name).id, "a test"), domain="127.0.0.1")
        return made


@contextmanager
def hosting(mode: Mode = "hosted", **wishes: object) -> Iterator[Hosted]:
    """A server for everybody, where anybody may ask as often as they like."""
    with TemporaryDirectory() as folder:
        engine = open_database(Path(folder) / "ludodrome.db", create=True)
        app = create_app(engine, mode=mode, **wishes)  # type: ignore[arg-type]
        app.state.limits = Budgets({kind: one._replace(amount=10**9) for kind, one in BUDGETS.items()})
        try:
            with patch.object(auth, "_hasher", WEAK), serving(app) as address:
                yield Hosted(address, app, engine)
        finally:
            engine.dispose()
