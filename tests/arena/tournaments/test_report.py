"""Tables and the page of a tournament."""

import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest

from ludodrome.arena.matches.workers import LocalWorkers
from ludodrome.arena.tournaments.report import csv_table, standings, text_table
from ludodrome.arena.tournaments.report_page import Scale, length_plot, page, rating_plot, share_bars, steps
from ludodrome.arena.tournaments.tournament import Counted, Strength, Tournament, strengths
from tests.arena import quick
from tests.arena.tournaments.test_rounds import SKY, outcome, stronger

pytestmark = pytest.mark.xdist_group("dots")

NASTY = '<b>"it" & co</b>'


class Pages(HTMLParser):
    """Checks that what is opened is closed, and collects attributes and words."""

    VOID = ("meta",)

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] not in (["style"], ["script"]):
            self.words.append(data)


def made_up(path: Path, **changed: object) -> Tournament:
    """A tournament whose results are made up: the bot entered earlier wins."""
    bots = [{"bot": "random", "name": NASTY}, "greedy", "level:1", "level:2"]
    plan = quick.plan(**({"bots": bots, "games": [quick.DOTS, SKY], "pairs": 2, "name": NASTY} | changed))
    found = quick.tournament(path, plan)
    judge = stronger(plan)
    while pairing := found.next():
        found.take(pairing, outcome(pairing, judge(pairing)))
    return found


def test_standings_are_in_order(tmp_path: Path) -> None:
    lines = standings(made_up(tmp_path / "t.sqlite"))
    assert [line.name for line in lines] == [NASTY, "greedy", "level:1", "level:2"]
    assert [line.place for line in lines] == [1, 2, 3, 4]
    assert [line.points for line in lines] == [24, 16, 8, 0]
    assert all(line.rating is not None for line in lines)
    ratings = [line.rating.rating for line in lines if line.rating is not None]
    assert ratings == sorted(ratings, reverse=True)


def test_a_knockout_is_ordered_by_rounds(tmp_path: Path) -> None:
    found = made_up(tmp_path / "t.sqlite", format="knockout")
    assert [line.note for line in standings(found)] == ["winner", "out in round 2", "out in round 1", "out in round 1"]


def test_the_text_table(tmp_path: Path) -> None:
    lines = text_table(made_up(tmp_path / "t.sqlite"), "skysummit")
    assert lines[0].split() == ["bot", "games", "points", "rating", "(95", "%)", "1", "2", "3", "4"]
    assert lines[2].split()[:4] == ["2", "greedy", "12", "8"]
    assert lines[2].split()[-4:] == ["0/4", "·", "4/4", "4/4"]


def test_the_csv_table(tmp_path: Path) -> None:
    lines = csv_table(made_up(tmp_path / "t.sqlite")).splitlines()
    assert len(lines) == 1 + 3 * 4
    assert [line.split(",")[0] for line in lines[1::4]] == ["all", "dots", "skysummit"]
    assert lines[2].startswith("all,2,greedy,24,16,0,8,16,")


@pytest.mark.parametrize("kind", ["round-robin", "swiss"])
def test_the_page_stands_alone_and_is_well_formed(tmp_path: Path, kind: str) -> None:
    text = page(made_up(tmp_path / "t.sqlite", format=kind))
    found = Pages(text)
    assert not {name for name, _ in found.attributes} & {"src", "href", "xlink:href", "srcset", "onclick"}
    assert not re.search(r"https?:|//[a-z]|url\(|@import", text.replace("// Tables", ""))
    assert "prefers-color-scheme: dark" in text
    assert NASTY not in text
    assert any(NASTY in words for words in found.words)
    for heading in ("Standings", "Ratings", "Scores", "Scores in dots", "How games ended", "How long they were"):
        assert heading in found.words


def test_the_page_of_what_has_not_begun(tmp_path: Path) -> None:
    empty = quick.tournament(tmp_path / "t.sqlite", quick.plan())
    words = Pages(page(empty)).words
    assert "No game that counts is over yet." in words
    assert "0 of 6 games, unfinished" in " ".join(words)
    assert len(text_table(empty)) == 4
    assert [line.rating for line in standings(empty)] == [None] * 3


def test_the_page_of_what_was_played(tmp_path: Path) -> None:
    played = quick.tournament(tmp_path / "t.sqlite", quick.plan(pairs=2))
    played.play(LocalWorkers(2))
    assert "12 of 12 games, finished" in " ".join(Pages(page(played)).words)


@pytest.mark.parametrize(("low", "high"), [(-500, 700), (-3, 4), (0.0, 0.0), (-20_000, 20_000), (17, 18)])
def test_steps_are_round_and_inside(low: float, high: float) -> None:
    found = steps(low, high)
    assert all(low <= step <= high for step in found)
    assert len(found) <= 11
    assert len(found) >= (1 if high > low else 0)


def test_plots_hold_their_numbers() -> None:
    plot = rating_plot([("a", Strength(100, 50, 150)), ("b", Strength(-100, -150, -50))])
    Pages(plot)
    assert plot.count("<circle") == 2
    assert "+100 (+50 to +150)" in plot
    assert (Scale(0, 10).across(0), Scale(0, 10).across(10)) == ("4.00%", "96.00%")
    bars = share_bars([("reached level 3", 3), ("none", 1)])
    Pages(bars)
    assert "75.0%" in bars


@pytest.mark.parametrize("lengths", [{7: 3}, {1: 1, 1000: 5}, dict.fromkeys(range(10, 200, 3), 1)])
def test_lengths_are_all_in_some_bar(lengths: dict[int, int]) -> None:
    plot = length_plot(Counter(lengths))
    Pages(plot)
    counts = [int(count.replace(",", "")) for count in re.findall(r": ([\d,]+) games</title>", plot)]
    assert sum(counts) == sum(lengths.values())
    assert len(counts) <= 40


def test_games_of_two_and_of_three_seats_are_not_mixed() -> None:
    two: Counted = Counter({(("a", "b"), (1.0, -1.0)): 2, (("b", "a"), (1.0, -1.0)): 1})
    three: Counted = Counter({(("a", "b", "c"), (1.0, -0.5, -0.5)): 2})
    assert set(strengths([two, three]).ratings) == {"a", "b"}
    assert set(strengths([three]).ratings) == {"a", "b", "c"}
    assert strengths([two, three]).ratings == strengths([two]).ratings
    assert strengths([]) == ({}, [])
