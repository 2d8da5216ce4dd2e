"""Puzzles over the API."""

from typing import Any

import pytest
from httpx import Client

import ludodrome
from tests.web.walking import API


def _begin(client: Client, game: str, number: int = 1) -> Any:
    answer = client.post(f"{API}/puzzles/{game}/{number}/attempts")
    assert answer.status_code == 201, answer.text
    return answer.json()


@pytest.mark.parametrize("game", ludodrome.game_ids())
def test_a_puzzle_is_solved_by_its_solution(client: Client, game: str) -> None:
    puzzle = ludodrome.puzzles(game)[0]
    attempt = _begin(client, game)
    made = puzzle.game()
    move = made.parse_move(puzzle.solution, puzzle.state())
    answer = client.post(f"{API}/attempts/{attempt['id']}/moves", json={"move": move}).json()
    assert answer["judgement"]["right"]
    assert answer["solved"]
    assert answer["steps"][0]["move"] == move
    assert client.get(f"{API}/puzzles/{game}").json()[0]["solved"]
    assert 'class="done"' in client.get(f"/{game}/puzzles").text
    again = client.post(f"{API}/attempts/{attempt['id']}/moves", json={"move": move})
    assert again.status_code == 422


def test_a_wrong_move_is_reported_and_a_shown_solution_does_not_count(client: Client) -> None:
    puzzle = ludodrome.puzzles("skysummit")[0]
    attempt = _begin(client, "skysummit")
    made = puzzle.game()
    right = made.parse_move(puzzle.solution, puzzle.state())
    wrong = next(move for move in attempt["position"]["legal"] if move != right)
    answer = client.post(f"{API}/attempts/{attempt['id']}/moves", json={"move": wrong}).json()
    assert not answer["judgement"]["right"]
    assert answer["position"] == attempt["position"]
    assert client.post(f"{API}/attempts/{attempt['id']}/hint").json()["hint"]
    assert client.post(f"{API}/attempts/{attempt['id']}/solution").json()["solution"] == made.move_label(
        right, puzzle.state()
    )
    assert client.post(f"{API}/attempts/{attempt['id']}/moves", json={"move": right}).json()["solved"]
    assert not client.get(f"{API}/puzzles/skysummit").json()[0]["solved"]


def test_what_is_not_there_is_said(client: Client) -> None:
    assert client.post(f"{API}/puzzles/dots/9999/attempts").status_code == 404
    assert client.post(f"{API}/attempts/nobody/hint").status_code == 404
    assert client.get(f"{API}/puzzles/chess").status_code == 422
