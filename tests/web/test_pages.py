"""Every page: there, light, made of our own parts alone."""

import gzip
import re

import pytest
from httpx import Client

import ludodrome
from ludodrome.games import GAMES as ROOMS
from ludodrome.web.routes.pages import rules, showcase

WEIGHT, SENT = 184 * 1024, 60 * 1024
"""Bytes of a page with all it loads, at most: unpacked, and compressed as they are sent."""
GAMES = ludodrome.game_ids()
TABS = ("", "/arena", "/bots/new", "/leaderboard", "/analysis", "/puzzles", "/puzzles/1", "/rules", "/learn")
PATHS = [*(f"/{game}{tab}" for game in GAMES for tab in TABS), "/replay", "/account", "/join/nothing"]
IMPORT = re.compile(r"""(?:from|import)\s*\(?\s*["']([^"']+\.js)["']""")


def _parts(client: Client, path: str) -> dict[str, bytes]:
    """The page and everything it loads, unpacked."""
    game = path.split("/")[1]
    page = client.get(path)
    assert page.status_code == 200
    parts = {path: page.content}
    waiting = re.findall(r'(?:href|src)="(/static/[^"]+)"', page.text)
    waiting += [f"/static/boards/{game}.js"] if game in GAMES else []
    while waiting:
        name = waiting.pop()
        if name in parts:
            continue
        answer = client.get(name)
        assert answer.status_code == 200, name
        parts[name] = answer.content
        folder = name.rpartition("/")[0]
        for found in IMPORT.findall(answer.text) if name.endswith(".js") else ():
            waiting.append(f"{folder}/{found}".replace("/boards/../", "/").replace("/./", "/"))
    return parts


@pytest.mark.parametrize("path", PATHS)
def test_a_page_is_light_and_loads_nothing_from_elsewhere(client: Client, path: str) -> None:
    parts = _parts(client, path)
    assert sum(map(len, parts.values())) < WEIGHT
    assert sum(len(gzip.compress(content)) for content in parts.values()) < SENT
    for name, content in parts.items():
        foreign = re.findall(rb"https?://[^\s\"'<]+", content)
        assert set(foreign) <= {b"http://www.w3.org/2000/svg"}, name
    page = parts[path].decode()
    assert not re.search(r"\son\w+=|\sstyle=|<script>|javascript:", page)


@pytest.mark.parametrize("game", GAMES)
def test_a_first_visit_finds_a_game_in_progress(client: Client, game: str) -> None:
    shown = showcase(game)
    made = ludodrome.make(game, **shown["options"])
    state = made.initial_state(shown["seed"])
    texts = []
    for move in shown["opening"]:
        texts.append(made.move_label(move, state))
        state = made.apply(state, move)
    assert state == shown["state"]
    assert texts == shown["texts"]
    assert made.to_move(state) == shown["seats"].index("person")


@pytest.mark.parametrize("path", ["/chess", "/skysummit/plays/none", "/dots/puzzles/9999", "/chess/rules", "/a/b/c"])
def test_what_is_not_there_has_a_page_that_says_so(client: Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert "<h1>Page not found</h1>" in answer.text


@pytest.mark.parametrize("game", GAMES)
def test_the_rules_are_whole_and_their_diagrams_are_positions(game: str) -> None:
    book = rules(game)
    text = "".join(chapter.figures + chapter.body for chapter in (*book.people, *book.programs))
    source = ROOMS[game].rules()
    for number in re.findall(r"^\*\*R(\d+)\.", source, re.MULTILINE):
        assert f'<p id="R{number}">' in text
    assert text.count('<figure class="diagram') == len(ludodrome.make(game).diagrams) > 0
    assert 'class="diagram"' in book.people[0].figures, "the first chapter has something to play on"
    assert "<pre" not in "".join(chapter.body for chapter in book.people)
    for diagram in ludodrome.make(game).diagrams:
        made = ludodrome.make(game, **diagram.options)
        state = made.parse_state(diagram.position) if diagram.position else made.initial_state()
        assert made.to_move(state) is not None


def test_markup_in_names_stays_text(client: Client) -> None:
    answer = client.get("/<script>alert(1)</script>")
    assert answer.status_code == 404
    assert "<script>alert" not in answer.text
