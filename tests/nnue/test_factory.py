"""How networks are made: samples that resume, gating, and training where PyTorch is installed."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import ludodrome
from ludodrome.bots.networks import network_weights
from ludodrome.cli import app
from ludodrome.nnue import gating, samples
from tests.search.test_network import random_weights

pytestmark = pytest.mark.xdist_group("santorini")
SETTINGS = samples.SampleSettings("santorini", {"players": 2}, "none", 30, 2, 6, 50, 7)


def test_samples_are_resumed_and_are_the_same_again(tmp_path: Path) -> None:
    first, again = tmp_path / "first", tmp_path / "again"
    totals = list(samples.generate(first, SETTINGS, 1))
    assert totals[0] == 0 < totals[-1]
    assert list(samples.generate(first, SETTINGS, 1)) == [totals[-1]], "there are enough"
    list(samples.generate(again, SETTINGS, totals[-1] + 1))
    one, two = samples.read(first), samples.read(again)
    assert len(two.scores) > len(one.scores)
    assert (two.states[: len(one.states)] == one.states).all()
    assert (two.scores[: len(one.scores)] == one.scores).all()
    assert set(np.unique(one.results)) == {-1, 1}


def test_games_that_are_over_before_the_search_begins_give_no_samples(tmp_path: Path) -> None:
    """Openings longer than the game gave empty shards for ever."""
    short = SETTINGS._replace(game="skysummit", options={"turn_limit": 2}, opening_low=4, opening_high=6)
    with pytest.raises(ValueError, match="1500 games in a row gave no sample"):
        list(samples.generate(tmp_path, short, 1))


def test_a_folder_has_samples_of_one_kind(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="has no samples"):
        samples.read(tmp_path)
    with pytest.raises(ValueError, match="is not a folder of samples"):
        samples.read_settings(tmp_path)
    list(samples.generate(tmp_path, SETTINGS, 0))
    assert samples.read_settings(tmp_path) == SETTINGS
    with pytest.raises(ValueError, match="other settings"):
        list(samples.generate(tmp_path, SETTINGS._replace(nodes=40), 1))


def test_a_network_without_sense_does_not_pass_the_gate() -> None:
    game = ludodrome.make("santorini")
    settings = gating.GateSettings(nodes=300, elo0=0, elo1=400, max_pairs=60)
    states = list(gating.gate(game, random_weights(game), None, settings))
    assert states[-1].verdict == "H0"
    same = list(gating.gate(game, random_weights(game), random_weights(game), settings._replace(max_pairs=3)))
    assert same[-1].pairs[2] == sum(same[-1].pairs) > 0, "a pair of the same network is shared"


def test_the_gate_ends_with_its_code(tmp_path: Path) -> None:
    path = tmp_path / "network.npz"
    np.savez(path, **random_weights(ludodrome.make("santorini"))._asdict())
    asked = ["network", "gate", "santorini", str(path), "--nodes", "100", "--pairs", "1"]
    found = CliRunner().invoke(app, asked)
    assert (found.exit_code, "2 games" in found.output) == (3, True), found.output
    found = CliRunner().invoke(app, [*asked[:3], str(tmp_path / "missing.npz")])
    assert found.exit_code == 2, found.output


def test_training_lowers_the_loss_and_gives_a_network(tmp_path: Path) -> None:
    if importlib.util.find_spec("torch") is None:
        pytest.skip("PyTorch is not installed: networks are not trained here")
    from ludodrome.nnue import training

    game = ludodrome.make("santorini")
    list(samples.generate(tmp_path / "samples", SETTINGS, 1))
    settings = training.TrainingSettings(filters=4, epochs=3, batch=256)
    data = training.read_training_set(game, [tmp_path / "samples"], settings)
    model = training.new_model(game, settings)
    losses = [progress.loss for progress in training.train(data, settings, model)]
    assert losses[-1] < losses[0]
    training.save(training.quantise(model, game), tmp_path / "network.npz")
    assert network_weights(game, str(tmp_path / "network.npz")) is not None
