"""The attacks on a sandbox, which a level must withstand to be in force, and how to run them.

The other modules here hold the attacks. They run inside the box, with only the standard library.
"""

import json
import os
import secrets
import socket
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any

from ludodrome.arena.sandbox import control_groups
from ludodrome.arena.sandbox.boxes import MAIN, Box, BoxedProcess, Files, ResourceLimits
from ludodrome.arena.sandbox.control_groups import FREEZER, MEMORY, PROCESSES, PROCESSOR, GroupLimits

SECONDS = 20.0
"""Timeout of one batch."""
PLACE = "ludodrome/arena/sandbox/attacks"
MODULES = ("access", "processes", "resources")

MAX_FILES_SEEN = 6000
"""More files than the interpreter, its library and NumPy have."""
MISSING_NAMES = 60_000
"""Names to ask for: some 27 MB of the kernel's memory ..."""
SMALL_GROUP = 24 * 1024 * 1024
"""... in a group that may have this much."""
WATCH_SECONDS = 0.4
"""How long a measured attack is watched."""
MAX_FROZEN_SHARE = 0.03
"""Processor time per second that a frozen bot may seem to use: the kernel counts it in ticks."""
SMALL_SHARE, MAX_SHARE = 0.1, 0.2
"""The share of a processor of an attacking bot, and what it may seem to use: the kernel gives it out in periods."""
MAX_SLOW_BYTES = 512 * 1024
"""Bytes of standard error that may be read in that time of a bot that is not on the move."""

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
    measured: str = ""
    """The measurement from outside (``MEASURES``) that decides; the program alone cannot know."""
    control: str = ""
    """The control of control groups that is to hold it off; a machine without it does not hold it off."""

    @property
    def module(self) -> str:
        """The module of the attack."""
        return self.name.partition(".")[0]

    @property
    def words(self) -> str:
        """What it does, in one sentence."""
        found = getattr(import_module(f"{__name__}.{self.module}"), self.name.partition(".")[2])
        return str(found.__doc__).strip()


def _of(module: str, names: str, **how: Any) -> tuple[Attack, ...]:
    return tuple(Attack(f"{module}.{name}", **how) for name in names.split())


ATTACKS = (
    *_of("access", "database database_by_detours settings homes files environment environment_of_others command_lines"),
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
    *_of("resources", "error_flood", alone=True, measured="errors"),
)
GROUP_ATTACKS = (
    Attack("resources.memory", alone=True, deadly=True, control=MEMORY),
    Attack("resources.missing_names", alone=True, measured="kernel memory", control=MEMORY),
    Attack("processes.threads", alone=True, control=PROCESSES),
    Attack("processes.busy_threads", alone=True, measured="share", control=PROCESSOR),
    Attack("processes.busy_threads", alone=True, measured="frozen share", control=FREEZER),
)
"""Attacks on control groups alone: the rlimits that would hold some of them off are lifted."""


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
            "files": MAX_FILES_SEEN,
            "names": MISSING_NAMES,
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
    measured: AttackResult | None = None
    try:
        while not process.finished_output and time.monotonic() < deadline and not _finished(attacks, said):
            said += process.receive(deadline - time.monotonic())
        if attacks[0].measured and (process.finished_output or _finished(attacks, said)) and b'"began"' in said:
            found = MEASURES[attacks[0].measured](process)
            measured = AttackResult(attacks[0].name, ESCAPED if found else HELD, found or "")
        exited = process.finished_output
    finally:
        process.end(0.0, lambda data: None)
    if not process.gone:
        return [AttackResult(attack.name, ESCAPED, "a process outlived the box") for attack in attacks]
    return [measured] if measured else judge_output(attacks, said, process.stderr, exited)


def _finished(attacks: Sequence[Attack], said: bytes) -> bool:
    """Whether to stop waiting: the last attack has ended, a lasting one has begun, or one is ready to be measured."""
    if b'{"ended": "%s"' % attacks[-1].name.encode() in said:
        return True
    return (attacks[0].lasting and b'"began"' in said) or (bool(attacks[0].measured) and b'{"ready"' in said)


# Measuring from outside, where the program itself cannot know. Each returns a sentence if the attack succeeded.


