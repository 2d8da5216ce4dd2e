"""The second factor, one-time passwords, sessions, export, deletion and the audit log over HTTP."""

import json
import time
from collections.abc import Iterator

import pytest
from httpx import Client, Response
from sqlalchemy import text

from ludodrome.store import accounts, audit
from ludodrome.web import auth
from tests.web.hosting import PASSWORD, Hosted, hosting

API = "/api/v1"
RFC_SECRET = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
"""The secret of RFC 6238, "12345678901234567890" in base32."""
RFC_VECTORS = [
    (59, "94287082"),
    (1111111109, "07081804"),
    (1111111111, "14050471"),
    (1234567890, "89005924"),
    (2000000000, "69279037"),
    (20000000000, "65353130"),
]


@pytest.fixture(scope="module")
def hosted() -> Iterator[Hosted]:
    with hosting() as running:
        yield running


@pytest.mark.parametrize(("seconds", "code"), RFC_VECTORS)
def test_the_vectors_of_rfc_6238(seconds: int, code: str) -> None:
    assert auth.totp(RFC_SECRET, seconds // 30, 8) == code
    assert auth.totp(RFC_SECRET, seconds // 30) == code[-6:]
    assert auth.matching_step(RFC_SECRET, code[-6:], seconds) == seconds // 30
    assert auth.matching_step(RFC_SECRET, f" {code[2:5]} {code[5:]} ", seconds) == seconds // 30


def test_a_code_is_valid_for_one_step_either_way() -> None:
    moment = 1111111109
    code = auth.totp(RFC_SECRET, moment // 30)
    valid = [auth.matching_step(RFC_SECRET, code, moment + 30 * steps) is not None for steps in range(-3, 4)]
    assert valid == [False, False, True, True, True, False, False]
    for wrong in ("", "1", "12345", "1234567", "abcdef", "١٢٣٤٥٦", "\ud800"):
        assert auth.matching_step(RFC_SECRET, wrong.encode("utf-8", "replace").decode(), moment) is None


def test_recovery_codes() -> None:
    codes = auth.new_recovery_codes()
    assert len(set(codes)) == auth.RECOVERY_CODES == 10
    assert all(len(code) == 19 for code in codes)
    assert auth.read_recovery_code(f"  {codes[0].upper().replace('-', ' ')} ") == codes[0]


def _delete(client: Client, path: str, **body: str) -> Response:
    return client.request("DELETE", f"{API}{path}", json=body)


def test_turning_it_on_and_off(hosted: Hosted) -> None:
    path = f"{API}/account/second-factor"
    with hosted.client("Curie") as client, hosted.client() as other:
        assert client.get(path).json() == {"on": False, "since": None, "recovery_codes": 0}
        assert client.post(f"{path}/confirm", json={"code": "123456"}).status_code == 409
        assert client.post(path, json={"password": "a wrong password"}).status_code == 403
        begun = client.post(path, json={"password": PASSWORD})
        assert begun.status_code == 201
        secret = begun.json()["secret"]
        assert begun.json()["link"] == f"otpauth://totp/Ludodrome:Curie?secret={secret}&issuer=Ludodrome"
        assert not client.get(path).json()["on"]
        assert other.post(f"{API}/session", json={"name": "Curie", "password": PASSWORD}).status_code == 200
        assert client.post(f"{path}/confirm", json={"code": "000000"}).status_code == 403
        step = int(time.time()) // 30
        codes = client.post(f"{path}/confirm", json={"code": auth.totp(secret, step)}).json()["recovery_codes"]
        assert len(codes) == 10
        assert client.get(path).json()["recovery_codes"] == 10
        asked = other.post(f"{API}/session", json={"name": "Curie", "password": PASSWORD})
        assert (asked.status_code, asked.json()["second_factor"], asked.json()["new_password"]) == (401, True, False)
        assert asked.json()["error"] == "send the code of your second factor"
        shown = {"name": "Curie", "password": PASSWORD, "code": codes[3]}
        assert other.post(f"{API}/session", json=shown).status_code == 200
        assert other.get(path).json()["recovery_codes"] == 9
        assert _delete(client, "/account/second-factor", password=PASSWORD).status_code == 403
        assert _delete(client, "/account/second-factor", password=PASSWORD, code=codes[3]).status_code == 403
        code = auth.totp(secret, int(time.time()) // 30 + 1)
        assert _delete(client, "/account/second-factor", password=PASSWORD, code=code).status_code == 204
        assert other.post(f"{API}/session", json={"name": "Curie", "password": PASSWORD}).status_code == 200
    person = hosted.person("Curie").id
    actions = [one.action for one in audit.entries(hosted.engine, person)]
    for action in ("second-factor-on", "recovery-code-used", "code-failed", "second-factor-off"):
        assert action in actions


def test_a_one_time_password_is_replaced(hosted: Hosted) -> None:
    person = hosted.person("Noether")
    once, chosen = "one-time password", "chosen by its owner"
    accounts.set_password(hosted.engine, person.id, auth.hash_password(once), once=True)
    with hosted.client() as client:
        shown = {"name": "Noether", "password": once}
        asked = client.post(f"{API}/session", json=shown)
        assert (asked.status_code, asked.json()["new_password"]) == (401, True)
        assert accounts.sign_ins(hosted.engine, person.id) == []
        for wrong in ("short", once):
            assert client.post(f"{API}/session", json=shown | {"new_password": wrong}).status_code == 422
        assert client.post(f"{API}/session", json=shown | {"new_password": chosen}).status_code == 200
        assert client.get(f"{API}/account").json()["name"] == "Noether"
        assert client.post(f"{API}/session", json=shown).status_code == 401
        assert client.post(f"{API}/session", json=shown | {"password": chosen}).status_code == 200
        accounts.set_password(hosted.engine, person.id, auth.hash_password(once), once=True)
        with hosted.engine.begin() as connection:
            change = text("UPDATE accounts SET password_set = password_set - :age WHERE id = :id")
            connection.execute(change, {"age": accounts.ONCE_MS + 1000, "id": person.id})
        late = client.post(f"{API}/session", json=shown | {"new_password": chosen})
        assert (late.status_code, late.json()) == (401, {"error": "the name or the password is wrong"})


def test_sessions_are_ended_all_at_once(hosted: Hosted) -> None:
    with hosted.client("Meitner") as client, hosted.client("Meitner") as other, hosted.client() as real:
        shown = {"name": "Meitner", "password": PASSWORD}
        assert real.post(f"{API}/session", json=shown).status_code == 200
        listed = real.get(f"{API}/account/sessions").json()
        assert [one["network"] for one in listed if one["current"]] == ["127.0.0.1"]
        assert len(listed) == 3
        assert real.delete(f"{API}/account/sessions").status_code == 204
        assert len(real.get(f"{API}/account/sessions").json()) == 1
        assert [one.get(f"{API}/account").json()["name"] for one in (client, other)] == ["guest"] * 2


def test_a_download_of_ones_data(hosted: Hosted) -> None:
    with hosted.client("Franklin") as client:
        wish = {"game": "dots", "options": {"rows": 1, "cols": 1}, "seats": ["person", "person"]}
        play = client.post(f"{API}/plays", json=wish).json()["id"]
        client.post(f"{API}/plays/{play}/resign", json={})
        answer = client.get(f"{API}/account/export")
        assert answer.headers["content-disposition"].startswith("attachment")
        found = json.loads(answer.text)
        assert found["account"]["name"] == "Franklin"
        assert [one["id"] for one in found["plays"]] == [play]
        assert found["plays"][0]["record"]["result"]
        assert "account-exported" in [one["action"] for one in found["audit"]]


def test_an_account_is_deleted_by_its_owner(hosted: Hosted) -> None:
    with hosted.client("Hopper") as client, hosted.client("Hopper") as elsewhere, hosted.client() as program:
        secret = client.post(f"{API}/tokens", json={"label": "x", "scopes": ["bots"]}).json()["secret"]
        program.headers["authorization"] = f"Bearer {secret}"
        wanted = {"game": "dots", "kind": "remote", "name": "Compiler"}
        bot = program.post(f"{API}/bots", json=wanted).json()
        wish = {"game": "dots", "options": {"rows": 1, "cols": 1}, "seats": ["person", "person"]}
        play = client.post(f"{API}/plays", json=wish).json()["id"]
        assert _delete(client, "/account", password="a wrong password").status_code == 403
        assert _delete(client, "/account", password=PASSWORD).status_code == 204
        assert [one.get(f"{API}/account").json()["account"] for one in (client, elsewhere)] == [None, None]
        assert program.get(f"{API}/account").status_code == 401
        shown = client.get(f"{API}/bots/{bot['id']}").json()
        assert (shown["owner"], shown["retired"], shown["name"]) == (None, True, "Compiler")
        assert client.get(f"{API}/plays/{play}").status_code == 200
        assert client.post(f"{API}/plays/{play}/resign", json={}).status_code == 403
        again = client.post(f"{API}/session", json={"name": "Hopper", "password": PASSWORD})
        assert (again.status_code, again.json()) == (401, {"error": "the name or the password is wrong"})


def test_the_audit_log_is_for_administrators(hosted: Hosted) -> None:
    with hosted.client("Chief") as chief, hosted.client("Turing") as client, hosted.client() as guest:
        guest.post(f"{API}/session", json={"name": "TURING", "password": "a wrong password"})
        client.post(f"{API}/tokens", json={"label": "laptop", "scopes": ["play"]})
        assert guest.get(f"{API}/audit").status_code == 401
        assert client.get(f"{API}/audit").status_code == 403
        assert client.get("/admin/audit").status_code == 403
        assert "Audit log" in chief.get("/admin/audit").text
        found = chief.get(f"{API}/audit", params={"account": "turing"}).json()
        assert [one["action"] for one in found] == ["token-made", "sign-in-failed", "sign-in", "sign-up"]
        assert found[0]["details"] == {"label": "laptop", "scopes": ["play"]}
        assert (found[1]["actor"], found[1]["address"]) == ("", "127.0.0.1")
        older = chief.get(f"{API}/audit", params={"account": "Turing", "before": found[1]["id"], "most": 1}).json()
        assert [one["id"] for one in older] == [found[2]["id"]]
        failed = chief.get(f"{API}/audit", params={"action": "sign-in-failed"}).json()
        assert {one["action"] for one in failed} == {"sign-in-failed"}
        assert chief.get(f"{API}/audit", params={"action": "nothing"}).status_code == 422


def test_on_ones_own_machine_there_is_nothing_to_delete(client: Client) -> None:
    assert _delete(client, "/account", password=PASSWORD).status_code == 409
    assert client.post(f"{API}/account/second-factor", json={"password": PASSWORD}).status_code == 409
    assert client.get(f"{API}/account/export").status_code == 200
    assert client.get("/admin/audit").status_code == 200
