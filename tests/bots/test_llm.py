"""Language models as players, behind an endpoint of our own."""

import email.utils
import re
import threading
import time
from collections.abc import Iterator

import pytest

import ludodrome
from ludodrome.bots import llm
from ludodrome.bots.llm import (
    LLM_PARAMS,
    Endpoint,
    EndpointError,
    EndpointSettings,
    LanguageModelBot,
    make_llm,
    read_settings,
)
from ludodrome.bots.player import Budget, hello_message
from tests.bots.endpoint import Fake, serving


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[Fake]:
    monkeypatch.setattr(llm, "FIRST_PAUSE", 0.01)
    monkeypatch.delenv(llm.KEY, raising=False)
    with serving() as found:
        yield found


def player(fake: Fake, model: str, game: ludodrome.Game, *params: str) -> LanguageModelBot:
    found = ludodrome.bot(fake.spec(model, *params), game)
    assert isinstance(found, LanguageModelBot)
    return found


# Specs


def test_a_spec_is_read() -> None:
    found = read_settings(
        "https://api.example.org/v1/,model=big/model:free,temperature=0.5,timeout=9,wait=3,retries=0,key=MINE"
    )
    assert found == EndpointSettings(
        "https://api.example.org/v1", "big/model:free", "MINE", 9.0, 3.0, 0, (("temperature", 0.5),)
    )
    assert read_settings("http://localhost:1/v1,model=m").retries is None


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ("", "like llm:http://localhost:8000/v1,model=NAME"),
        ("localhost:8000,model=a", "like llm:http://"),
        ("http://:80,model=a", "like llm:http://"),
        ("http://a:b:c,model=a", "like llm:http://"),
        ("ftp://a,model=a", "like llm:http://"),
        ("http://me:secret@a/v1,model=a", "no user, password or query"),
        ("http://a/v1", "needs the name of a model"),
        ("http://a/v1,model=", "model of llm has no value"),
        ("http://a/v1,model=a,model=b", "set twice"),
        ("http://a/v1,model=a,depth=3", "no parameter 'depth'"),
        ("http://a/v1,model=a,temperature=hot", "temperature of llm is a number from 0 to 10"),
        ("http://a/v1,model=a,key=LUDODROME_TEST_NO_SUCH_VARIABLE", "is not set"),
    ],
)
def test_a_wrong_spec_gets_a_sentence(spec: str, why: str) -> None:
    with pytest.raises(ValueError, match=re.escape(why)):
        ludodrome.bot(f"llm:{spec}", "dots")


def test_every_parameter_is_on_the_page() -> None:
    from pathlib import Path

    page = (Path(__file__).parents[2] / "docs" / "how-to" / "language-models.md").read_text("utf-8")
    lines = dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", page.partition("## The spec")[2], re.MULTILINE))
    for param in LLM_PARAMS:
        assert lines[param.name] == f"{param.meaning} ({param.values})"
    assert {"model", "key"} <= set(lines)


# Asking


def test_a_model_plays_a_whole_game(fake: Fake) -> None:
    game = ludodrome.make("santorini")
    model = player(fake, "rambling", game)
    bots = [model, ludodrome.bot("random", game, 3)]
    state = game.initial_state()
    for seat, bot in enumerate(bots):
        bot.start(hello_message(game, seat, 5))
    while (seat_to_move := game.to_move(state)) is not None:
        state = game.apply(state, bots[seat_to_move].choose(game.observation(state, seat_to_move)))
    said = model.exchanges
    assert len(said) > 3
    assert {one.outcome for one in said} == {"move"}
    assert all(request["path"] == "/v1/chat/completions" for request in fake.requests)
    assert all(request["messages"][0]["role"] == "system" for request in fake.requests)


def test_exchanges_tell_everything_once(fake: Fake) -> None:
    game = ludodrome.make("dots", rows=2, cols=2)
    bot = player(fake, "first", game, "temperature=0", "max_tokens=50")
    bot.start({"seat": 0})
    state = game.initial_state()
    for _ in range(2):
        bot.choose(game.observation(state, 0))
    first, second = (exchange.to_json() for exchange in bot.exchanges)
    assert first["messages"][0]["content"] == fake.requests[0]["messages"][0]["content"]
    assert set(second["messages"][0]) == {"role", "sha256"}
    assert first["reply"] == "I play [H(0,0)]."
    assert first["read"] == "H(0,0)"
    assert first["tokens"] == {"prompt": 100, "completion": 7}
    assert first["ms"] >= 0
    assert (first["finish"], first["attempts"], first["outcome"]) == ("stop", 1, "move")
    assert (fake.requests[0]["temperature"], fake.requests[0]["max_tokens"]) == (0, 50)
    bot.close()


