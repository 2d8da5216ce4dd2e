"""Signing up, in and out; passwords, sessions, tokens; what nobody may."""

from unittest.mock import patch

import pytest
from argon2 import PasswordHasher
from httpx import Client

import ludodrome
from ludodrome.store import accounts
from ludodrome.web import auth
from ludodrome.web.auth import COOKIE, SECURE_COOKIE
from tests.web.hosting import PASSWORD, Hosted

API = "/api/v1"


def _who(client: Client) -> str:
    return str(client.get(f"{API}/account").json()["name"])


def test_from_sign_up_to_sign_out(hosted: Hosted) -> None:
    with hosted.client() as client:
        assert _who(client) == "guest"
        made = client.post(f"{API}/accounts", json={"name": "Zoé", "password": PASSWORD})
        assert made.status_code == 201
        assert made.json()["scopes"] == ["account", "bots", "play"]
        cookie = made.headers["set-cookie"]
        assert cookie.startswith(f"{COOKIE}=")
        assert "HttpOnly" in cookie
        assert "SameSite=lax" in cookie
        assert "Secure" not in cookie
        assert _who(client) == "Zoé"
        assert client.delete(f"{API}/session").status_code == 204
        assert _who(client) == "guest"
        again = client.post(f"{API}/session", json={"name": "ZOÉ", "password": PASSWORD})
        assert (again.status_code, again.json()["name"]) == (200, "Zoé")


@pytest.mark.parametrize(
    ("name", "password", "sentence"),
    [
        ("Ada <b>", PASSWORD, "a name consists of letters"),
        ("admin", PASSWORD, "is reserved"),
        ("Ada", "short", "10 to 1000 characters"),
        ("Ada", "aaaaaaaaaaaaa", "different characters"),
        ("Ada", "x" * 1001, "at most 1000"),
        ("Ada", "correct\0horse battery", "no NUL character"),
        ("Ada", "\ud800" + PASSWORD, "password"),
        ("\ud800da", PASSWORD, "name"),
    ],
)
def test_what_cannot_be_an_account(hosted: Hosted, name: str, password: str, sentence: str) -> None:
    with hosted.client() as client:
        body = f'{{"name": "{_escaped(name)}", "password": "{_escaped(password)}"}}'
        answer = client.post(f"{API}/accounts", content=body, headers={"content-type": "application/json"})
        assert answer.status_code == 422
        assert sentence in answer.json()["error"]
        assert "set-cookie" not in answer.headers


def _escaped(text: str) -> str:
    return "".join(sign if sign.isascii() and sign.isprintable() else f"\\u{ord(sign):04x}" for sign in text)


def test_names_are_nobody_elses(hosted: Hosted) -> None:
    hosted.person("Borges")
    with hosted.client() as client:
        answer = client.post(f"{API}/accounts", json={"name": "BORGES", "password": PASSWORD})
        assert (answer.status_code, answer.json()) == (422, {"error": "the name BORGES is taken"})


def test_a_refused_sign_in_gives_no_reason(hosted: Hosted) -> None:
    hosted.person("Calvino")
    with hosted.client() as client:
        for name in ("Calvino", "nobody at all", "\x00", "local", "x" * 150):
            answer = client.post(f"{API}/session", json={"name": name, "password": "a wrong password"})
            assert (answer.status_code, answer.json()) == (401, {"error": "the name or the password is wrong"})


def test_a_session_never_becomes_somebody_elses(hosted: Hosted) -> None:
    hosted.person("Dante")
    with hosted.client("Dante") as client:
        before = client.cookies[COOKIE]
        client.post(f"{API}/session", json={"name": "Dante", "password": PASSWORD})
        assert client.cookies[COOKIE] != before
        assert accounts.session_of(hosted.engine, before) is None


