"""Bots as child processes: late answers, unread questions, several games, what they see and what is kept of them."""

import errno
import os
import secrets
import select
import sys
from pathlib import Path
from typing import Any

import pytest

from ludodrome.arena import records
from ludodrome.arena.game_loop import play
from ludodrome.arena.transports import child, conversation, make_seat
from ludodrome.arena.transports.child import ChildSeat
from ludodrome.arena.transports.inprocess import InProcessSeat
from ludodrome.arena.transports.processes import MAX_STDERR, SECRETS
from ludodrome.arena.transports.remote_client import RemoteClient
from ludodrome.games import make
from tests.arena.playing import Scripted, first, play_spec, zoo
from tests.arena.transports.test_zoo import branded

PLAIN = """
import json, os, sys, time
{before}
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "turn":
        print(json.dumps({{"type": "move", "move": message["legal_moves"][0]}}), flush=True)
"""


def script(folder: Path, before: str = "") -> str:
    """The spec of a bot that knows only ``turn`` and ``move``, and does something before it begins."""
    path = folder / "bot.py"
    path.write_text(PLAIN.format(before=before))
    return f"cmd:{sys.executable} -I {path}"


def small(*bots: str, **given: Any) -> dict[str, Any]:
    """A short game of dots, verified."""
    record = play(play_spec("dots", bots, **{"rows": 1, "cols": 2, **given}))
    records.verify(record)
    return record


# Other systems


def test_exits_are_noticed_without_handles_of_processes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """MacOS has neither ``pidfd_open`` nor ``waitid``."""
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    monkeypatch.delattr(os, "waitid", raising=False)
    assert small(zoo("good"), script(tmp_path))["result"]["verdicts"] == []
    leaves = small(script(tmp_path, "import sys; sys.exit(3)"), "random", policy="forfeit")
    assert leaves["result"]["verdicts"][0]["why"] == "it exited with code 3"
    dies = small(script(tmp_path, "import os; os.kill(os.getpid(), 9)"), "random", policy="forfeit")
    assert dies["result"]["verdicts"][0]["why"] == "it was ended by SIGKILL"


def test_systems_without_polling_play_built_in_bots_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(select, "poll")
    with pytest.raises(ValueError, match=r"programs as bots need poll\(\) and process groups, which .* lacks"):
        small(zoo("good"), "random")
    assert small("greedy", "random")["result"]["verdicts"] == []


# Answers


@pytest.mark.parametrize(
    ("kind", "note"),
    [
        ("late_once", "an answer to turn 2 came in turn 4 and was dropped"),
        ("late_once_without_number", "a late answer without a number came in turn"),
    ],
)
def test_a_late_answer_is_dropped(kind: str, note: str) -> None:
    record = small(zoo(kind), "random", rows=5, cols=5, clock="500ms")
    own = [turn for turn in record["turns"] if turn["seat"] == 0]
    causes = [turn["verdict"]["cause"] if "verdict" in turn else None for turn in own]
    assert causes[0] is None
    assert causes[1] == "timeout"
    assert set(causes) == {None, "timeout"}
    assert causes.count(None) > len(causes) / 2
    assert note.split(" 2 ")[0] in record["notes"][0][0]


def test_a_plain_bot_needs_no_other_messages(tmp_path: Path) -> None:
    for game in ("skysummit", "caldera"):
        record = play(play_spec(game, (script(tmp_path), script(tmp_path))))
        records.verify(record)
        assert record["result"]["decided_by"] == "play"


def test_questions_that_nobody_reads_do_not_block() -> None:
    options: dict[str, Any] = {"size": 3, "rules": "live", "rounds": 2}  # 796 boards: more than a pipe holds
    record = play(play_spec("spaces", (zoo("deaf"), "random"), clock="300ms", start_ms=0, **options))
    assert record["result"]["verdicts"][0]["cause"] == "timeout"
    assert record["ms"][0] < 10_000
    record = play(play_spec("spaces", (zoo("deaf"), "random"), "substitute", "100ms", 0, **options))
    records.verify(record)
    assert [one["cause"] for one in record["result"]["verdicts"]] == ["timeout"] * 2


