"""Bad bots, and a few odd ones: ``python zoo.py KIND`` is one of them. Plain Python, so that it starts at once.

``python zoo.py KIND many`` says that it can play many games.
"""

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

Turn = dict[str, Any]
Talk = Callable[[Turn, int], None]
"""What a bot does when it is asked: the message, and how often it was asked before."""


def send(text: bytes) -> None:
    view = memoryview(text)
    while view:
        view = view[os.write(1, view) :]


def say(value: Any) -> None:
    send(json.dumps(value).encode() + b"\n")


def first(turn: Turn) -> dict[str, Any]:
    return {"type": "move", "move": turn["legal_moves"][0], "turn": turn["turn"]}


def play(turn: Turn, count: int) -> None:
    say(first(turn))


def messages() -> Iterator[dict[str, Any]]:
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello" and "many" in sys.argv:
            say({"type": "ready", "games": "many"})
        yield message


def listen(talk: Talk) -> None:
    count = 0
    for message in messages():
        if message["type"] == "turn":
            talk(message, count)
            count += 1


def sleep(*_: Any) -> None:
    while True:
        time.sleep(1000)


# Silence and delay


def silent() -> None:
    listen(lambda turn, count: None)


def deaf() -> None:
    sleep()


def delayed(seconds: Callable[[int], float]) -> Talk:
    def talk(turn: Turn, count: int) -> None:
        time.sleep(seconds(count))
        play(turn, count)

    return talk


def slow() -> None:
    listen(delayed(lambda count: 1.0))


def late_once() -> None:
    listen(delayed(lambda count: 0.8 if count == 1 else 0.0))


def late_once_without_number() -> None:
    def talk(turn: Turn, count: int) -> None:
        time.sleep(0.8 if count == 1 else 0)
        say({"type": "move", "move": turn["legal_moves"][0]})

    listen(talk)


def stubborn() -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    sleep()


def wrong_number() -> None:
    listen(lambda turn, count: say({**first(turn), "turn": turn["turn"] + 1}))


def endlessly(text: bytes) -> Talk:
    def talk(turn: Turn, count: int) -> None:
        while True:
            send(text)

    return talk


def endless_unknown() -> None:
    listen(endlessly(b'{"type": "thought"}\n'))


def endless_blank() -> None:
    listen(endlessly(b"\n" * 1000))


def endless_log() -> None:
    listen(endlessly(b'{"type": "log", "text": "' + b"x" * 500 + b'"}\n'))


# Ends


def crash_at_start() -> None:
    os._exit(3)


def crash_at_move_10() -> None:
    listen(lambda turn, count: os._exit(4) if count == 9 else play(turn, count))


def crash_at_the_end() -> None:
    for message in messages():
        if message["type"] == "turn":
            play(message, 0)
        elif message["type"] == "over":
            os.kill(os.getpid(), signal.SIGSEGV)


def half_a_line() -> None:
    def talk(turn: Turn, count: int) -> None:
        send(b'{"type": "move", "move')
        os._exit(0)

    listen(talk)


def segfault() -> None:
    listen(lambda turn, count: os.kill(os.getpid(), signal.SIGSEGV))


def dies_oddly() -> None:
    """Of a signal that has no name."""
    listen(lambda turn, count: os.kill(os.getpid(), signal.SIGRTMIN + 5))


def closes_stdout() -> None:
    def talk(turn: Turn, count: int) -> None:
        os.close(1)
        sleep()

    listen(talk)


def closes_stdin() -> None:
    line = os.read(0, 1 << 20)
    while b'"turn"' not in line:
        line = os.read(0, 1 << 20)
    os.close(0)
    sleep()


def leaves_a_child_with_its_output() -> None:
    def talk(turn: Turn, count: int) -> None:
        if os.fork() == 0:
            sleep()
        os._exit(5)

    listen(talk)


# Lines that are none


def answering(text: bytes) -> Callable[[], None]:
    return lambda: listen(lambda turn, count: send(text + b"\n"))


def giant_line() -> None:
    listen(lambda turn, count: send(b'{"type": "move", "move": "' + b"x" * 50_000_000 + b'"}\n'))


def endless_line() -> None:
    listen(endlessly(b"[" * 100_000))


# Words and moves


