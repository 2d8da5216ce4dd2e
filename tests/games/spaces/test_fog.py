"""Fog (R26): of the other's earlier boards a seat sees visited squares and the steps of traps, and no more."""

import json
import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

import ludodrome
from ludodrome import BadState
from ludodrome.arena import records
from ludodrome.bots import bot
from ludodrome.envs.observations import new_observations
from ludodrome.games.spaces import display
from ludodrome.games.spaces.bots import read_view
from ludodrome.games.spaces.fog import guess_whole
from ludodrome.position import observed_states, seen_by
from tests.games.spaces import oracle
from tests.games.spaces.boards import board, lay, played
from tests.hostile import damaged

pytestmark = pytest.mark.xdist_group("spaces")

CODES = ("3:1:u6uf", "3:0:5uuf", "3:1:4uuf", "3:2:u4uf", "3:1:uuf")
"""Two rounds and the first board of a third: seats 0, 1, 1, 0, 0."""


def fog(**options: Any) -> ludodrome.Game:
    return ludodrome.make("spaces", **{"choice": "fog", "rules": "live", "rounds": 3, **options})


def test_r26_a_seat_sees_its_own_boards_and_the_others_in_fog() -> None:
    """Ruling: the cells visited before the round ended and the steps at which traps were set, not where."""
    game = fog()
    state = lay(game, *CODES)
    first, second = game.observation(state, 0)["history"]
    assert first["boards"] == [board("3:1:u6uf"), {"boardSize": 3, "visited": [[1, 2, 0], [3, 1, 0]], "traps": [2]}]
    assert (first["points"], first["ended"], first["steps"]) == ([3, 0], "goal", [5, 3])
    assert second["boards"][1] == {"boardSize": 3, "visited": [[1, 2, 1], [3, 1, 1]], "traps": [2]}
    other = game.observation(state, 1)["history"]
    assert other[0]["boards"][0]["visited"] == [[1, 2, 1], [2, 1, 1], [4, 0, 1], [5, -1, 1]]
    assert other[0]["boards"][1] == board("3:0:5uuf")
    public = game.observation(state)["history"]
    assert [public[0]["boards"][0], public[0]["boards"][1]] == [other[0]["boards"][0], first["boards"][1]]
    assert game.observation(state, 0)["chosen"] == board("3:1:uuf")
    assert game.observation(state, 1)["chosen"] is None
    assert game.observation(state)["chosen"] is None


def test_r26_everything_is_public_once_the_game_is_over() -> None:
    game = fog()
    state = lay(game, *CODES, "3:0:uuf")
    assert state["to_move"] is None
    for viewer in (0, 1, None):
        assert game.observation(state, viewer) == state
        assert not game.hides(state, viewer)


def test_r26_fog_has_no_effect_on_decks_and_none_on_the_rules() -> None:
    deck = ludodrome.make("spaces", mode="deck", choice="fog")
    assert not deck.hides_earlier_moves
    assert deck.has_hidden_information
    for choice in ("seen", "blind"):
        other = ludodrome.make("spaces", choice=choice, rules="live", rounds=3)
        assert lay(other, *CODES)["history"] == lay(fog(), *CODES)["history"]
        assert not other.hides_earlier_moves


def test_an_observation_in_fog_is_drawn_and_does_not_tell_places() -> None:
    game = fog()
    state = lay(game, *CODES)
    drawn = game.render_observation(game.observation(state, 1)).splitlines()
    assert drawn[0].startswith("earlier rounds in fog")
    assert drawn[1:] == [
        "round 1: 3:1:u?uf 3 : 0 3:0:5uuf (goal)",
        "round 2: 3:2:u?u 1 : 0 3:1:4uuf (trap)",
        "round 3 of 3, totals 4 : 0, seat 1 to lay; what the other seat has laid is face down",
    ]
    assert game.render_observation(game.observation(state)).splitlines()[1] == "round 1: 3:1:u?uf 3 : 0 3:0:?u (goal)"