def test_without_a_clock_patience_ends_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversation, "UNTIMED_SECONDS", 0.2)
    record = play(play_spec("skysummit", (zoo("silent"), "random"), clock="nodes=100", start_ms=0))
    assert record["result"]["verdicts"][0]["cause"] == "timeout"
    record = small(zoo("silent"), "random", clock="none", start_ms=0)  # and once is enough
    assert {one["cause"] for one in record["result"]["verdicts"]} == {"timeout"}
    assert [turn["ms"] > 0 for turn in record["turns"] if turn["seat"] == 0].count(True) == 1


def test_logs_are_part_of_the_record() -> None:
    record = small(zoo("chatty"), "random")
    own = [turn for turn in record["turns"] if turn["seat"] == 0]
    assert [turn["log"] for turn in own] == [[f"count {count} \\u0000"] for count in range(len(own))]
    assert record["stderr"] == ["a word on standard error\n" * len(own), ""]


def test_what_was_sent_is_kept() -> None:
    record = play(play_spec("skysummit", (zoo("not_json"), "random")))
    refusal = record["turns"][0]["refusals"][0]
    assert (refusal["sent"], refusal["cut"]) == ("I think I will move north", True)
    record = play(play_spec("skysummit", (zoo("bad_utf8"), "random")))
    assert record["turns"][0]["refusals"][0]["sent"] == '{"type": "move", "move": "\\xff\\xfe"}'


# Starting


def test_a_slow_start_is_not_charged(tmp_path: Path) -> None:
    slow = script(tmp_path, "time.sleep(1.5)")
    record = small(slow, "random", clock="1s")
    assert record["result"]["verdicts"] == []
    assert record["turns"][0]["ms"] > 1000
    record = small(slow, "random", clock="1s", start_ms=0)
    assert record["result"]["verdicts"][0]["cause"] == "timeout"


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ("cmd:", "nothing follows cmd:"),
        ("cmd:   ", "nothing follows cmd:"),
        ("cmd:'unclosed", "cannot be read"),
        ("cmd:./no-such-bot --fast", "the program ./no-such-bot .* cannot be found"),
        (f"cmd:{__file__}", "is not executable"),
        ("py:mine.py", "named like py:mine.py:MyBot"),
        ("py:no-such.py:Bot", "there is no file no-such.py"),
        (f"py:{__file__}:NoSuchBot", "there is no class NoSuchBot in .*test_child.py for the bot py:"),
        ("nobody", "there is no bot 'nobody'"),
    ],
)
def test_specs_that_mean_nothing(spec: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        make_seat(spec, make("dots"), 0)
    with pytest.raises(ValueError, match=why):
        play(play_spec("dots", (zoo("good"), spec)))


def test_a_program_that_cannot_be_started_has_crashed() -> None:
    gone = ChildSeat("gone", ["/no/such/program"])
    record = play(play_spec("skysummit", ("gone", "b")), [gone, Scripted(first)])
    gone.close()
    verdict = record["result"]["verdicts"][0]
    assert (verdict["cause"], verdict["why"]) == ("crash", "it could not be started: No such file or directory")


def test_when_we_run_out_of_handles_it_is_our_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(child, "Process", refuse)
    record = play(play_spec("skysummit", (zoo("good"), "random")))
    records.verify(record)
    assert (record["result"]["decided_by"], record["result"]["rated"]) == ("arena", False)


def test_arguments_are_split_as_a_shell_would_and_nothing_is_expanded(tmp_path: Path) -> None:
    spec = script(tmp_path, "print(sys.argv[1:], file=sys.stderr)")
    record = small(f"{spec} 'two words' $HOME *", "random")
    assert record["stderr"][0] == "['two words', '$HOME', '*']\n"


def test_what_a_bot_sees_of_our_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "1")
    monkeypatch.setenv("BOT_TOKEN", "2")
    for name in SECRETS:
        monkeypatch.setenv(name, "3")
    names = ("SECRET_TOKEN", *sorted(SECRETS), "BOT_TOKEN")
    look = f"print([os.environ.get(n) for n in {names}], 'PATH' in os.environ, file=sys.stderr)"
    record = small(script(tmp_path, look), "random")
    assert record["stderr"][0] == "[None, None, None, '2'] True\n"