def with_children(away: bool) -> Callable[[], None]:
    def talk(turn: Turn, count: int) -> None:
        if count == 0:
            for _ in range(3):
                if os.fork() == 0:
                    if away:
                        os.setsid()
                        if os.fork():
                            os._exit(0)
                    signal.signal(signal.SIGTERM, signal.SIG_IGN)
                    sleep()
        play(turn, count)

    return lambda: listen(talk)


def flood_stderr() -> None:
    def flood() -> None:
        while True:
            os.write(2, b"noise " * 10_000)

    threading.Thread(target=flood, daemon=True).start()
    listen(play)


def answers_observe() -> None:
    for message in messages():
        if message["type"] == "observe":
            say({"type": "move", "move": "anything", "turn": message["turn"]})
        elif message["type"] == "turn":
            play(message, 0)


def chatty() -> None:
    def talk(turn: Turn, count: int) -> None:
        say({"type": "log", "text": f"count {count} \0"})
        say({"type": "weather", "rain": [1, 2, 3]})
        send(b"\n \r\n")
        play(turn, count)
        print("a word on standard error", file=sys.stderr, flush=True)

    listen(talk)


def answers_twice() -> None:
    def talk(turn: Turn, count: int) -> None:
        play(turn, count)
        play(turn, count)

    listen(talk)


def learns() -> None:
    """Moves of no use, until it has been refused three times."""
    refused = 0
    for message in messages():
        if message["type"] == "refused":
            refused += 1
        elif message["type"] == "turn" and refused < 3:
            say({"type": "move", "move": "no idea", "turn": message["turn"]})
        elif message["type"] == "turn":
            play(message, 0)


def moves_for_the_other() -> None:
    listen(lambda turn, count: say({"type": "move", "move": turn["legal_moves"][0].replace("N", "W")}))


KINDS: dict[str, Callable[[], None]] = {
    "good": lambda: listen(play),
    "silent": silent,
    "deaf": deaf,
    "slow": slow,
    "late_once": late_once,
    "late_once_without_number": late_once_without_number,
    "stubborn": stubborn,
    "wrong_number": wrong_number,
    "endless_unknown": endless_unknown,
    "endless_blank": endless_blank,
    "endless_log": endless_log,
    "crash_at_start": crash_at_start,
    "crash_at_move_10": crash_at_move_10,
    "crash_at_the_end": crash_at_the_end,
    "half_a_line": half_a_line,
    "segfault": segfault,
    "dies_oddly": dies_oddly,
    "closes_stdout": closes_stdout,
    "closes_stdin": closes_stdin,
    "leaves_a_child_with_its_output": leaves_a_child_with_its_output,
    "giant_line": giant_line,
    "endless_line": endless_line,
    "bad_utf8": answering(b'{"type": "move", "move": "\xff\xfe"}'),
    "deep": answering(b'{"type": "move", "move": ' + b"[" * 32 + b"]" * 32 + b"}"),
    "very_deep": answering(b"[" * 60_000),
    "infinite": answering(b'{"type": "move", "move": 1e999}'),
    "not_a_number": answering(b'{"type": "move", "move": NaN}'),
    "doubled_keys": answering(b'{"type": "move", "type": "move", "move": 1}'),
    "half_a_character": answering(b'{"type": "move", "move": "\\ud800"}'),
    "many_digits": answering(b'{"type": "move", "move": ' + b"9" * 5000 + b"}"),
    "not_json": answering(b"I think I will move north"),
    "a_list": answering(b"[1, 2]"),
    "no_type": answering(b'{"move": 1}'),
    "no_move": answering(b'{"type": "move"}'),
    "number_is_text": answering(b'{"type": "move", "move": 1, "turn": "0"}'),
    "illegal": answering(b'{"type": "move", "move": {"t": "place", "to": [0, 0]}}'),
    "shapeless": answering(b'{"type": "move", "move": 42}'),
    "null_move": answering(b'{"type": "move", "move": null}'),
    "gives_up": answering(b'{"type": "error", "error": "I have lost my way"}'),
    "children": with_children(away=False),
    "children_away": with_children(away=True),
    "flood_stderr": flood_stderr,
    "answers_observe": answers_observe,
    "chatty": chatty,
    "answers_twice": answers_twice,
    "learns": learns,
    "moves_for_the_other": moves_for_the_other,
}

if __name__ == "__main__":
    KINDS[sys.argv[1]]()
