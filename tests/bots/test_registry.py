"""Specs: what is right is made, what is wrong gets a sentence that lists what would be right."""

from typing import Any

import pytest

import ludodrome
from ludodrome.bots import baselines, player, registry
from ludodrome.bots.player import legal_actions
from ludodrome.bots.registry import BOT_KINDS, bot_names, parse_params

LEVELS = [f"level:{k}" for k in range(1, 9)]


@pytest.mark.parametrize(
    ("game_id", "others"),
    [
        ("dots", ["chains", "alphabeta", "mcts"]),
        ("skysummit", ["alphabeta", "mcts"]),
        ("spaces", []),
    ],
)
def test_names_of_a_game(game_id: str, others: list[str]) -> None:
    names = ["random", "greedy", *others, "expert", *LEVELS]
    assert ludodrome.bot_names(game_id) == names
    assert bot_names(ludodrome.make(game_id)) == names


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ("alphabeta", {}),
        ("alphabeta:depth=6", {"depth": 6}),
        ("alphabeta:nodes=100000,time=0.5,noise=30", {"nodes": 100000, "time": 0.5, "noise": 30}),
        ("alphabeta:time=2", {"time": 2.0}),
        ("mcts:sims=5000", {"sims": 5000}),
        ("expert:time=1,three=mcts", {"time": 1.0, "three": "mcts"}),
        ("level:8", {"level": 8}),
    ],
)
def test_parameters_are_read(spec: str, wanted: dict[str, object]) -> None:
    name, colon, rest = spec.partition(":")
    assert parse_params(BOT_KINDS[name], rest if colon else None) == wanted


PARAMETERS_OF_ALPHABETA = "depth=6, nodes=100000, time=0.5, noise=30, threads=2 and network=none"
BOTS_OF_DOTS = (
    "the bots of dots are random, greedy, chains, alphabeta, mcts, expert, level:1 to level:8 and py:FILE.py:NAME"
)


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("", f"there is no bot ''; {BOTS_OF_DOTS}"),
        ("Random", f"there is no bot 'Random'; {BOTS_OF_DOTS}"),
        ("depth=6", f"there is no bot 'depth=6'; {BOTS_OF_DOTS}"),
        ("random:", "random has no parameters: it is just 'random', not 'random:'"),
        ("random:seed=1", "random has no parameters: it is just 'random', not 'random:seed=1'"),
        (
            "alphabeta:",
            f"a parameter of alphabeta is set like {PARAMETERS_OF_ALPHABETA}, not ''",
        ),
        (
            "alphabeta:sims=5",
            f"alphabeta has no parameter 'sims'; its parameters are {PARAMETERS_OF_ALPHABETA}",
        ),
        (
            "alphabeta:depth=0",
            "the parameter depth of alphabeta is a whole number from 1 to 60, as in alphabeta:depth=6, not '0'",
        ),
        (
            "alphabeta:depth=2.0",
            "the parameter depth of alphabeta is a whole number from 1 to 60, as in alphabeta:depth=6, not '2.0'",
        ),
        (
            "mcts:time=nan",
            "the parameter time of mcts is a number from 0.005 to 86,400, as in mcts:time=0.5, not 'nan'",
        ),
        ("mcts:time=1,time=2", "the parameter time of mcts is set twice"),
        (
            "expert:three=max",
            "the parameter three of expert is maxn, paranoid or mcts, as in expert:three=mcts, not 'max'",
        ),
        ("level", "level is asked for like level:3, with a whole number from 1 to 8, not with ''"),
        ("level:9", "level is asked for like level:3, with a whole number from 1 to 8, not with '9'"),
        ("level:٣", "level is asked for like level:3, with a whole number from 1 to 8, not with '٣'"),
        ("x" * 5000, "a bot is named by a string like 'random', not by a text of 5000 characters"),
    ],
)
def test_what_is_wrong_is_said(spec: str, sentence: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        ludodrome.bot(spec, "dots")
    assert str(caught.value) == sentence


@pytest.mark.parametrize("spec", [None, 3, ["random"]])
def test_a_spec_is_a_text(spec: object) -> None:
    with pytest.raises(ValueError, match="a bot is named by a string like 'random', not by "):
        ludodrome.bot(spec, "dots")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("spec", "game_id", "sentence"),
    [
        (
            "chains",
            "skysummit",
            "there is no bot 'chains'; the bots of skysummit are ",
        ),
        ("alphabeta:depth=2", "spaces", "alphabeta cannot play spaces: it searches move by move, and a move here is "),
        ("mcts", "spaces", "mcts cannot play spaces: it searches move by move, and a move here is a whole board; "),
    ],
)
def test_bots_that_a_game_has_not(spec: str, game_id: str, sentence: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        ludodrome.bot(spec, game_id)
    assert str(caught.value).startswith(sentence)
    assert str(caught.value).endswith(", expert, level:1 to level:8 and py:FILE.py:NAME")


@pytest.mark.parametrize("seed", [True, 1.0, "1", None])
def test_a_seed_is_a_whole_number(seed: object) -> None:
    with pytest.raises(ValueError, match="a seed is a whole number"):
        ludodrome.bot("random", "dots", seed)  # type: ignore[arg-type]


def test_every_parameter_reads_its_own_example_and_its_bounds() -> None:
    for kind in BOT_KINDS.values():
        for param in kind.params:
            assert str(param.read(param.example, kind.name)) == param.example
            for text in param.words or (f"{param.low:g}", f"{int(param.high)}"):
                assert param.read(text, kind.name) == (text if param.words else float(text))


def test_a_parameter_of_words() -> None:
    assert registry.THREE.read("paranoid", "expert") == "paranoid"


def test_a_bot_is_warmed_up_once_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    moves: list[int] = []

    def counted(self: baselines.RandomBot, *position: Any) -> int:
        moves.append(self.seed)
        return self.rng.choice(legal_actions(self.game, position[0]))

    monkeypatch.setattr(baselines.RandomBot, "action", counted)
    monkeypatch.setattr(registry, "_warmed_up", set())
    for seed in range(5):
        ludodrome.bot("random", "dots", seed)
    assert moves == [0] * player.WARM_UP_MOVES
    ludodrome.bot("random", ludodrome.make("dots", rows=2), 7)
    assert moves == [0] * player.WARM_UP_MOVES + [7] * player.WARM_UP_MOVES


@pytest.mark.parametrize(("spec", "game_id"), [("random", "dots"), ("expert:nodes=500", "spaces"), ("mcts", "dots")])
def test_a_bot_that_was_not_warmed_up_plays_as_one_that_was(
    spec: str, game_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "_warmed_up", set())
    game = ludodrome.make(game_id)
    first, second = (ludodrome.bot(spec, game, 3) for _ in range(2))
    state = game.initial_state()
    assert first.choose(state) == second.choose(state)
