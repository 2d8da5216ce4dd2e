"""Accounts, sessions and tokens, on both kinds of database."""

from datetime import timedelta

import pytest
from sqlalchemy import Engine, text

from ludodrome.store import accounts
from ludodrome.store.accounts import (
    add_account,
    add_token,
    find_account,
    read_name,
    session_of,
    sign_in,
    token_of,
)
from ludodrome.store.plays import add_solved, solved_puzzles


@pytest.mark.parametrize("name", ["Ada", "李小龙", "Жанна д", "a.b-c_d 9", "Ox", "ひらカタ漢字", "I" * 30])
def test_names(name: str) -> None:
    shown, folded = read_name(name)
    assert shown == name
    assert folded == folded.casefold()


@pytest.mark.parametrize(
    "name",
    [
        "",
        "a",
        "x" * 31,
        " ada",
        "ada ",
        "a  b",
        "a\tb",
        "a\x00b",
        "a\ud800b",
        "a\u200bb",
        "a\u202eb",
        "<b>",
        "a/b",
        "\u0301ada",
        "\u0430da",  # a Cyrillic letter among Latin ones
        "Admin",
        "\uff21dmin",
        "local",
        "\ufdfa" * 10,
    ],
)
def test_what_is_no_name(name: str) -> None:
    with pytest.raises(ValueError, match="name"):
        read_name(name)


def test_no_two_names_differ_by_case_or_form(engine: Engine) -> None:
    first = add_account(engine, "Straße", "hash")
    for other in ("STRASSE", "straße", "Strasse", "\uff33trasse"):
        with pytest.raises(ValueError, match="is taken"):
            add_account(engine, other, "hash")
        found = find_account(engine, other)
        assert found is not None
        assert found[0] == first
    assert find_account(engine, "nobody") is None
    assert find_account(engine, "\x00") is None


def test_sessions(engine: Engine) -> None:
    person = add_account(engine, "Ada", "hash")
    secret = sign_in(engine, person.id, "a \x00\ud800 browser" * 50)
    known = session_of(engine, secret)
    assert known is not None
    assert known.person == person
    assert known.scopes == {"play", "bots", "account"}
    (row,) = accounts.sign_ins(engine, person.id)
    assert row.id == known.sign_in
    assert secret not in (row.id, row.digest)
    assert session_of(engine, secret[:-1]) is None
    assert session_of(engine, "\ud800\x00") is None
    other = add_account(engine, "Eve", "hash")
    assert not accounts.sign_out(engine, other.id, row.id)
    assert accounts.sign_out(engine, person.id, row.id)
    assert session_of(engine, secret) is None


def test_sessions_end(engine: Engine) -> None:
    person = add_account(engine, "Ada", "hash")
    secret = sign_in(engine, person.id, "")
    _shift(engine, "sign_ins", "seen", timedelta(hours=1))
    assert session_of(engine, secret) is not None
    (row,) = accounts.sign_ins(engine, person.id)
    assert row.seen > row.made  # it was written down that it was used
    _shift(engine, "sign_ins", "ends", timedelta(days=accounts.SESSION_DAYS, seconds=1))
    assert session_of(engine, secret) is None
    assert accounts.sign_ins(engine, person.id) == []
    secrets = [sign_in(engine, person.id, "") for _ in range(accounts.MAX_SIGN_INS + 3)]
    assert len(accounts.sign_ins(engine, person.id)) == accounts.MAX_SIGN_INS
    assert session_of(engine, secrets[-1]) is not None
    accounts.set_password(engine, person.id, "other")
    assert session_of(engine, secrets[-1]) is None


def _shift(engine: Engine, table: str, column: str, by: timedelta) -> None:
    """Time passes: a moment moves into the past."""
    with engine.begin() as connection:
        for key, moment in connection.execute(text(f"SELECT id, {column} FROM {table}")).all():
            earlier = moment - round(by.total_seconds() * 1000)
            connection.execute(
                text(f"UPDATE {table} SET made = 1, {column} = :v WHERE id = :k"), {"v": earlier, "k": key}
            )


def test_tokens(engine: Engine) -> None:
    person = add_account(engine, "Ada", "hash")
    row, secret = add_token(engine, person.id, "my \x00 laptop", ["play", "bots", "play"])
    assert (row.label, row.scopes, row.used) == ("my laptop", ["bots", "play"], None)
    known = token_of(engine, secret)
    assert known is not None
    assert (known.person, known.sign_in) == (person, None)
    assert known.scopes == {"play", "bots"}
    assert accounts.tokens(engine, person.id)[0].used is not None
    with pytest.raises(ValueError, match="only administrators"):
        add_token(engine, person.id, "x", ["admin"])
    for scopes in ([], ["account"], ["everything"]):
        with pytest.raises(ValueError, match="a token has scopes"):
            add_token(engine, person.id, "x", scopes)
    with pytest.raises(ValueError, match="no such account"):
        add_token(engine, "nobody", "x", ["play"])
    assert not accounts.revoke(engine, "nobody", row.id)
    assert accounts.revoke(engine, person.id, row.id)
    assert token_of(engine, secret) is None


def test_an_account_has_so_many_tokens(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accounts, "MAX_TOKENS", 2)
    person = add_account(engine, "Ada", "hash")
    for _ in range(2):
        add_token(engine, person.id, "x", ["play"])
    with pytest.raises(ValueError, match="at most 2 tokens"):
        add_token(engine, person.id, "x", ["play"])


def test_administrators_and_the_banned(engine: Engine) -> None:
    person = add_account(engine, "Ada", "hash")
    accounts.set_admin(engine, person.id, True)
    session = sign_in(engine, person.id, "")
    _, secret = add_token(engine, person.id, "x", ["admin"])
    assert (known := session_of(engine, session)) is not None
    assert "admin" in known.scopes
    accounts.set_admin(engine, person.id, False)
    assert (known := token_of(engine, secret)) is not None
    assert known.scopes == set()
    accounts.set_banned(engine, person.id, True)
    assert session_of(engine, session) is None
    assert token_of(engine, secret) is None
    accounts.set_banned(engine, person.id, False)
    assert session_of(engine, session) is None
    assert token_of(engine, secret) is not None
    with pytest.raises(ValueError, match="cannot be banned"):
        accounts.set_banned(engine, "local", True)


def test_solved_puzzles(engine: Engine) -> None:
    ada, eve = (add_account(engine, name, "hash").id for name in ("Ada", "Eve"))
    for _ in range(2):
        add_solved(engine, ada, "0123456789ab")
    assert solved_puzzles(engine, ada) == {"0123456789ab"}
    assert solved_puzzles(engine, eve) == set()
