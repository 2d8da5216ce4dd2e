"""Text environments: TextArena's agents and wrappers drive our games unchanged."""

import copy
import re
import subprocess
import sys
from typing import Any

import pytest

import ludodrome
from ludodrome.arena import records
from tests.bots.endpoint import serving

pytest.importorskip("textarena", reason="textarena is not installed: pip install 'ludodrome[text]'")

import textarena

from ludodrome.envs.text import TextEnv

GAMES: dict[str, dict[str, Any]] = {
    "caldera": {"turn_limit": 12},
    "dots": {"rows": 2, "cols": 2},
    "santorini": {},
    "skysummit": {"turn_limit": 12},
    "spaces": {"rounds": 2, "choice": "blind"},
}


class Picker(textarena.Agent):  # type: ignore[misc]
    """An agent of TextArena's own kind: reads text, answers with text."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number
        self.heard: list[str] = []

    def __call__(self, observation: str) -> str:
        assert isinstance(observation, str)
        self.heard.append(observation)
        shown = re.findall(r"Legal moves \(\d+\): (.*)", observation)
        moves = re.findall(r"\[[^\]]+\]", shown[-1]) if shown else ["[3:1:uuf]", "[3:0:ruuf]"]
        return f"Some of these look bad, {moves[0]} for one. I choose {moves[self.number % len(moves)]}"


def played(env: Any, agents: list[Any], players: int = 2, seed: int = 42) -> tuple[Any, Any]:
    """The loop of TextArena's own pages."""
    env.reset(num_players=players, seed=seed)
    done = False
    while not done:
        player_id, observation = env.get_observation()
        done, info = env.step(action=agents[player_id](observation))
        assert info["player"] == player_id
    return env.close()  # type: ignore[no-any-return]


def test_textarenas_wrapper_and_agents_drive_a_whole_game_of_santorini() -> None:
    raw = TextEnv("santorini")
    env = textarena.wrappers.LLMObservationWrapper(env=raw)
    agents = [Picker(3), Picker(11)]
    rewards, info = played(env, agents)
    assert sorted(rewards.values()) == [-1, 1]
    assert {one["decided_by"] for one in info.values()} == {"play"}
    assert not any(one["invalid_move"] or one["refusals"] for one in info.values())
    record = raw.record()
    records.verify(record)
    assert info[0]["turn_count"] + info[1]["turn_count"] == len(record["turns"])
    first, last = agents[0].heard[0], agents[0].heard[-1]
    assert first.startswith("\n[GAME] You are playing Santorini. You are player 0 (Navy).")
    assert "[worker_id source dest build]" in first
    assert "C │ 0   │ 0 N1│ 0   │ 0 W2│ 0   │ C" in first
    assert "[Player 0] Some of these look bad" in last
    assert "[GAME] Player 1 plays [W" in last


