"""Who is who, in each mode; guests, and how often somebody may ask."""

import pytest
from fastapi import HTTPException
from httpx import Client
from starlette.requests import HTTPConnection

from ludodrome.web.auth import GUEST, is_local_request
from ludodrome.web.budgets import BUDGETS, MAX_KEYS, Allowance, Budgets, address_key, caller_keys
from tests.web.hosting import Hosted, hosting

API = "/api/v1"


def _from(address: str | None) -> HTTPConnection:
    return HTTPConnection({"type": "http", "client": (address, 1) if address else None, "headers": []})


@pytest.mark.parametrize(
    ("address", "here"),
    [("127.0.0.1", True), ("127.1.2.3", True), ("::1", True), ("192.168.1.5", False), (None, False), ("x", False)],
)
def test_who_sits_at_this_machine(address: str | None, here: bool) -> None:
    assert is_local_request(_from(address)) is here


def test_households() -> None:
    assert address_key("203.0.113.9") == address_key("::ffff:203.0.113.9") == "from 203.0.113.9"
    assert address_key("2001:db8:1:2:3:4:5:6") == address_key("2001:db8:1:2::9") == "from 2001:db8:1:2::"
    assert address_key("") == "from nowhere"
    assert address_key("pipe") == "from pipe"
    assert caller_keys(_from("203.0.113.9"), GUEST) == ["from 203.0.113.9"]
    assert caller_keys(_from(None), GUEST) == ["from nowhere"]


def test_a_bucket_leaks() -> None:
    clock = [0.0]
    limits = Budgets({"ask": Allowance(3, 30.0)}, lambda: clock[0])
    for _ in range(3):
        limits.take("ask", "a", "b")
    with pytest.raises(HTTPException) as refused:
        limits.take("ask", "c", "b")  # one key that is full is enough, and the other is not charged
    assert refused.value.status_code == 429
    assert refused.value.headers == {"retry-after": "10"}
    for _ in range(3):
        limits.take("ask", "c")
    clock[0] = 10.0
    limits.take("ask", "a")
    with pytest.raises(HTTPException):
        limits.take("ask", "a")


def test_buckets_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ludodrome.web.budgets.MAX_KEYS", 10)
    limits = Budgets({"ask": Allowance(1, 1e9)}, lambda: 0.0)
    for number in range(20):
        limits.take("ask", str(number))
    limits.take("ask", "0")
    with pytest.raises(HTTPException):
        limits.take("ask", "19")
    assert MAX_KEYS > 10


def test_guests_of_the_local_network() -> None:
    """Others may look and play by link; the owner's rights stay with the machine."""
    with hosting("lan", behind_proxy=True) as running, running.client() as owner, running.client() as guest:
        guest.headers["x-forwarded-for"] = "192.168.1.5"  # the only way to come from elsewhere, for a test
        assert owner.get(f"{API}/account").json()["account"] == "local"
        assert guest.get(f"{API}/account").json()["account"] is None
        wish = {"game": "dots", "seats": ["person", "friend"], "options": {"rows": 1, "cols": 1}}
        assert guest.post(f"{API}/plays", json=wish).status_code == 403
        begun = owner.post(f"{API}/plays", json=wish)
        assert begun.status_code == 201
        link = next(seat["link"] for seat in begun.json()["seats"] if seat.get("link"))
        joined = guest.post(f"{API}/joins/{link.rpartition('/')[2]}", json={})
        assert joined.status_code == 201
        assert guest.get("/skysummit").status_code == 200
        for method, path in (("GET", "/tokens"), ("POST", "/tokens"), ("GET", "/accounts"), ("POST", "/bots")):
            assert guest.request(method, f"{API}{path}").status_code == 401
        assert guest.get("/metrics").status_code == 401
        assert owner.get("/metrics").status_code == 200


@pytest.mark.parametrize(
    ("host", "status"),
    [("192.168.1.7:8008", 200), ("[fd00::1]:8008", 200), ("localhost", 200), ("example.org", 421), ("8.8.8.8", 421)],
)
def test_names_in_the_local_network(lan: Hosted, host: str, status: int) -> None:
    with lan.client() as client:
        assert client.get("/health", headers={"host": host}).status_code == status


@pytest.fixture(scope="module")
def lan() -> object:
    with hosting("lan") as running:
        yield running


def _small() -> dict[str, Allowance]:
    """Every rate is two an hour; what is open has no limit."""
    return {
        kind: Allowance(2, 3600.0) if one.seconds is not None else one._replace(amount=10**9)
        for kind, one in BUDGETS.items()
    }


def test_how_often_somebody_may_ask() -> None:
    with hosting() as running, running.client() as client:
        running.app.state.limits = Budgets(_small())
        wrong = {"name": "nobody", "password": "a wrong password"}
        statuses = [client.post(f"{API}/session", json=wrong) for _ in range(3)]
        assert [one.status_code for one in statuses] == [401, 401, 429]
        assert "try again in" in statuses[2].json()["error"]
        assert int(statuses[2].headers["retry-after"]) > 0
        running.app.state.limits = Budgets(_small())
        people = [{"name": f"Person {number}", "password": "x"} for number in range(3)]
        assert [client.post(f"{API}/accounts", json=one).status_code for one in people] == [422, 422, 429]
        asked = [client.post(f"{API}/analysis", json={}).status_code for _ in range(3)]
        assert asked == [422, 422, 429]
        assert [client.get(f"{API}/games").status_code for _ in range(3)] == [200, 200, 429]
        assert [client.post(f"{API}/spaces/boards", json={}).status_code for _ in range(3)] == [422, 422, 429]


def test_guessing_one_persons_password_from_many_places() -> None:
    with hosting(behind_proxy=True) as running, running.client() as client:
        running.app.state.limits = Budgets(_small())
        statuses = []
        for number in range(3):
            headers = {"x-forwarded-for": f"198.51.100.1, 203.0.113.{number}"}
            wrong = {"name": "Ada", "password": "a wrong password"}
            statuses.append(client.post(f"{API}/session", json=wrong, headers=headers).status_code)
        assert statuses == [401, 401, 429]


def test_without_a_proxy_nobody_says_who_they_are(lan: Hosted) -> None:
    with lan.client() as client:
        client.headers["x-forwarded-for"] = "127.0.0.1"
        assert client.get(f"{API}/account").json()["account"] is None  # somebody's proxy, whose clients are unknown
        client.headers["authorization"] = f"Bearer {lan.app.state.owner.token}"
        client.headers["x-forwarded-for"] = "192.168.1.5"
        assert client.get(f"{API}/account").json()["account"] == "local"


def test_sockets_of_other_sites_are_not_opened(client: Client) -> None:
    from websockets.exceptions import InvalidStatus
    from websockets.sync.client import connect

    begun = client.post(f"{API}/plays", json={"game": "dots", "seats": ["person", "person"]}).json()
    address = f"{str(client.base_url).rstrip('/')}{API}/plays/{begun['id']}/live".replace("http", "ws", 1)
    with connect(address) as socket:
        assert socket.recv()
    for headers in ({"Origin": "https://example.org"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}):
        with pytest.raises(InvalidStatus) as refused:
            connect(address, additional_headers=headers)
        assert refused.value.response.status_code == 403