@pytest.mark.parametrize("rules", ["written", "live"])
def test_positions_that_look_alike_are_the_same_in_every_form(rules: str) -> None:
    """Two matches that differ only in the places of the other's traps and in what came after the round."""
    game = fog(rules=rules, size=4, rounds=2)
    same = [["4:0:uuuf", "4:1:u5luuf"], ["4:0:uuuf", "4:1:u6luuf"], ["4:0:uuuf", "4:1:u4ruuf"]]
    states = [lay(game, *codes, "4:0:uuuf") for codes in same]
    seen = [game.observation(state, 0) for state in states]
    assert [one["history"][0]["ended"] for one in seen] == ["goal"] * 3
    assert seen[0] == seen[1] != seen[2]
    views = [seen_by(game, state, 0) for state in states[:2]]
    assert views[0].drawing() == views[1].drawing()
    assert views[0].states().tobytes() == views[1].states().tobytes()
    marks = [game.observation_marks(view.bare_state, view.states, []) for view in views]
    assert marks[0] == marks[1]
    assert marks[0]["round"]["fog"] == [False, True]
    bots = [bot("greedy", game, 7).choose(one) for one in seen[:2]]
    assert bots[0] == bots[1]


def _points(view: Any) -> list[tuple[int, int, int]]:
    """Points won or lost, by step and seat; a loss of nothing is not seen in the fog."""
    sums: Counter[tuple[int, int]] = Counter()
    for event in view["events"]:
        sums[event["step"], event["seat"]] += event["points"]
    return sorted((*place, points) for place, points in sums.items() if points)


@pytest.mark.parametrize("rules", ["written", "live"])
def test_a_round_in_fog_runs_as_the_round_did(rules: str) -> None:
    """Squares, points and traps of the view are those of the round, as far as they are seen."""
    rng = random.Random(3)
    for _ in range(150):
        size = rng.choice([2, 3, 4])
        pair = [oracle.random_legal(size, rules, rng) for _ in range(2)]
        game = fog(rules=rules, size=size, rounds=2)
        state = game.initial_state()
        for one in pair:
            state = game.apply(state, one)
        whole = display.round_view(pair, size, rules)
        for viewer in (0, 1, None):
            entry = game.observation(state, viewer)["history"][0]
            view = display.entry_view(entry, size, rules)
            assert view["fog"] == [seat != viewer for seat in (0, 1)]
            for key in ("points", "ended", "squares"):
                assert view[key] == whole[key]
            for seat in (0, 1):
                seen = whole["traps"][seat] if seat == viewer else [trap[:1] for trap in whole["traps"][seat]]
                assert view["traps"][seat] == seen
            assert _points(view) == _points(whole)


def test_a_guess_keeps_the_path_and_the_pace() -> None:
    game = fog()
    state = lay(game, "3:1:u6uf", "3:0:5uuf")
    view = read_view(game, game.observation(state, 1))
    assert view.seat == 1
    assert view.laid is None
    assert view.last == bytes([1, 3, 3 + 7, 3, 3 + 12])  # the trap of step 3 lies underfoot
    assert guess_whole(bytes([2, 3]), 3) == bytes([2, 3, 3, 3 + 12])
    assert played("3:1:u5uf", "3:0:5uuf")[1] == "goal"


@pytest.mark.parametrize("spec", ["expert", "greedy", "level:3", "random"])
def test_bots_play_fog_from_what_they_see(spec: str) -> None:
    """A bot that is given a state with other hidden boards, which looks the same, makes the same move."""
    for rules in ("written", "live"):
        game = fog(rules=rules, rounds=4)
        players = [bot(spec, game, 5), bot("greedy", game, 6)]
        state = game.initial_state()
        while (seat := game.to_move(state)) is not None:
            seen = game.observation(state, seat)
            move = players[seat].choose(json.loads(json.dumps(seen)))
            assert game.is_legal(state, move)
            state = game.apply(state, move)