def test_textarenas_own_agent_classes_play(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = Picker(4)
    monkeypatch.setattr("builtins.input", lambda prompt: answers(prompt))
    with serving() as fake:
        model = textarena.agents.OpenAIAgent("rambling", api_key="none", base_url=fake.url)
        env = textarena.make("ludodrome/Santorini-v0")
        rewards, info = played(env, [model, textarena.agents.HumanAgent()])
        model.client.close()
    assert sorted(rewards.values()) == [-1, 1]
    assert info[0]["refusals"] == info[1]["refusals"] == 0
    assert len(fake.requests) == info[0]["turn_count"] > 2


@pytest.mark.parametrize("version", ["", "-train", "-raw"])
@pytest.mark.parametrize("game_id", ludodrome.game_ids())
def test_every_game_is_made_by_textarena(game_id: str, version: str) -> None:
    env = textarena.make(f"ludodrome/{game_id.title()}-v0{version}", **GAMES[game_id])
    if version == "-raw":
        env.reset(num_players=2, seed=1)
        player, messages = env.get_observation()
        assert player == 0
        assert [kind for _, _, kind in messages] == [
            textarena.ObservationType.PROMPT,
            textarena.ObservationType.GAME_BOARD,
        ]
        return
    rewards, info = played(env, [Picker(1), Picker(2)])
    assert sum(rewards.values()) == 0
    assert info[0]["reason"] == env.record()["result"]["reason"]
    records.verify(env.record())


def test_three_play_santorini() -> None:
    raw = TextEnv("santorini")
    rewards, info = played(textarena.wrappers.LLMObservationWrapper(raw), [Picker(n) for n in (2, 5, 9)], players=3)
    assert sorted(rewards.values()) == [-0.5, -0.5, 1]
    assert len(info) == 3
    assert raw.game.options == {"players": 3}


@pytest.mark.parametrize("shown", [True, False])
def test_showing_legal_moves_is_a_recorded_condition(shown: bool) -> None:
    env = TextEnv("dots", legal_moves=shown, rows=1, cols=1)
    env.reset(2, seed=3)
    done = False
    for move in ("[H(0,0)]", "[H(1,0)]", "[V(0,0)]", "[V(0,1)]"):
        _, messages = env.get_observation()
        assert ("Legal moves (" in messages[-1][1]) is shown
        done, _ = env.step(move)
    assert done
    assert env.record()["conditions"]["legal_moves"] is shown
    assert env.close()[1][0]["legal_moves"] is shown


def test_refusals_are_counted_apart_from_defeats() -> None:
    env = TextEnv("santorini", policy="retry:3")
    env.reset(2, seed=1)
    for number, answer in enumerate(("[N1C2C3B3]", "I pass.")):
        done, info = env.step(answer)
        assert not done
        assert info["refused"]
        player, messages = env.get_observation()
        assert player == 0
        notice = next(text for _, text, kind in messages if kind == textarena.ObservationType.GAME_ADMIN)
        assert f"You have {2 - number} tr" in notice
    done, _ = env.step("[N1C2B2C3]")
    assert not done
    for _ in range(3):
        done, info = env.step("[W1A1A1A1]")
    assert done
    rewards, infos = env.close()
    assert rewards == {0: 1, 1: -1}
    assert [infos[seat]["refusals"] for seat in (0, 1)] == [2, 3]
    assert [infos[seat]["invalid_move"] for seat in (0, 1)] == [False, True]
    assert infos[0]["decided_by"] == "forfeit"
    records.verify(env.record())


def test_in_dots_another_edge_is_drawn() -> None:
    env = TextEnv("dots", rows=1, cols=1)
    env.reset(2)
    env.step("no idea")
    _, messages = env.get_observation()
    assert any("Player 0 gave no legal move, and this is played instead: [H(0,0)]" in text for _, text, _ in messages)
    for move in ("[H(1,0)]", "[V(0,0)]", "[V(0,1)]"):
        env.step(move)
    assert env.close()[1][0]["substituted"] == env.close()[1][0]["refusals"] == 1


def test_what_is_laid_face_down_stays_there() -> None:
    env = TextEnv("spaces", choice="blind", rounds=1)
    env.reset(2)
    env.step("[3:1:ul8uf]")
    player, messages = env.get_observation()
    assert player == 1
    assert not any("ul8uf" in text and "My" not in text and "Steps are" not in text for _, text, _ in messages)
    assert "3:1" not in env.get_board_str()
    env.step("[3:0:uuf]")
    assert any("3:1:ul8uf" in text for _, text in env.state.logs)


def test_seeds_are_exact_and_never_ignored() -> None:
    def nonce(seed: int | None) -> Any:
        env = TextEnv("dots")
        env.reset(2, seed)
        return env.state.game_state["state"]["nonce"]

    assert nonce(7) == nonce(7) != nonce(8)
    assert nonce(None) != nonce(None)


def test_a_copy_goes_its_own_way() -> None:
    env = TextEnv("santorini")
    fresh = copy.deepcopy(env)
    env.reset(2, seed=5)
    env.step("[N1C2B2C3]")
    wrapped = textarena.wrappers.LLMObservationWrapper(env)
    twin = copy.deepcopy(wrapped)
    assert twin.get_observation() == wrapped.get_observation()
    twin.step("[W1D3D2E2]")
    assert twin.env.get_board_str() != env.get_board_str()
    assert fresh._referee is None


def test_bad_calls_get_sentences() -> None:
    with pytest.raises(ValueError, match="there is no game 'chess'"):
        TextEnv("chess")
    with pytest.raises(ValueError, match="a policy is forfeit"):
        TextEnv("dots", policy="shrug")
    env = TextEnv("dots")
    for call in (lambda: env.step("[H(0,0)]"), env.get_board_str, env.get_observation, env.record):
        with pytest.raises(ValueError, match="call reset first"):
            call()
    with pytest.raises(ValueError, match="dots has 2 players here, not 3"):
        env.reset(3)
    with pytest.raises(ValueError, match="players of santorini"):
        TextEnv("santorini").reset(4)
    env.reset(2)
    with pytest.raises(ValueError, match="an action is a text, not 5"):
        env.step(5)  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="not over"):
        env.record()


def test_a_game_that_is_over_stays_over() -> None:
    env = TextEnv("skysummit", policy="forfeit")
    env.reset(2)
    assert env.step("nothing")[0]
    assert env.step("[place A1 A2]") == (True, {"reason": "the game is over"})


def test_without_textarena_the_error_names_the_extra() -> None:
    script = "import sys; sys.modules['textarena'] = None; import ludodrome.envs.text"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 1
    assert "text environments need textarena, which is not installed: pip install 'ludodrome[text]'" in done.stderr