def test_a_wrong_answer_gets_the_reason_and_another_try(fake: Fake) -> None:
    game = ludodrome.make("santorini")
    bot = player(fake, "repentant", game)
    move = bot.choose(game.initial_state())
    assert move == game.legal_moves(game.initial_state())[0]
    assert [one.outcome for one in bot.exchanges] == ["illegal", "move"]
    roles = [message["role"] for message in fake.requests[1]["messages"]]
    assert roles == ["system", "user", "assistant", "user"]
    assert "No such worker there" in fake.requests[1]["messages"][-1]["content"]


@pytest.mark.parametrize(("model", "outcome"), [("mute", "nothing"), ("stubborn", "illegal"), ("declining", "nothing")])
def test_a_model_that_never_answers_is_given_up(fake: Fake, model: str, outcome: str) -> None:
    game = ludodrome.make("dots")
    bot = player(fake, model, game)
    with pytest.raises(ValueError, match="gave no legal move"):
        bot.choose(game.observation(game.initial_state(), 0))
    assert [one.outcome for one in bot.exchanges] == [outcome] * 10
    assert bool(bot.exchanges[0].to_json().get("declined")) == (model == "declining")


@pytest.mark.parametrize("choice", ["seen", "blind"])
def test_a_model_lays_boards(fake: Fake, choice: str) -> None:
    game = ludodrome.make("spaces", rounds=1, choice=choice)
    bot = player(fake, "blind", game)
    state = game.initial_state()
    for seat in (0, 1):
        state = game.apply(state, bot.choose(game.observation(state, seat)))
    assert game.outcome(state) is not None
    with pytest.raises(ValueError, match="the game is over"):
        bot.choose(game.observation(state, 0))
    shown = fake.requests[1]["messages"][1]["content"]
    assert ("3:1:uuf" in shown) == (choice == "seen")


def test_boards_are_listed_where_they_are_few(fake: Fake) -> None:
    game = ludodrome.make("spaces", size=2, rules="live", rounds=1, choice="blind")
    bot = player(fake, "first", game)
    state = game.initial_state()
    for seat in (0, 1):
        state = game.apply(state, bot.choose(game.observation(state, seat)))
    assert game.outcome(state) is not None
    assert all("Legal moves (14): [2:0:" in request["messages"][1]["content"] for request in fake.requests)


# Endpoints that fail


def test_a_busy_endpoint_is_asked_again(fake: Fake) -> None:
    game = ludodrome.make("dots")
    bot = player(fake, "flaky", game)
    bot.choose(game.observation(game.initial_state(), 0))
    assert bot.exchanges[0].to_json()["attempts"] == 2


@pytest.mark.parametrize(
    ("model", "why", "asked"),
    [
        ("broken", "answered 500: out of memory, 3 times", 3),
        ("limited", "answered 429: too many requests, 3 times", 3),
        ("locked", "answered 401: this key is not valid", 1),
        ("unknown", "answered 404: there is no such model", 1),
        ("nonsense", "not a chat completion", 3),
        ("garbled", "not a chat completion", 3),
        ("dying", "cannot be reached", 3),
    ],
)
def test_an_endpoint_that_fails_is_distinguished(fake: Fake, model: str, why: str, asked: int) -> None:
    game = ludodrome.make("dots")
    bot = player(fake, model, game, "retries=2")
    with pytest.raises(ValueError, match=re.escape(why)):
        bot.choose(game.observation(game.initial_state(), 0))
    assert [one.outcome for one in bot.exchanges] == ["endpoint"]
    assert len(fake.requests) == asked


def test_an_endpoint_that_is_down_is_waited_for_within_a_limit_and_off_the_clock(fake: Fake) -> None:
    """Retry-After cost the time of the move, and the answer that followed came too late."""
    fake.fault, fake.retry_after = "limited", "0.4"
    threading.Timer(0.6, fake.heal).start()
    found = Endpoint(read_settings(fake.spec("mute").removeprefix("llm:"))).complete([user("?")], seconds=0.3)
    assert (found.attempts, found.text[:4]) == (3, "I am")
    assert found.seconds < 0.3 < 0.8 <= found.waited
    [first, second, third] = fake.times
    assert min(second - first, third - second) >= 0.4


