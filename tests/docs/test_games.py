"""The five pages of games are alike, and what they say about the arena is what the arena does."""

import re

import pytest

import ludodrome
from ludodrome.arena.conditions import conditions
from ludodrome.arena.play_spec import PlaySpec
from ludodrome.arena.referee import Referee
from ludodrome.arena.seats import Answer
from ludodrome.web.routes.docs import find_page
from tests.arena.playing import expire
from tests.docs.markdown import DOCS, ROOT, headings

HEADINGS = [
    "In a nutshell",
    "The rules",
    "What the arena does",
    "Bots and strength",
    "What is known",
]
CASES = ("illegal move", "timeout", "turn limit", "draw")
GAMES = ludodrome.game_ids()
PAGES = {game: DOCS / "games" / f"{game}.md" for game in GAMES}


def _cases(game: str) -> dict[str, str]:
    part = PAGES[game].read_text("utf-8").partition("## What the arena does")[2].partition("\n## ")[0]
    return dict(re.findall(r"^\| ([a-z ]+) \| (.+) \|$", part, re.MULTILINE))


def _referee(game: str, **options: int) -> Referee:
    made = ludodrome.make(game, **options)
    bots = ("random",) * made.seats
    return Referee(PlaySpec(game, made.options, bots, bots, conditions(made), 1))


@pytest.mark.parametrize("game", GAMES)
def test_the_headings_are_the_same(game: str) -> None:
    assert headings(PAGES[game], 2) == HEADINGS


@pytest.mark.parametrize("game", GAMES)
def test_the_whole_rules_are_on_the_page_and_linked_on_a_forge(game: str) -> None:
    rules = ROOT / "src" / "ludodrome" / "games" / game / "RULES.md"
    assert f"](../../{rules.relative_to(ROOT)})\n" in PAGES[game].read_text("utf-8")
    page = find_page(f"games/{game}.md")
    assert page is not None
    shown = [section.title for section in page.sections]
    for rank in (2, 3):
        assert {title.replace("`", "") for title in headings(rules, rank)} <= set(shown)
    for number in re.findall(r"^\*\*R(\d+)\. ", rules.read_text("utf-8"), re.MULTILINE):
        assert f'<p id="R{number}">' in page.body
    assert f"../pictures/board-{game}.svg" in page.body
    assert "RULES.md" not in page.body
    assert "{include}" not in page.body


@pytest.mark.parametrize("game", GAMES)
def test_all_four_cases_are_described_and_the_policy_is_right(game: str) -> None:
    assert tuple(_cases(game))[1:] == CASES  # the first is the table's head
    assert f"The policy of {game} is `{ludodrome.make(game).policy}`." in PAGES[game].read_text("utf-8")


@pytest.mark.parametrize("game", ["skysummit", "caldera", "spaces"])
@pytest.mark.parametrize("cause", ["illegal", "timeout"])
def test_an_offender_loses_where_the_page_says_so(game: str, cause: str) -> None:
    referee = _referee(game)
    if cause == "illegal":
        referee.deliver(Answer(0.0, move={"no": "move"}))
    else:
        expire(referee, 60.0)
    assert referee.result is not None
    assert referee.result["winner"] == 1
    assert referee.result["rated"]
    assert referee.result["reason"] == f"seat 0 forfeits: {cause}"
    described = _cases(game)["illegal move" if cause == "illegal" else "timeout"]
    assert f"`{referee.result['reason']}`" in described


@pytest.mark.parametrize("cause", ["illegal", "timeout"])
def test_dots_draws_the_first_undrawn_edge(cause: str) -> None:
    referee = _referee("dots")
    if cause == "illegal":
        referee.deliver(Answer(0.0, move="nonsense"))
    else:
        expire(referee, 60.0)
    assert referee.result is None
    assert referee.turns[0]["move"] == {"orient": "H", "r": 0, "c": 0}
    assert referee.turns[0]["substituted"]
    assert referee.turn is not None
    assert referee.turn.seat == 1
    assert "first undrawn edge" in _cases("dots")["illegal move"]
    assert "first undrawn edge" in _cases("dots")["timeout"]


def test_santorini_asks_again_ten_times() -> None:
    referee = _referee("santorini")
    for _ in range(9):
        referee.deliver(Answer(0.0, move="nonsense"))
        assert referee.result is None
    referee.deliver(Answer(0.0, move="nonsense"))
    assert referee.result is not None
    assert referee.result["reason"] == "seat 0 forfeits: illegal"
    assert "the tenth illegal answer in a row loses" in _cases("santorini")["illegal move"]


def test_santorini_with_three_shares_the_first_place_after_a_timeout() -> None:
    referee = _referee("santorini", players=3)
    expire(referee, 60.0)
    assert referee.result is not None
    assert (referee.result["winner"], referee.result["returns"]) == (None, [-1, 0.5, 0.5])
    assert "returns -1, 0.5 and 0.5" in _cases("santorini")["timeout"]


@pytest.mark.parametrize("game", GAMES)
def test_turn_limits_are_described_where_there_are_any(game: str) -> None:
    limited = "turn_limit" in ludodrome.make(game).options
    described = _cases(game)["turn limit"]
    assert ("`turn_limit`" in described) == limited
    assert described.startswith("there is none") != limited


@pytest.mark.parametrize("game", ["skysummit", "caldera"])
def test_a_draw_at_the_limit_is_half_a_point_each(game: str) -> None:
    made = ludodrome.make(game, turn_limit=2)
    state = made.initial_state()
    for _ in range(2):
        state = made.apply(state, made.legal_moves(state)[0])
    outcome = made.outcome(state)
    assert outcome is not None
    assert (outcome.winner, outcome.reason) == (None, "turn limit: draw")
    assert (outcome.scores, outcome.returns) == ([0.5, 0.5], [0, 0])
    assert "scores 0.5 and 0.5, returns 0 and 0" in _cases(game)["draw"]
