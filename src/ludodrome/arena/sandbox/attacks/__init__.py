"""The attacks on a sandbox, which a level must withstand to be in force, and how to run them.

The other modules here hold the attacks. They run inside the box, with only the standard library.
"""

import json
import os
import secrets
import socket
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any

from ludodrome.arena.sandbox.boxes import MAIN, Box, BoxedProcess, Files
from ludodrome.arena.sandbox.levels import ResourceLimits

SECONDS = 20.0
"""Timeout of one batch."""
PLACE = "ludodrome/arena/sandbox/attacks"
MODULES = ("access", "processes", "resources")

HELD, ESCAPED, UNTRIED = "held", "escaped", "not tried"


@dataclass(frozen=True, slots=True)
class Attack:
    """One attack."""

    name: str
    """``module.function``."""
    alone: bool = False
    """Whether it needs its own process, because it can end it or keep it busy."""
    deadly: bool = False
    """Whether it can kill its process, which counts as held."""
    lasting: bool = False
    """Whether it never ends by itself; the sandbox held if nothing is left after the kill."""

    @property
    def module(self) -> str:
        """The module of the attack."""
        return self.name.partition(".")[0]

    @property
    def words(self) -> str:
        """What it does, in one sentence."""
        found = getattr(import_module(f"{__name__}.{self.module}"), self.name.partition(".")[2])
        return str(found.__doc__).strip()


def _of(module: str, names: str, **how: bool) -> tuple[Attack, ...]:
    return tuple(Attack(f"{module}.{name}", **how) for name in names.split())


ATTACKS = (
    *_of("access", "database database_by_detours settings homes environment environment_of_others command_lines"),
    *_of("access", "processes descriptors other_bots devices kernel_settings"),
    *_of("access", "tcp tcp_listening udp unix_by_path unix_by_name pairs raw io_uring"),
    *_of("processes", "fork fork_by_number programs program_without_a_name threads session signals tracing namespaces"),
    *_of("processes", "mounting privileges kernel terminal priority"),
    *_of("processes", "other_architecture other_numbers", alone=True, deadly=True),
    *_of("processes", "orphan shell_in_its_place", alone=True),
    *_of("processes", "stays", alone=True, lasting=True),
    *_of("resources", "address_space disk disk_without_a_name inodes own_source shared_memory pipes limits"),
    *_of("resources", "memory", alone=True, deadly=True),
    *_of("resources", "processor", alone=True, lasting=True),
)


@dataclass(frozen=True, slots=True)
class AttackResult:
    """The result of an attack."""

    name: str
    verdict: str
    words: str = ""

    def to_json(self) -> dict[str, str]:
        """A plain value."""
        return {"name": self.name, "verdict": self.verdict, "words": self.words}


# Targets


@contextmanager
def targets(limits: ResourceLimits) -> Iterator[dict[str, Any]]:
    """Make targets that any process on the machine can reach, and a bot in a box must not."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ludodrome-target-", dir="/tmp")))
        for one in (folder, folder / "other"):
            one.mkdir(exist_ok=True)
            one.chmod(0o755)
        for name in ("database", "other/main.py"):
            (folder / name).write_text("secret")
            (folder / name).chmod(0o644)
        name = secrets.token_hex(8)
        tcp, udp = _bound(stack, socket.AF_INET, ("127.0.0.1", 0)), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        stack.callback(udp.close)
        udp.bind(("127.0.0.1", 0))
        _bound(stack, socket.AF_UNIX, str(folder / "socket"))
        (folder / "socket").chmod(0o777)
        _bound(stack, socket.AF_UNIX, "\0" + name)
        yield {
            "database": str(folder / "database"),
            "other": str(folder / "other" / "main.py"),
            "tcp": tcp.getsockname()[1],
            "udp": udp.getsockname()[1],
            "unix": str(folder / "socket"),
            "abstract": name,
            "server": os.getpid(),
            "memory": limits.memory,
            "threads": limits.threads,
            "open_files": limits.open_files,
        }


def _bound(stack: ExitStack, family: int, address: Any) -> socket.socket:
    made = socket.socket(family)
    stack.callback(made.close)
    made.bind(address)
    made.listen()
    return made


# Running


def program(attacks: Sequence[Attack], given: dict[str, Any]) -> Files:
    """The files of a bot that runs these attacks."""
    names = [attack.name for attack in attacks]
    main = f"from {PLACE.replace('/', '.')}.runner import run\nrun({names!r}, {given!r})\n"
    here = files(__name__)
    carried = {f"{PLACE}/{name}.py": (here / f"{name}.py").read_bytes() for name in ("runner", *MODULES)}
    return {MAIN: main.encode(), **carried}


def batches(attacks: Sequence[Attack] = ATTACKS) -> list[list[Attack]]:
    """Group the attacks that can share a process."""
    together = [[one for one in attacks if one.module == module and not one.alone] for module in MODULES]
    return [batch for batch in together if batch] + [[one] for one in attacks if one.alone]


def run_batch(attacks: Sequence[Attack], box: Box, seconds: float = SECONDS) -> list[AttackResult]:
    """Run attacks in a box that holds their program, and judge each."""
    process = BoxedProcess(box)
    said = b""
    deadline = time.monotonic() + seconds
    try:
        while not process.finished_output and time.monotonic() < deadline and not _finished(attacks, said):
            said += process.receive(deadline - time.monotonic())
    finally:
        process.end(0.0, lambda data: None)
    if not process.gone:
        return [AttackResult(attack.name, ESCAPED, "a process outlived the box") for attack in attacks]
    return judge_output(attacks, said, process.stderr)


def _finished(attacks: Sequence[Attack], said: bytes) -> bool:
    """Whether to stop waiting: the last attack has ended, or a lasting one has begun."""
    return b'{"ended": "%s"' % attacks[-1].name.encode() in said or (attacks[0].lasting and b'"began"' in said)


def judge_output(attacks: Sequence[Attack], said: bytes, errors: str) -> list[AttackResult]:
    """Judge each attack by the program's output. One that did not begin was not tried, so nothing held."""
    lines = [json.loads(line) for line in said.splitlines() if line.startswith(b"{") and line.endswith(b"}")]
    began = {line["began"] for line in lines if "began" in line}
    ended = {line["ended"]: line for line in lines if "ended" in line}
    found = []
    for attack in attacks:
        if attack.name in ended:
            line = ended[attack.name]
            verdict = ESCAPED if line["escaped"] else HELD
            found.append(AttackResult(attack.name, verdict, str(line["escaped"] or line.get("words", ""))))
        elif attack.name in began and (attack.deadly or attack.lasting):
            found.append(AttackResult(attack.name, HELD, "the process was ended"))
        else:
            found.append(AttackResult(attack.name, UNTRIED, errors.strip()[-300:]))
    return found
