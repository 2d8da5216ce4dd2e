"""The doctor's child: ``python -m ludodrome.arena.ladder.checkup`` examines an uploaded bot, away from the server.

A JSON line on the standard input says what to examine; every finding is a JSON line on the standard output as soon as
it is made. It ends when its input does.
"""

import json
import os
import shlex
import signal
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

from ludodrome.arena.doctor import examine
from ludodrome.arena.ladder.uploads import limited_command, write_source
from ludodrome.games import make

QUICK = ("start", "seats")
"""The checks that every bot passes before it is entered."""


def main() -> None:
    """Examines what the first line of the input asks for."""
    asked = json.loads(sys.stdin.readline())
    signal.signal(signal.SIGTERM, _leave)
    threading.Thread(target=_follow, daemon=True).start()
    with tempfile.TemporaryDirectory(prefix="ludodrome-checkup-") as folder:
        program = write_source(asked["source"], Path(folder))
        spec = f"box:{program}" if asked["sandboxed"] else f"cmd:{shlex.join(limited_command(program))}"
        try:
            found = examine(
                make(asked["game"]),
                spec,
                Path(folder) / "troubles",
                only=asked["only"],
                tell=lambda note: _say(note=note),
            )
            for finding in found:
                _say(finding=_for_people(finding.to_json(), folder))
            _say(over=True)
        except ValueError as error:
            _say(trouble=str(error))


def _say(**message: Any) -> None:
    print(json.dumps(message), flush=True)


def _for_people(finding: dict[str, Any], folder: str) -> dict[str, Any]:
    """A finding without what concerns this machine alone: its commands, and its paths."""
    plain = {name: value for name, value in finding.items() if name != "commands"}
    return {name: str(value).replace(f"{folder}/", "") for name, value in plain.items()}


def _follow() -> None:
    while sys.stdin.readline():
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def _leave(number: int, frame: Any) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise SystemExit(1)


if __name__ == "__main__":
    main()
