"""A stolen password against a second factor: codes used twice, codes guessed, and what tokens and sessions can do."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from httpx import Client

from ludodrome.store import accounts, audit
from ludodrome.web import auth
from ludodrome.web.budgets import BUDGETS, Budgets
from tests.web.hosting import PASSWORD, Hosted, hosting

API = "/api/v1"
SECRET = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"


@pytest.fixture(scope="module")
def hosted() -> Iterator[Hosted]:
    with hosting() as running:
        yield running


def _protect(hosted: Hosted, name: str) -> list[str]:
    """Turn the second factor of somebody on; their recovery codes."""
    person = hosted.person(name)
    codes = auth.new_recovery_codes()
    accounts.begin_second_factor(hosted.engine, person.id, SECRET)
    assert accounts.confirm_second_factor(hosted.engine, person.id, 1, codes)
    return codes


def _sign_in(client: Client, name: str, code: str | None = None, password: str = PASSWORD) -> tuple[int, bool]:
    body = {"name": name, "password": password} | ({} if code is None else {"code": code})
    answer = client.post(f"{API}/session", json=body)
    return answer.status_code, bool(answer.json().get("second_factor"))


def _code(shift: int = 0) -> str:
    return auth.totp(SECRET, int(time.time()) // auth.STEP_SECONDS + shift)


def test_a_password_alone_opens_nothing(hosted: Hosted) -> None:
    _protect(hosted, "Archimedes")
    with hosted.client() as client:
        assert _sign_in(client, "Archimedes") == (401, True)
        assert _sign_in(client, "Archimedes", "000000") == (401, True)
        assert _sign_in(client, "Archimedes", "") == (401, True)
        assert _sign_in(client, "Archimedes", _code(), "a wrong password") == (401, False)
        assert client.get(f"{API}/account").json()["account"] is None
        assert accounts.sign_ins(hosted.engine, hosted.person("Archimedes").id) == []


def test_a_code_is_accepted_once(hosted: Hosted) -> None:
    _protect(hosted, "Euclid")
    seen = _code()
    with hosted.client() as owner, hosted.client() as thief:
        assert _sign_in(owner, "Euclid", seen) == (200, False)
        assert _sign_in(thief, "Euclid", seen) == (401, True)
        assert _sign_in(thief, "Euclid", _code(-1)) == (401, True)  # nor is an earlier one
        assert _sign_in(owner, "Euclid", _code(1)) == (200, False)


def test_a_recovery_code_is_accepted_once_even_at_once(hosted: Hosted) -> None:
    code = _protect(hosted, "Hypatia")[0]

    def use(_: int) -> int:
        with hosted.client() as client:
            return _sign_in(client, "Hypatia", code.upper().replace("-", " "))[0]

    with ThreadPoolExecutor(6) as pool:
        statuses = sorted(pool.map(use, range(6)))
    assert statuses == [200, 401, 401, 401, 401, 401]
    found = accounts.second_factor(hosted.engine, hosted.person("Hypatia").id)
    assert found is not None
    assert len(found.recovery) == auth.RECOVERY_CODES - 1


def test_codes_are_guessed_no_oftener_than_passwords(hosted: Hosted) -> None:
    _protect(hosted, "Thales")
    before = hosted.app.state.limits
    limits = {kind: one._replace(amount=10**9) for kind, one in BUDGETS.items()}
    limits["sign-in"] = BUDGETS["sign-in"]._replace(amount=5)
    hosted.app.state.limits = Budgets(limits, lambda: 0.0)
    try:
        with hosted.client() as thief:
            asked = [_sign_in(thief, "Thales")[0] for _ in range(10)]
            assert asked == [401] * 10  # the password is right: nothing was guessed
            guessed = [_sign_in(thief, "Thales", "000000")[0] for _ in range(7)]
            assert guessed == [401] * 5 + [429] * 2
        with hosted.client("Thales") as session:
            body = {"password": PASSWORD, "code": "000000"}
            tried = [session.request("DELETE", f"{API}/account", json=body).status_code for _ in range(7)]
            assert tried == [403] * 5 + [429] * 2
    finally:
        hosted.app.state.limits = before


def test_a_session_alone_cannot_touch_the_second_factor_or_the_account(hosted: Hosted) -> None:
    _protect(hosted, "Eratosthenes")
    with hosted.client("Eratosthenes") as thief:
        for path in ("/account/second-factor", "/account"):
            for body in ({"password": "a wrong password", "code": _code()}, {"password": PASSWORD}):
                assert thief.request("DELETE", f"{API}{path}", json=body).status_code == 403
            assert thief.request("DELETE", f"{API}{path}", json={"password": PASSWORD, "code": "1"}).status_code == 403
        begun = thief.post(f"{API}/account/second-factor", json={"password": "a wrong password"})
        assert begun.status_code == 403
        assert thief.post(f"{API}/account/second-factor", json={"password": PASSWORD}).status_code == 409
    assert accounts.account_of(hosted.engine, hosted.person("Eratosthenes").id) is not None


def test_no_token_deletes_or_exports_an_account(hosted: Hosted) -> None:
    person = hosted.person("Chief")
    _, secret = accounts.add_token(hosted.engine, person.id, "all", ["play", "bots", "admin"])
    with hosted.client() as program:
        program.headers["authorization"] = f"Bearer {secret}"
        assert program.request("DELETE", f"{API}/account", json={"password": PASSWORD}).status_code == 403
        assert program.get(f"{API}/account/export").status_code == 403
        assert program.request("DELETE", f"{API}/account/sessions").status_code == 403
        for method in ("GET", "POST", "DELETE"):
            answer = program.request(method, f"{API}/account/second-factor", json={"password": PASSWORD})
            assert answer.status_code == 403
        assert program.get(f"{API}/audit").status_code == 200
    assert accounts.account_of(hosted.engine, person.id) is not None


def test_the_log_holds_no_secret_and_stays_small(hosted: Hosted, monkeypatch: pytest.MonkeyPatch) -> None:
    codes = _protect(hosted, "Ptolemy")
    typed = "my real password in the wrong field"
    with hosted.client() as client:
        for _ in range(30):
            assert _sign_in(client, typed, password="x") == (401, False)
        assert _sign_in(client, "Ptolemy", codes[0]) == (200, False)
        assert _sign_in(client, "Ptolemy", "123456") == (401, True)
        device = next(value for name, value in client.cookies.items() if "device" in name)
    monkeypatch.setattr(audit, "MAX_FAILURES", 0)
    for number in range(20):
        audit.note_failure(hosted.engine, audit.SIGN_IN_FAILED, None, f"198.51.100.{number}")
    found = audit.entries(hosted.engine, most=10_000)
    text = repr(found)
    for secret in (typed, PASSWORD, codes[0], "123456", SECRET, device):
        assert secret not in text
    unknown = [entry for entry in found if entry.action == audit.SIGN_IN_FAILED and entry.subject_id == ""]
    assert {entry.details["times"] for entry in unknown} == {30, 20}