def test_an_endpoint_that_asks_for_more_time_than_the_limit_is_given_up_at_once(fake: Fake) -> None:
    fake.fault, fake.retry_after = "limited", "3600"
    began = time.monotonic()
    with pytest.raises(EndpointError, match="asks to wait for 3600 s; the limit is wait=5"):
        Endpoint(read_settings(fake.spec("mute", "wait=5").removeprefix("llm:"))).complete([user("?")])
    assert time.monotonic() - began < 4, "it waited for nothing"


def test_the_wait_has_an_end(fake: Fake) -> None:
    with pytest.raises(EndpointError, match=r"answered 500: out of memory, \d+ times in 0.2 s") as failed:
        Endpoint(read_settings(fake.spec("broken", "wait=0.2").removeprefix("llm:"))).complete([user("?")])
    assert len(fake.requests) > 1
    assert not failed.value.late


@pytest.mark.parametrize(
    ("header", "seconds"),
    [(None, 0), ("7", 7), ("-3", 0), ("nan", 0), ("soon", 0), ("Mon, 01 Jan 2024 00:00:00 GMT", 0)],
)
def test_retry_after_is_read(header: str | None, seconds: float) -> None:
    assert llm._seconds(header) == seconds
    assert 8 < llm._seconds(email.utils.formatdate(time.time() + 10, usegmt=True)) <= 10


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def test_nobody_there_is_said(fake: Fake) -> None:
    endpoint = Endpoint(EndpointSettings("http://127.0.0.1:9", "m", retries=0))
    with pytest.raises(EndpointError, match="cannot be reached") as failed:
        endpoint.complete([])
    assert not failed.value.late


@pytest.mark.parametrize("model", ["slow", "dripping"])
def test_time_is_kept_whatever_the_endpoint_does(fake: Fake, model: str) -> None:
    game = ludodrome.make("dots")
    bot = player(fake, model, game)
    began = time.monotonic()
    with pytest.raises(ValueError, match="no answer came in time"):
        bot.choose(game.observation(game.initial_state(), 0), Budget(time=0.3))
    assert time.monotonic() - began < 15, "it was to wait for 0.3 seconds"
    assert [one.outcome for one in bot.exchanges] == ["timeout"]


def test_the_key_comes_from_the_environment_and_goes_nowhere_else(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "s3cret")
    game = ludodrome.make("dots")
    bot = make_llm(game, fake.spec("first", "key=MY_KEY"))
    bot.choose(game.observation(game.initial_state(), 0))
    assert fake.headers[0]["Authorization"] == "Bearer s3cret"
    assert "s3cret" not in str(bot.exchanges[0].to_json())
    monkeypatch.setenv(llm.KEY, "usual")
    make_llm(game, fake.spec("first")).choose(game.observation(game.initial_state(), 0))
    assert fake.headers[1]["Authorization"] == "Bearer usual"


def test_answers_in_parts_and_odd_usage_are_read() -> None:
    parts = b'{"choices": [{"message": {"content": [{"type": "text", "text": "[H"}, {"text": "(0,0)]"}]}}], "usage": 3}'
    found = llm._completion(parts, 1)
    assert (found.text, found.prompt_tokens, found.finish) == ("[H(0,0)]", None, None)
    odd = b'{"choices": [{"message": {"content": 5}, "finish_reason": 1}], "usage": {"prompt_tokens": "7"}}'
    assert llm._completion(odd, 1) == llm.Completion("")
    with pytest.raises(llm._FailedRequest, match="not a chat completion"):
        llm._completion(b"<html>", 1)


def test_thoughts_finish_reasons_and_unknown_counts_are_in_the_record(fake: Fake) -> None:
    game = ludodrome.make("dots")
    said = {}
    for model in ("thinking", "uncounted"):
        bot = player(fake, model, game)
        bot.choose(game.observation(game.initial_state(), 0))
        said[model] = bot.exchanges[0].to_json()
    assert said["thinking"]["reasoning"] == "Perhaps the first one."
    assert said["thinking"]["tokens"] == {"prompt": 100, "completion": 7, "reasoning": 5}
    assert said["uncounted"]["tokens"] == {"prompt": None, "completion": None}
    assert said["uncounted"]["finish"] == "length"
    filtered = b'{"choices": [{"message": {"content": null}, "finish_reason": "content_filter"}]}'
    assert llm._completion(filtered).declined
