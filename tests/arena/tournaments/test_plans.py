"""Plans of tournaments: reading them, and what is said about wrong ones."""

import json
from pathlib import Path
from typing import Any

import pytest

from ludodrome.arena.tournaments.plans import TournamentPlan, make_plan, read_plan
from ludodrome.arena.tournaments.rounds import rounds_of
from tests.arena import quick

pytestmark = pytest.mark.xdist_group("dots")

PLAN = """
format = "gauntlet"
pairs = 3
seed = 9
clock = "2s"
challengers = ["mine"]
home_and_away = true

[[games]]
id = "dots"
name = "small"
options = { rows = 2, cols = 2 }
clock = "nodes=50"

[[games]]
id = "skysummit"
policy = "substitute"

[[bots]]
bot = "greedy"
home = "small"

[[bots]]
name = "mine"
bot = { small = "chains", skysummit = "cmd:./mine --fast" }
home = "skysummit"
"""


def test_a_plan_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "spring.toml"
    path.write_text(PLAN)
    plan = read_plan(path)
    assert (plan.name, plan.format, plan.pairs, plan.seed, plan.challengers) == ("spring", "gauntlet", 3, 9, (1,))
    small, sky = plan.settings
    assert (small.game, small.options["rows"], str(small.conditions.clock)) == ("dots", 2, "nodes=50")
    assert (small.conditions.policy, sky.conditions.policy, str(sky.conditions.clock)) == (
        "substitute",
        "substitute",
        "2s",
    )
    assert plan.entrants[1].specs == {"small": "chains", "skysummit": "cmd:./mine --fast"}
    assert [entrant.home for entrant in plan.entrants] == ["small", "skysummit"]
    assert read_plan(path, {"pairs": 5, "name": "other"}).pairs == 5
    assert TournamentPlan.from_json(json.loads(json.dumps(plan.to_json()))) == plan


def test_a_short_plan() -> None:
    plan = make_plan({"games": ["skysummit"], "bots": ["greedy", "random"]})
    assert (plan.name, plan.format, plan.pairs, plan.openings) == ("tournament", "round-robin", 1, True)
    assert plan.seed_drawn
    assert plan.seed != make_plan({"games": ["skysummit"], "bots": ["greedy", "random"]}).seed
    assert plan.names == ["greedy", "random"]


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"round": 3}, "a plan has no 'round'; it has name, format, "),
        ({"format": "league"}, "the format is 'round-robin', 'gauntlet', 'swiss' or 'knockout', not 'league'"),
        ({"games": []}, "games is a list of game ids"),
        ({"games": ["chess"]}, "there is no game 'chess'"),
        ({"games": ["dots", "dots"]}, "two games are called dots"),
        ({"games": ["dots", {"id": "dots", "name": "again"}]}, "dots and again are the same game"),
        ({"games": [{"id": "dots", "rows": 3}]}, "a game of a plan has its id and may have name, options"),
        ({"games": [{"id": "dots", "options": 3}]}, "the options of a game are a table"),
        ({"games": [{"id": "dots", "options": {"rows": 99}}]}, "the option rows of dots"),
        ({"bots": ["greedy"]}, "from 2 to 1000 bots"),
        ({"bots": ["greedy", "greedy"]}, "two bots are called greedy; give one of them another name"),
        ({"bots": ["greedy", {"name": "x"}]}, "a bot of a plan has bot, its spec"),
        ({"bots": ["greedy", {"bot": {"dots": "chains"}}]}, "a bot with a spec for each game needs a name"),
        ({"bots": ["greedy", {"name": "x", "bot": {"sky": "greedy"}}]}, "x has specs for sky, and the games are dots"),
        ({"bots": ["greedy", {"bot": "random", "home": "sky"}]}, "the home of random is 'dots', not 'sky'"),
        ({"bots": ["greedy", "two\nlines"]}, "on one line"),
        ({"pairs": 0}, "pairs is a whole number from 1"),
        ({"pairs": True}, "pairs is a whole number from 1"),
        ({"seed": -1}, "the seed is a whole number from 0"),
        ({"clock": "soon"}, "'soon' is not a time"),
        ({"policy": "mercy"}, "a policy is forfeit"),
        ({"openings": 7}, "openings is true, false, or a file of openings, not 7"),
        ({"openings": "nowhere.txt"}, "the openings nowhere.txt cannot be read: No such file"),
        ({"games": [{"id": "dots", "openings": False}]}, "the openings of dots are a file, not false"),
        ({"home_and_away": True}, "every bot names its home game, and there is none for random, greedy and level:1"),
        ({"rounds": 3}, "rounds belongs to the format swiss, and this is round-robin"),
        ({"challengers": ["greedy"]}, "challengers belongs to the format gauntlet"),
        ({"format": "gauntlet", "challengers": ["me"]}, "a challenger is 'random', 'greedy' or 'level:1', not 'me'"),
        ({"format": "gauntlet", "challengers": quick.BOTS[:3]}, "needs a bot that is not a challenger"),
        ({"format": "swiss", "games": [{"id": "santorini", "options": {"players": 3}}]}, "has 3 seats: it can be"),
        (
            {"bots": ["random", "greedy"], "games": [{"id": "santorini", "options": {"players": 3}}]},
            "needs 3 bots, and there are 2",
        ),
    ],
)
def test_what_is_wrong_is_said(changed: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence.replace("(", r"\(")):
        quick.plan(**changed)


def test_what_is_wrong_in_a_file_is_said_with_its_name(tmp_path: Path) -> None:
    path = tmp_path / "spring.toml"
    with pytest.raises(ValueError, match=r"the plan .*spring.toml cannot be read: No such file"):
        read_plan(path)
    path.write_text("pairs = ")
    with pytest.raises(ValueError, match=r"the plan .*spring.toml cannot be read: Invalid value"):
        read_plan(path)
    path.write_text(f"pairs = {'[' * 5000}")
    with pytest.raises(ValueError, match=r"the plan .*spring.toml cannot be read: it is nested too deeply"):
        read_plan(path)
    path.write_text("pairs = 0")
    with pytest.raises(ValueError, match=r"the plan .*spring.toml: games is"):
        read_plan(path)


def test_plans_from_before_there_were_versions_keep_their_seeds() -> None:
    plan = make_plan({"games": ["dots"], "bots": ["greedy", "random"], "seed": 5})
    older = plan.to_json()
    del older["games"][0]["version"]
    read = TournamentPlan.from_json(older)
    assert [one.version for one in read.settings] == [1]
    assert [one.version for one in TournamentPlan.from_json(plan.to_json()).settings] == [2]
    pairing = rounds_of(read).next()
    assert pairing is not None
    assert pairing.play_spec(()).to_json()["seed"] == 5 << 32
