"""Playing over the API, for tests."""

from typing import Any

from httpx import Client

API = "/api/v1"


def begin(client: Client, game: str, seats: list[str], **wish: Any) -> Any:
    """A new game."""
    answer = client.post(f"{API}/plays", json={"game": game, "seats": seats, "seed": 7, **wish})
    assert answer.status_code == 201, answer.text
    return answer.json()


def settled(client: Client, view: Any) -> Any:
    """The game once no bot is thinking any more."""
    while view["thinking"] and view["result"] is None:
        view = client.get(f"{API}/plays/{view['id']}", params={"after": view["version"]}).json()
    return view


def move(client: Client, view: Any, raw: Any) -> Any:
    """A person's move, and what the bots answer."""
    answer = client.post(f"{API}/plays/{view['id']}/moves", json={"move": raw, "version": view["version"]})
    assert answer.status_code == 200, answer.text
    return settled(client, answer.json())


def some_move(client: Client, view: Any) -> Any:
    """A legal move: the middle one of the list, or a board laid step by step."""
    legal = view["position"]["legal"]
    if legal is not None:
        return legal[len(legal) // 2]
    state = view["position"]["state"]
    sequence: list[Any] = []
    while True:
        asked = {"size": state["size"], "rules": state["rules"], "sequence": sequence}
        answer = client.post(f"{API}/spaces/boards", json=asked).json()
        if answer["finished"]:
            return {"boardSize": state["size"], "sequence": sequence}
        steps = [step for step in answer["next"] if step["type"] != "trap"]
        sequence.append(min(steps, key=lambda step: step["position"]["row"]))


def play_out(client: Client, view: Any) -> Any:
    """The game at its end."""
    view = settled(client, view)
    while view["result"] is None:
        view = move(client, view, some_move(client, view))
    return view
