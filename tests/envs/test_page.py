"""docs/reference/envs.md names every environment, every plane and every style."""

import inspect
import re
from pathlib import Path

import pytest

import ludodrome
import ludodrome.envs
from tests.cases import CASES
from tests.envs.cases import PART

pytest.importorskip(PART)

from ludodrome.envs import GameEnv, GameVectorEnv
from ludodrome.games.spaces.environments import STYLES, Scenario

PAGE = (Path(__file__).parent.parent.parent / "docs" / "reference" / "envs.md").read_text("utf-8")

BETWEEN = "higher than [12]|other lancer [12]|other smith 1"
"""Planes that a line means with its "to"."""


@pytest.mark.parametrize("game_id", CASES)
def test_every_plane_has_its_line(game_id: str) -> None:
    (part,) = re.findall(rf"^### {game_id}: (.*?)(?=^##)", PAGE, re.MULTILINE | re.DOTALL)
    for options in CASES[game_id]:
        planes = ludodrome.make(game_id, **options).planes
        assert part.startswith(planes.dtype.__name__)
        for name in planes.names:
            general = re.sub(r"^\d+ before", "1 before", name)
            if not re.fullmatch(BETWEEN, name):
                assert f"`{general}`" in part, name


def test_every_environment_and_its_arguments_are_there() -> None:
    for name in (*CASES, *ludodrome.envs.SCENARIOS):
        assert f"`{ludodrome.envs.env_id(name)}`" in PAGE
    for kind in (GameEnv, GameVectorEnv, Scenario):
        for argument in inspect.signature(kind).parameters:
            assert argument in ("game", "options") or f"`{argument}`" in PAGE, argument


def test_every_style_and_every_observation_of_the_scenarios_is_there() -> None:
    for style in STYLES:
        assert f'`"{style}"`' in PAGE
    for key in ludodrome.envs.MetaGame()._spaces():
        assert f"`{key}`" in PAGE