def test_another_password_ends_all_sessions(hosted: Hosted) -> None:
    other = "quite another password"
    with hosted.client("Eco") as client, hosted.client("Eco") as elsewhere:
        path = f"{API}/account/password"
        assert client.post(path, json={"old": "a wrong password", "new": other}).status_code == 403
        assert client.post(path, json={"old": PASSWORD, "new": "short"}).status_code == 422
        assert _who(elsewhere) == "Eco"
        assert client.post(path, json={"old": PASSWORD, "new": other}).status_code == 200
        assert (_who(client), _who(elsewhere)) == ("Eco", "guest")
    with hosted.client() as client:
        for password, status in ((PASSWORD, 401), (other, 200)):
            assert client.post(f"{API}/session", json={"name": "Eco", "password": password}).status_code == status


def test_sessions_are_listed_and_ended(hosted: Hosted) -> None:
    with hosted.client("Frisch") as client, hosted.client("Frisch") as elsewhere, hosted.client("Goethe") as stranger:
        found = client.get(f"{API}/account/sessions").json()
        assert sorted(one["current"] for one in found) == [False, True]
        (other,) = (one["id"] for one in found if not one["current"])
        assert stranger.delete(f"{API}/account/sessions/{other}").status_code == 404
        assert client.delete(f"{API}/account/sessions/{other}").status_code == 204
        assert _who(elsewhere) == "guest"
        assert _who(client) == "Frisch"


def test_tokens(hosted: Hosted) -> None:
    with hosted.client("Hesse") as client, hosted.client() as program, hosted.client("Ibsen") as stranger:
        made = client.post(f"{API}/tokens", json={"label": "laptop", "scopes": ["play"]}).json()
        assert "secret" not in client.get(f"{API}/tokens").json()[0]
        program.headers["authorization"] = f"Bearer {made['secret']}"
        assert _who(program) == "Hesse"
        assert client.get(f"{API}/tokens").json()[0]["used"] is not None
        for method, path in (("GET", "/tokens"), ("GET", "/account/sessions"), ("POST", "/accounts/x/ban")):
            assert program.request(method, f"{API}{path}").status_code == 403
        assert client.post(f"{API}/tokens", json={"label": "x", "scopes": ["admin"]}).status_code == 422
        assert client.post(f"{API}/tokens", json={"label": "x", "scopes": ["account"]}).status_code == 422
        assert client.post(f"{API}/tokens", json={"label": "x", "scopes": []}).status_code == 422
        assert stranger.delete(f"{API}/tokens/{made['id']}").status_code == 404
        assert client.delete(f"{API}/tokens/{made['id']}").status_code == 204
        assert program.get(f"{API}/account").status_code == 401
        program.headers["authorization"] = "Basic YTpi"
        assert program.get(f"{API}/account").status_code == 401


def test_a_token_that_is_shown_counts_and_no_cookie(hosted: Hosted) -> None:
    with hosted.client("Joyce") as client:
        client.headers["authorization"] = "Bearer lud_nothing"
        assert client.get(f"{API}/account").status_code == 401


def test_the_banned_are_out(hosted: Hosted) -> None:
    person = hosted.person("Kafka")
    with hosted.client("Kafka") as client, hosted.client("Chief") as chief, hosted.client() as program:
        made = client.post(f"{API}/tokens", json={"label": "laptop", "scopes": ["play"]}).json()
        program.headers["authorization"] = f"Bearer {made['secret']}"
        assert client.post(f"{API}/accounts/{person.id}/ban").status_code == 403
        assert chief.post(f"{API}/accounts/{person.id}/ban").status_code == 204
        assert _who(client) == "guest"
        assert program.get(f"{API}/account").status_code == 401
        assert client.post(f"{API}/session", json={"name": "Kafka", "password": PASSWORD}).status_code == 403
        listed = {one["name"]: one["banned"] for one in chief.get(f"{API}/accounts").json()}
        assert listed["Kafka"]
        assert chief.post(f"{API}/accounts/{person.id}/unban").status_code == 204
        assert client.post(f"{API}/session", json={"name": "Kafka", "password": PASSWORD}).status_code == 200
        assert chief.post(f"{API}/accounts/nobody/ban").status_code == 404
        assert chief.post(f"{API}/accounts/local/ban").status_code == 422


