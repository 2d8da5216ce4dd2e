"""Guessing a password: by other spellings of a name, from many addresses; and locking the owner out by it."""

from collections.abc import Iterator
from itertools import islice, product

import pytest
from httpx import Client

from ludodrome.web.budgets import BUDGETS, Budgets
from tests.web.hosting import PASSWORD, Hosted, hosting

API = "/api/v1"
GUESSES = 10
"""Wrong passwords that are allowed in five minutes."""


@pytest.fixture(scope="module")
def server() -> Iterator[Hosted]:
    """A server behind a proxy, so that callers come from any address."""
    with hosting(behind_proxy=True) as running:
        yield running


@pytest.fixture
def hosted(server: Hosted) -> Hosted:
    """The same, with the usual limit of failures, counted from zero by a clock that stands still."""
    limits = {kind: one._replace(amount=10**9) for kind, one in BUDGETS.items()} | {"sign-in": BUDGETS["sign-in"]}
    server.app.state.limits = Budgets(limits, lambda: 0.0)
    assert BUDGETS["sign-in"].amount == GUESSES
    return server


def _guess(client: Client, name: str, number: int, password: str = "a wrong password") -> int:
    headers = {"x-forwarded-for": f"203.0.113.{number}"}
    return client.post(f"{API}/session", json={"name": name, "password": password}, headers=headers).status_code


def _spellings(name: str) -> Iterator[str]:
    """A name with letters of full width among the usual ones; accounts fold them all."""
    wide = [(sign, chr(ord(sign) + 0xFEE0)) for sign in name]
    return ("".join(signs) for signs in product(*wide))


def test_point_9_spellings_share_a_limit(hosted: Hosted) -> None:
    hosted.person("Petrarca")
    with hosted.client() as client:
        spellings = islice(_spellings("Petrarca"), GUESSES + 5)
        statuses = [_guess(client, name, number) for number, name in enumerate(spellings)]
    assert statuses == [401] * GUESSES + [429] * 5


def test_point_9_unknown_names_are_counted_the_same_way(hosted: Hosted) -> None:
    with hosted.client() as client:
        spellings = islice(_spellings("Nobody"), GUESSES + 1)
        statuses = [_guess(client, name, number) for number, name in enumerate(spellings)]
    assert statuses == [401] * GUESSES + [429]


def test_point_9_an_address_has_a_limit_over_all_names(hosted: Hosted) -> None:
    with hosted.client() as client:
        statuses = [_guess(client, f"Person {number}", 200) for number in range(GUESSES + 1)]
    assert statuses == [401] * GUESSES + [429]


def test_point_9_strangers_do_not_lock_the_owner_out(hosted: Hosted) -> None:
    hosted.person("Ariosto")
    with hosted.client() as owner, hosted.client() as stranger, hosted.client() as another:
        assert _guess(owner, "Ariosto", 1, PASSWORD) == 200
        assert owner.delete(f"{API}/session").status_code == 204
        assert [_guess(stranger, "Ariosto", number) for number in range(2, 13)][-1] == 429
        assert _guess(another, "Ariosto", 100, PASSWORD) == 429  # a browser that has never signed in
        assert _guess(owner, "ARIOSTO", 1, PASSWORD) == 200
        assert _guess(owner, "Ariosto", 2, PASSWORD) == 200  # wherever it is now


def test_point_9_successes_are_not_counted(hosted: Hosted) -> None:
    for number in range(GUESSES + 2):
        hosted.person(f"Pupil {number}")
    with hosted.client() as client:
        statuses = [_guess(client, f"Pupil {number}", 150, PASSWORD) for number in range(GUESSES + 2)]
    assert statuses == [200] * (GUESSES + 2)


def test_point_9_a_known_browser_guesses_no_oftener(hosted: Hosted) -> None:
    hosted.person("Boiardo")
    with hosted.client() as thief:
        assert _guess(thief, "Boiardo", 1, PASSWORD) == 200
        statuses = [_guess(thief, "Boiardo", number) for number in range(2, GUESSES + 3)]
        assert statuses == [401] * GUESSES + [429]
        # signing in again would clear nothing: the bucket belongs to the browser, not to the visit
        assert _guess(thief, "Boiardo", 90, PASSWORD) == 429


def test_point_9_a_browser_is_known_for_one_account_until_its_password_changes(hosted: Hosted) -> None:
    hosted.person("Leopardi")
    hosted.person("Manzoni")
    other = "quite another password"
    with hosted.client() as owner, hosted.client() as stranger, hosted.client("Leopardi") as elsewhere:
        assert _guess(owner, "Leopardi", 1, PASSWORD) == 200
        devices = {name: value for name, value in owner.cookies.items() if "device" in name}
        assert len(devices) == 1
        assert [_guess(stranger, "Manzoni", number) for number in range(2, 13)][-1] == 429
        for name, value in devices.items():
            stranger.cookies.set(
                name.replace(hosted.person("Leopardi").id, hosted.person("Manzoni").id), value, domain="127.0.0.1"
            )
        assert _guess(stranger, "Manzoni", 60, PASSWORD) == 429
        changed = elsewhere.post(f"{API}/account/password", json={"old": PASSWORD, "new": other})
        assert changed.status_code == 200
        assert [_guess(stranger, "Leopardi", number) for number in range(2, 13)][-1] == 429
        assert _guess(owner, "Leopardi", 61, other) == 429


def test_point_9_a_forged_device_is_unknown(hosted: Hosted) -> None:
    person = hosted.person("Foscolo")
    with hosted.client() as owner, hosted.client() as stranger:
        made = owner.post(f"{API}/session", json={"name": "Foscolo", "password": PASSWORD})
        cookie = next(one for one in made.headers.get_list("set-cookie") if "device" in one)
        assert "HttpOnly" in cookie
        assert "samesite=strict" in cookie.lower()
        name, value = cookie.partition(";")[0].split("=", 1)
        assert person.id in name
        device, _, mac = value.partition(".")
        assert len(mac) >= 32
        assert [_guess(stranger, "Foscolo", number) for number in range(2, 13)][-1] == 429
        for forged in (f"other{device[5:]}.{mac}", f"{device}.{'0' * len(mac)}", device, ".", "é", "x" * 4000):
            headers = {b"cookie": f"{name}={forged}".encode(), b"x-forwarded-for": b"203.0.113.77"}
            answer = stranger.post(f"{API}/session", json={"name": "Foscolo", "password": PASSWORD}, headers=headers)
            assert answer.status_code == 429
