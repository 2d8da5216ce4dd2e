"""The learned evaluation: incremental as from scratch, symmetric, the same compiled and plain, safe to load."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ludodrome
from ludodrome.bots.networks import NONE, SHIPPED, network_weights, shipped_file
from ludodrome.game import Game
from ludodrome.jit import COMPILED
from ludodrome.search.frames import DECIDED
from ludodrome.search.iterative import Searcher
from ludodrome.search.network import (
    ACTIVE,
    CLIP,
    MAX_CHANGES,
    MAX_NETWORK_VALUE,
    OUT_UNIT,
    SHARE_UNIT,
    SHIFT,
    NetworkWeights,
    new_memory,
)
from ludodrome.search.opponents import new_workspace
from ludodrome.search.self_play import SelfPlaySettings, new_samples
from ludodrome.search.symmetry import SYMMETRIES

GAMES = ("caldera", "santorini", "skysummit")
each_game = pytest.mark.parametrize("game_id", [pytest.param(g, marks=pytest.mark.xdist_group(g)) for g in GAMES])
WALKS, PLIES = (20, 60) if COMPILED else (2, 12)


def random_weights(game: Game, filters: int = 4, seed: int = 0) -> NetworkWeights:
    """Weights of a sensible size, without any sense."""
    network = game.network
    assert network is not None
    rng = np.random.default_rng(seed)
    return NetworkWeights(
        rng.integers(-60, 60, (network.num_features, filters)).astype(np.int16),
        rng.integers(0, 120, filters).astype(np.int16),
        rng.integers(-300, 300, (network.num_buckets, 2, filters)).astype(np.int16),
        rng.integers(-9999, 9999, network.num_buckets).astype(np.int32),
        rng.integers(-99, 300, network.num_buckets).astype(np.int32),
        rng.integers(50, 250, 1).astype(np.int32),
    )


def plain_value(game: Game, weights: NetworkWeights, states: Any) -> int:
    """The value by the formula of ``search/network.py``, one orientation after the other, in Python's integers."""
    network = game.network
    assert network is not None
    buffer = np.zeros(MAX_CHANGES, np.int64)
    features = buffer[: _list(game, states, buffer)].tolist()
    seat = int(game.kernels.mover(states))
    bucket = int(_python(network.bucket)(states[0]))
    total = int(weights.out_bias[bucket])
    for side in (0, 1):
        seen = features if seat == side else [int(network.mirrored[feature]) for feature in features]
        for symmetry in range(SYMMETRIES):
            rows = weights.weights[network.symmetries[symmetry][seen]].astype(int)
            sums = rows.sum(axis=0) + weights.bias
            for unit, weight in zip(sums.tolist(), weights.out[bucket, side].tolist(), strict=True):
                total += (min(max(unit, 0), CLIP) ** 2 >> SHIFT) * weight
    value = total * int(weights.scale[0]) // (ACTIVE * OUT_UNIT)
    value += int(weights.share[bucket]) * int(game.kernels.value(states, seat)) // SHARE_UNIT
    return max(-MAX_NETWORK_VALUE, min(MAX_NETWORK_VALUE, value))


def _python(function: Any) -> Any:
    return getattr(function, "py_func", function)


def _list(game: Game, states: Any, buffer: Any) -> int:
    assert game.network is not None
    return int(game.network.list_features(states[0], buffer))


def walks(game: Game, seed: int) -> Any:
    """States of random games that the network judges, each with the one before."""
    rng = random.Random(seed)
    for _ in range(WALKS):
        states = game.blank()
        game.kernels.reset(states, np.uint64(0))
        for _ in range(PLIES):
            before = states.copy()
            game.kernels.play(states, rng.choice(game.legal_actions_of(states)))
            if game.kernels.mover(states) < 0:
                break
            if game.network is not None and game.network.bucket(states[0]) >= 0:
                yield before, states.copy()


@each_game
def test_the_value_is_that_of_the_formula(game_id: str) -> None:
    game = ludodrome.make(game_id)
    weights = random_weights(game)
    assert game.network is not None
    net = new_memory(game.network, weights, 2)
    found = [
        (int(game.kernels.network_value(states, net)), plain_value(game, weights, states))
        for _, states in list(walks(game, 1))[:40]
    ]
    assert found
    assert all(value == plain for value, plain in found)
    assert len({value for value, _ in found}) > len(found) // 2


@each_game
def test_changes_lead_from_one_position_to_any_other(game_id: str) -> None:
    game = ludodrome.make(game_id)
    network = game.network
    assert network is not None
    removed, added = np.zeros((2, MAX_CHANGES), np.int64)
    buffer = np.zeros(MAX_CHANGES, np.int64)
    reached_states = [states for _, states in walks(game, 2)]
    pairs = [*walks(game, 3), *zip(reached_states, reached_states[5:], strict=False)]  # also several moves apart
    for before, after in pairs:
        old = sorted(buffer[: _list(game, before, buffer)].tolist())
        new = sorted(buffer[: _list(game, after, buffer)].tolist())
        count = int(network.list_changes(before[0], after[0], removed, added))
        for was, now in zip(removed[:count].tolist(), added[:count].tolist(), strict=True):
            if was != network.num_features:
                old.remove(was)
            if now != network.num_features:
                old.append(now)
        assert sorted(old) == new
        assert len(new) == len(set(new)) <= network.max_active