def test_a_hash_is_hard_work() -> None:
    """At least what RFC 9106 asks of a machine with little memory."""
    hasher = PasswordHasher()
    assert (hasher.memory_cost, hasher.time_cost, hasher.parallelism) >= (65536, 3, 4)
    with patch.object(auth, "_hasher", hasher):
        made = auth.hash_password(PASSWORD)
        assert made.startswith("$argon2id$")
        assert auth.verify_password(PASSWORD, made)
        assert not auth.verify_password(PASSWORD + ".", made)
        assert not auth.verify_password(PASSWORD, "damaged")
        assert not auth.verify_password("the password of nobody", None)


def test_an_old_hash_is_made_anew(hosted: Hosted) -> None:
    weak = PasswordHasher(time_cost=1, memory_cost=64, parallelism=1).hash(PASSWORD)
    person = accounts.add_account(hosted.engine, "Lem", weak)
    with hosted.client() as client:
        assert client.post(f"{API}/session", json={"name": "Lem", "password": PASSWORD}).status_code == 200
    found = accounts.account_of(hosted.engine, person.id)
    assert found is not None
    assert found[1] not in (None, weak)


def test_on_ones_own_machine_nobody_signs_in(client: Client) -> None:
    assert client.get(f"{API}/account").json()["account"] == "local"
    for path in ("accounts", "session"):
        answer = client.post(f"{API}/{path}", json={"name": "Ada", "password": PASSWORD})
        assert answer.status_code == 409
        assert "this server has no accounts" in answer.json()["error"]
    made = client.post(f"{API}/tokens", json={"label": "my bot", "scopes": ["bots"]}).json()
    assert client.get(f"{API}/account", headers={"authorization": f"Bearer {made['secret']}"}).json()["scopes"] == [
        "bots"
    ]
    assert client.get("/account").status_code == 200
    assert client.get("/sign-in").url.path == "/account"


def test_over_https_the_cookie_is_the_hosts_alone() -> None:
    from tests.web.hosting import hosting

    forwarded = {"host": "play.example.org", "x-forwarded-proto": "https", "x-forwarded-for": "203.0.113.9"}
    with hosting(host_names=["play.example.org"], behind_proxy=True) as running, running.client() as client:
        client.headers.update(forwarded)
        origin = {"origin": "https://play.example.org"}
        made = client.post(f"{API}/accounts", json={"name": "Musil", "password": PASSWORD}, headers=origin)
        assert made.status_code == 201
        cookie = made.headers["set-cookie"]
        assert cookie.startswith(f"{SECURE_COOKIE}=")
        assert "Secure" in cookie
        assert "strict-transport-security" in made.headers
        secret = cookie.partition("=")[2].partition(";")[0]
        answer = client.get(f"{API}/account", headers={"cookie": f"{SECURE_COOKIE}={secret}"})
        assert answer.json()["name"] == "Musil"
        answer = client.get(f"{API}/account", headers={"cookie": f"{COOKIE}={secret}"})
        assert answer.json()["name"] == "guest"


def test_everybody_solves_puzzles_for_themselves(hosted: Hosted) -> None:
    puzzle = ludodrome.puzzles("dots")[0]
    move = puzzle.game().parse_move(puzzle.solution, puzzle.state())
    with hosted.client("Queneau") as client, hosted.client("Rilke") as other, hosted.client() as guest:
        for one in (client, guest):
            attempt = one.post(f"{API}/puzzles/dots/1/attempts").json()["id"]
            assert one.post(f"{API}/attempts/{attempt}/moves", json={"move": move}).json()["solved"]
        marked = [one.get(f"{API}/puzzles/dots").json()[0]["solved"] for one in (client, other, guest)]
        assert marked == [True, False, False]
        assert 'class="done"' in client.get("/dots/puzzles").text
        assert 'class="done"' not in other.get("/dots/puzzles").text