def _errors_read(process: BoxedProcess) -> str | None:
    """Whether much standard error is read of a bot that is not on the move."""
    process.end_turn()
    time.sleep(WATCH_SECONDS / 4)  # what is in the pipe
    before = process.stderr_bytes
    time.sleep(WATCH_SECONDS)
    read = process.stderr_bytes - before
    return f"{read} bytes were read" if read > MAX_SLOW_BYTES else None


def _kernel_memory(process: BoxedProcess) -> str | None:
    """Whether the kernel's memory was counted, and stayed below the limit."""
    peak, refusals = (process.group.memory_peak, process.group.memory_refusals) if process.group else (0, 0)
    counted = refusals or peak > 0.95 * SMALL_GROUP  # not every kernel counts the refusals
    return None if counted and peak <= SMALL_GROUP else f"{MISSING_NAMES} names were kept, and {peak} bytes counted"


def _share(process: BoxedProcess) -> str | None:
    """Whether it gets more of the processors than its share."""
    used = _processors_used(process)
    return f"{used:.2f} processors" if used > MAX_SHARE else None


def _frozen_share(process: BoxedProcess) -> str | None:
    """Whether it computes while another is on the move, or does not go on when it is on the move again."""
    process.end_turn()
    deadline = time.monotonic() + SECONDS
    while process.group is None or not process.group.is_frozen:  # the kernel needs a moment
        if process.group is None or time.monotonic() > deadline:
            return "it was not frozen"
    used = _processors_used(process)
    process.begin_turn()
    if used > MAX_FROZEN_SHARE:
        return f"{used:.2f} processors while it was frozen"
    while not _processors_used(process):
        if time.monotonic() > deadline:
            return "it was not thawed"
    return None


def _processors_used(process: BoxedProcess) -> float:
    """How many processors its group uses, on average over a moment."""
    if process.group is None:
        return float("inf")
    began, before = time.monotonic(), process.group.processor_seconds
    time.sleep(WATCH_SECONDS)
    return (process.group.processor_seconds - before) / (time.monotonic() - began)


MEASURES: dict[str, Callable[[BoxedProcess], str | None]] = {
    "errors": _errors_read,
    "kernel memory": _kernel_memory,
    "share": _share,
    "frozen share": _frozen_share,
}


def run_group_attack(attack: Attack, box: Box, where: dict[str, control_groups.GroupPlace]) -> AttackResult:
    """Run an attack on a control of control groups, without the rlimits that might hold it off instead."""
    if attack.control not in where:
        return AttackResult(attack.name, UNTRIED, f"there are no control groups for {attack.control} here")
    share = SMALL_SHARE if attack.control == PROCESSOR else 1.0
    group = GroupLimits(SMALL_GROUP, box.limits.threads + 8, share, freezer=True).only(where)
    lifted = replace(box.limits, memory=2**36, threads=4096)
    with targets(replace(box.limits, memory=SMALL_GROUP)) as given:
        found = run_batch([attack], replace(box, limits=lifted, group=group, files=program([attack], given)))
    return found[0]


def judge_output(attacks: Sequence[Attack], said: bytes, errors: str, exited: bool = True) -> list[AttackResult]:
    """Judge each attack by the program's output. One that did not begin was not tried, so nothing held.

    ``exited``: whether the program ended before it was ended; that shows that an attack killed its own process.
    """
    lines = [json.loads(line) for line in said.splitlines() if line.startswith(b"{") and line.endswith(b"}")]
    began = {line["began"] for line in lines if "began" in line}
    ended = {line["ended"]: line for line in lines if "ended" in line}
    found = []
    for attack in attacks:
        if attack.name in ended:
            line = ended[attack.name]
            verdict = ESCAPED if line["escaped"] else HELD
            found.append(AttackResult(attack.name, verdict, str(line["escaped"] or line.get("words", ""))))
        elif attack.name in began and ((attack.deadly and exited) or attack.lasting):
            found.append(AttackResult(attack.name, HELD, "the process was ended"))
        else:
            found.append(AttackResult(attack.name, UNTRIED, errors.strip()[-300:]))
    return found