@each_game
def test_features_are_permuted_by_symmetries_and_seats(game_id: str) -> None:
    network = ludodrome.make(game_id).network
    assert network is not None
    everything = list(range(network.num_features))
    for images in (*network.symmetries, network.mirrored):
        assert sorted(images.tolist()) == everything
    assert network.mirrored[network.mirrored].tolist() == everything


@pytest.mark.xdist_group("caldera")
def test_caldera_has_other_weights_near_the_turn_limit() -> None:
    buckets = []
    for limit in (200, 60, 20):
        game = ludodrome.make("caldera", turn_limit=limit)
        assert game.network is not None
        buckets.append(int(game.network.bucket(game.encode_array(game.initial_state())[0])))
    assert buckets == [26, 17, 8]


@each_game
def test_a_search_updates_as_if_from_scratch(game_id: str) -> None:
    """The same tree with accumulators that are never carried over: every static value must be the same."""
    game = ludodrome.make(game_id)
    weights = random_weights(game, filters=2)
    searcher = Searcher(game, table_bits=10, weights=weights)
    assert game.network is not None
    net = new_memory(game.network, weights, 2)
    for _, states in list(walks(game, 4))[:: 30 if COMPILED else 9][: 8 if COMPILED else 2]:
        *_, result = searcher.search(states, depth=1)
        if abs(result.score) > DECIDED:
            continue
        follow = states.copy()
        for action in result.line:
            game.kernels.play(follow, action)
        if game.kernels.mover(follow) >= 0 and game.network.bucket(follow[0]) >= 0:
            value = int(game.kernels.network_value(follow, net))
            flipped = game.kernels.mover(follow) != game.kernels.mover(states)
            assert result.score == (-value if flipped else value)


@each_game
def test_a_search_with_a_network_is_deterministic_by_nodes(game_id: str) -> None:
    game = ludodrome.make(game_id)
    weights = random_weights(game, filters=2)
    states = next(walks(game, 1))[1]
    found = []
    for _ in range(2):
        *_, result = Searcher(game, table_bits=10, weights=weights).search(states, nodes=2000 if COMPILED else 60)
        found.append((result.action, result.score, result.nodes, result.line))
    assert found[0] == found[1]


@each_game
def test_self_play_makes_quiet_samples_with_results(game_id: str) -> None:
    limit = {"turn_limit": 12} if game_id == "caldera" and not COMPILED else {}
    game = ludodrome.make(game_id, **limit)
    samples = new_samples(game, 400)
    settings = SelfPlaySettings(nodes=200 if COMPILED else 2, opening_low=3, opening_high=6, random_moves=50)
    count = game.kernels.self_play(new_workspace(game, 10), samples, settings, np.uint64(7), 0, 20 if COMPILED else 1)
    assert 0 < count <= len(samples.scores)
    assert set(np.unique(samples.results[:count])) <= {-1, 0, 1}
    assert (np.abs(samples.scores[:count]) < DECIDED).all()
    for k in range(count):
        states = samples.states[k : k + 1]
        assert game.kernels.mover(states) >= 0
        assert not game.kernels.in_check(states)
    full = new_samples(game, 1)  # no room for a whole game
    assert game.kernels.self_play(new_workspace(game, 10), full, settings, np.uint64(7), 0, 1) == 0


@pytest.mark.xdist_group("santorini")
def test_weights_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    game = ludodrome.make("santorini")
    good = random_weights(game)
    path = tmp_path / "network.npz"

    def refused(**changed: Any) -> str:
        np.savez(path, **{**good._asdict(), **changed})
        with pytest.raises(ValueError, match="is not a network of santorini") as error:
            network_weights(game, str(path))
        return str(error.value)

    np.savez(path, **good._asdict())
    assert network_weights(game, str(path)) is not None
    assert "shape" in refused(bias=good.bias[:-1])
    assert "type" in refused(out=good.out.astype(np.float32))
    assert "overflow" in refused(weights=np.full_like(good.weights, 30_000))
    wide = random_weights(game, filters=64)
    assert "overflow" in refused(**{**wide._asdict(), "out": np.full_like(wide.out, 32_767)})
    path.write_bytes(b"not a zip file")
    with pytest.raises(ValueError, match="is not a network"):
        network_weights(game, str(path))
    with pytest.raises(ValueError, match="is not a network"):
        network_weights(game, str(tmp_path / "missing.npz"))


@pytest.mark.xdist_group("santorini")
def test_three_players_have_no_network() -> None:
    game = ludodrome.make("santorini", players=3)
    assert network_weights(game, SHIPPED) is None
    assert network_weights(game, NONE) is None
    with pytest.raises(ValueError, match="has no network"):
        network_weights(game, "network.npz")


@each_game
def test_the_shipped_network_is_small_and_judges_alike_in_all_orientations(game_id: str) -> None:
    game = ludodrome.make(game_id)
    path = shipped_file(game_id)
    if not path.is_file():
        pytest.skip(f"{game_id} ships no network: its evaluator judges")
    assert path.stat().st_size < 1 << 20
    weights = network_weights(game)
    assert weights is not None
    assert game.network is not None
    net = new_memory(game.network, weights, 2)
    states = [states for _, states in walks(game, 5)][:10]
    values = [int(game.kernels.network_value(one, net)) for one in states]
    assert len(set(values)) > 1
    for symmetry in range(1, SYMMETRIES):
        turned = weights._replace(weights=weights.weights[game.network.symmetries[symmetry]])
        other = new_memory(game.network, turned, 2)
        assert [int(game.kernels.network_value(one, other)) for one in states] == values