# Several games, and the end


def test_several_games_in_one_process(tmp_path: Path) -> None:
    bot = make_seat(script(tmp_path, "print(os.getpid(), file=sys.stderr)"), make("dots"), 0)
    try:
        for seed in range(3):
            record = play(play_spec("dots", ("a", "b"), rows=1, cols=2, seed=seed), [bot, Scripted(first)])
            assert record["result"]["verdicts"] == []
    finally:
        bot.close()
        bot.close()
    assert len(bot.stderr.split()) == 1


def test_the_first_and_the_last_of_standard_error_are_kept(tmp_path: Path) -> None:
    noise = "print('first'); sys.stderr.write('first' + 'x' * 1000000 + 'last'); sys.stderr.flush(); os._exit(1)"
    record = small(script(tmp_path, noise.replace("print('first'); ", "")), "random")
    kept = record["stderr"][0]
    assert kept.startswith("first")
    assert kept.endswith("last")
    assert "bytes left out" in kept
    assert len(kept.encode()) <= MAX_STDERR
    record = small(script(tmp_path, "os.write(2, bytes([255, 0]) * 30000)"), "random")
    assert 1000 < len(record["stderr"][0].encode()) <= MAX_STDERR


def test_an_interrupt_ends_the_children(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    mark = secrets.token_hex(8)
    monkeypatch.setenv("BOT_BRAND", mark)
    monkeypatch.setattr(InProcessSeat, "ask", interrupt)
    with pytest.raises(KeyboardInterrupt):
        play(play_spec("dots", ("random", zoo("stubborn"))))
    assert branded(mark.encode()) == []


# Python classes, in a child of ours

CLASSES = """
import os
import sys
import neighbour
print("loaded")

class Plays:
    def start(self, hello):
        print("starts", hello["game"], hello["seat"])

    def choose(self, observation, budget=None):
        print("thinks", sorted(observation)[:2], budget.time, sys.stdin.read())
        os.write(1, b"even so\\n")
        return neighbour.edge(observation)

    def close(self):
        print("closes")

class Breaks(Plays):
    def choose(self, observation):
        raise RuntimeError("out of ideas")

class Leaves(Plays):
    def choose(self, observation):
        sys.exit(0)

class Strange(Plays):
    def choose(self, observation):
        return {1, 2}

class Unmade(Plays):
    def __init__(self):
        raise ValueError("not today")

Nobody = None
"""
NEIGHBOUR = """
import ludodrome
def edge(observation):
    state = {name: value for name, value in observation.items() if name != "you"}
    game = ludodrome.make("dots", rows=state["rows"], cols=state["cols"])
    return game.legal_moves(state)[-1]
"""


@pytest.fixture
def classes(tmp_path: Path) -> Path:
    (tmp_path / "neighbour.py").write_text(NEIGHBOUR)
    path = tmp_path / "classes.py"
    path.write_text(CLASSES)
    return path


def test_a_class_plays_and_its_prints_do_no_harm(classes: Path) -> None:
    record = small(f"py:{classes}:Plays", "random", clock="30s")
    assert record["result"]["verdicts"] == []
    words = record["stderr"][0].splitlines()
    assert words[:2] == ["loaded", "starts dots 0"]
    assert words[2].startswith("thinks ['cols', 'h'] 29.")
    assert words[-1] == "closes"
    assert words.count("even so") == sum(turn["seat"] == 0 for turn in record["turns"])


def test_a_class_plays_with_every_clock_that_can_be_written(classes: Path) -> None:
    """A count of positions above the milliseconds of a day was accepted, and then crashed the bot at hello."""
    record = small(f"py:{classes}:Plays", "random", clock="nodes=100000000")
    assert record["result"]["verdicts"] == []
    assert record["conditions"]["clock"] == {"nodes": 100_000_000}


@pytest.mark.parametrize(
    ("name", "why", "words"),
    [
        ("Breaks", "it exited with code 1", "RuntimeError: out of ideas"),
        ("Leaves", "it exited with code 0", ""),
        ("Strange", "it exited with code 1", "plain JSON values, not of set"),
        ("Unmade", "it exited with code 1", "could not be made: ValueError: not today"),
        ("Nobody", "it exited with code 1", "has no class 'Nobody'"),
    ],
)
def test_a_class_that_fails_has_crashed(classes: Path, name: str, why: str, words: str) -> None:
    record = small(f"py:{classes}:{name}", "random", policy="forfeit")
    verdict = record["result"]["verdicts"][0]
    assert (verdict["cause"], verdict["why"]) == ("crash", why)
    assert words in record["stderr"][0]


# On a server


def test_what_a_bot_says_beside_its_move_reaches_the_server(tmp_path: Path) -> None:
    info = "print(json.dumps({'type': 'info', 'score': 3}), flush=True)"
    client = RemoteClient(script(tmp_path, info + "; print(json.dumps({'type': 'log', 'text': 'hm'}), flush=True)"))
    game = make("dots", rows=1, cols=1)
    about = {"match": "m-1", "seat": 0, "game": "dots", "options": game.options}
    try:
        assert client.hear({"type": "hello", **about, "clock": None, "seed": 1}) is None
        legal = game.legal_moves(game.initial_state())
        question = {**about, "type": "turn", "turn": 0, "state": {}, "legal_moves": legal, "deadline_ms": None}
        said = client.hear(question)
    finally:
        client.close()
    where = {"match": "m-1", "turn": 0}
    assert said == [
        {"type": "log", **where, "text": "hm"},
        {"type": "info", **where, "score": 3},
        {"type": "move", **where, "move": legal[0]},
    ]


def test_a_bots_wishes_and_its_half_line_reach_the_server(tmp_path: Path) -> None:
    """`enter` told the server neither what each turn is to carry, nor what the bot had sent when it failed."""
    path = tmp_path / "wishes.py"
    path.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    message = json.loads(line)\n"
        "    if message['type'] == 'hello':\n"
        "        print(json.dumps({'type': 'ready', 'wants': ['clocks', 'moves']}), flush=True)\n"
        "    elif message['turn']:\n"
        "        print('half', end='', flush=True)\n"
        "        sys.exit(3)\n"
        "    else:\n"
        "        print(json.dumps({'type': 'move', 'move': message['legal_moves'][0]}), flush=True)\n"
    )
    client = RemoteClient(f"cmd:{sys.executable} -I -S {path}")
    game = make("dots", rows=1, cols=1)
    about = {"match": "m-1", "seat": 0, "game": "dots", "options": game.options}
    legal = game.legal_moves(game.initial_state())
    question = {**about, "type": "turn", "state": {}, "legal_moves": legal, "deadline_ms": None}
    try:
        client.hear({"type": "hello", **about, "clock": None, "seed": 1})
        first, second = (client.hear({**question, "turn": number}) for number in (0, 2))
    finally:
        client.close()
    assert first is not None
    assert first[0] == {"type": "ready", "wants": ["moves", "clocks"]}
    assert first[1]["type"] == "move"
    assert second is not None
    assert [one["type"] for one in second] == ["error"]
    assert second[0]["error"].startswith("crash: it exited with code 3")
    assert second[0]["error"].endswith("; it sent 'half'")


def test_a_remote_client_begins_anew_unless_its_game_resumes(tmp_path: Path) -> None:
    path = tmp_path / "counting.py"
    path.write_text(
        "import json, sys\n"
        "asked = 0\n"
        "for line in sys.stdin:\n"
        "    message = json.loads(line)\n"
        "    if message['type'] == 'turn':\n"
        "        print(json.dumps({'type': 'move', 'move': asked}), flush=True)\n"
        "        asked += 1\n"
    )
    client = RemoteClient(f"cmd:{sys.executable} -I -S {path}")
    about = {"match": "m-1", "seat": 0, "game": "dots", "options": make("dots", rows=1, cols=1).options}
    hello = {"type": "hello", **about, "clock": None, "seed": 1}
    question = {**about, "type": "turn", "turn": 0, "state": {}, "legal_moves": [], "deadline_ms": None}
    moves = []
    try:
        for greeting in (hello, {**hello, "resumed": True}, hello):
            client.hear(greeting)
            answer = client.hear(question)
            assert answer is not None
            moves.append(answer[-1]["move"])
    finally:
        client.close()
    assert moves == [0, 1, 0]