def test_wrong_observations_are_refused_with_a_sentence() -> None:
    game = fog()
    good = game.observation(lay(game, *CODES), 1)
    assert game.encode_observation(good)["fogged"].sum() == 2
    changes: dict[str, Any] = {
        "totals": lambda it: it["totals"].reverse(),
        "round": lambda it: it.update(round=2),
        "steps missing": lambda it: it["history"][0].pop("steps"),
        "too many steps": lambda it: it["history"][0].update(steps=[5, 9]),
        "too few steps": lambda it: it["history"][0].update(steps=[4, 3]),
        "no word": lambda it: it["history"][0].update(ended="complete"),
        "an unknown key": lambda it: it["history"][0]["boards"][0].update(grid=[]),
        "another size": lambda it: it["history"][0]["boards"][0].update(boardSize=4),
        "a jump": lambda it: it["history"][0]["boards"][0]["visited"][1].__setitem__(2, 0),
        "a gap": lambda it: it["history"][0]["boards"][0].update(traps=[]),
        "a step twice": lambda it: it["history"][0]["boards"][0].update(traps=[2]),
        "an early finish": lambda it: it["history"][0]["boards"][0]["visited"].__setitem__(2, [4, -1, 1]),
        "a wrong start": lambda it: it["history"][0]["boards"][0]["visited"].__setitem__(0, [1, 1, 1]),
        "true for a number": lambda it: it["history"][0]["boards"][0].update(traps=[True]),
        "both seats in fog, once": lambda it: it["history"][0]["boards"].__setitem__(
            1, {"boardSize": 3, "visited": [[1, 2, 0], [3, 1, 0]], "traps": [2]}
        ),
        "an illegal own board": lambda it: it["history"][0]["boards"].__setitem__(1, board("3:0:55uuf")),
        "the other's lay": lambda it: it.update(chosen=board("3:1:uuf")),
        "a seat": lambda it: it.update(to_move=2),
        "points": lambda it: it["history"][0].update(points=[4, 0]),
    }
    for change in changes.values():
        wrong = json.loads(json.dumps(good))
        change(wrong)
        with pytest.raises(BadState):
            game.encode_observation(wrong)
    rng = random.Random(2)
    for _ in range(1_500):
        wrong = damaged(good, rng)
        try:
            record = game.encode_observation(wrong)
        except BadState:
            continue
        game.render_observation(game.decode(record))


def test_planes_do_not_tell_places() -> None:
    game = fog(size=4, rounds=2)
    states = [lay(game, "4:0:uuuf", code) for code in ("4:1:u5luuf", "4:1:u6luuf")]
    planes = []
    for state in states:
        seen = new_observations(game, 1)
        game.kernels.look_many(game.encode_array(state), np.zeros(1, np.int64), np.zeros(1, np.int8), seen)
        planes.append(seen.planes.copy())
    assert (planes[0] == planes[1]).all()
    assert planes[0].any()
    spectated = observed_states(game, game.observation(states[0]))
    assert spectated["fogged"].sum() == 2


def test_a_match_in_fog_is_played_and_its_record_has_whole_boards() -> None:
    found = ludodrome.play_match(fog(), ["expert:nodes=2000", "greedy"], games=2, openings=False, workers=0).records
    for record in found:
        records.verify(record)
        boards = [turn["move"] for turn in record["turns"]]
        assert len(boards) == 6
        assert all("sequence" in one for one in boards)


def test_both_build_at_once_in_fog() -> None:
    parallel = pytest.importorskip("ludodrome.games.spaces.parallel_env").parallel_env
    env = parallel(size=2, rules="live", choice="fog", rounds=2)
    seen, _ = env.reset(seed=1)
    rng = np.random.default_rng(1)
    while env.agents:
        actions = {agent: int(rng.choice(np.flatnonzero(one["action_mask"]))) for agent, one in seen.items()}
        seen, rewards, *_ = env.step(actions)
    assert sum(rewards.values()) == 0
    with pytest.raises(ValueError, match="only under choice='blind' or 'fog'"):
        parallel(choice="seen")


def test_an_observation_with_an_illegal_board_laid_is_refused() -> None:
    game = fog()
    state = lay(game, *CODES[:3])
    assert state["chosen"] is not None
    seen = game.observation(state, 1)
    assert game.encode_observation(seen)["laid"] == 3
    for code in ("3:1:uu4f", "3:1:u"):
        with pytest.raises(BadState):
            game.encode_observation({**seen, "chosen": board(code)})
