"""Every attack, at each level that can be in force here: 0 escapes. And they are real: outside a box, they succeed."""

import functools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from ludodrome.arena.sandbox import attacks, control_groups, levels
from ludodrome.arena.sandbox.attacks import (
    ATTACKS,
    ESCAPED,
    GROUP_ATTACKS,
    HELD,
    UNTRIED,
    Attack,
    AttackResult,
    judge_output,
    program,
    run_group_attack,
    targets,
)
from ludodrome.arena.sandbox.boxes import ResourceLimits
from ludodrome.arena.sandbox.control_groups import GroupLimits
from ludodrome.arena.sandbox.uid_pool import PooledUid
from tests.arena.sandbox.boxed import (
    at_every_level,
    at_every_level_and_with_groups,
    box,
    machine,
    need,
    need_groups,
)

NAMED = {attack.name: attack for attack in ATTACKS}


@functools.cache
def outcome(level: str) -> dict[str, AttackResult]:
    """What came of all attacks on a level."""
    made = box(level, "pass")
    return {one.name: one for one in levels.run_attacks(made.kind, made.interpreter, made.group)}


@at_every_level_and_with_groups
@pytest.mark.parametrize("name", NAMED)
def test_the_attack_is_held_off(level: str, name: str) -> None:
    tried = outcome(level)[name]
    assert tried.verdict == HELD, tried.words


@at_every_level
@pytest.mark.parametrize("attack", GROUP_ATTACKS, ids=lambda attack: f"{attack.control}-{attack.name}")
def test_the_attack_is_held_off_by_a_control_group_alone(level: str, attack: Attack) -> None:
    need_groups()
    tried = run_group_attack(attack, box(level, "pass"), control_groups.places())
    assert tried.verdict == HELD, tried.words


@at_every_level
@pytest.mark.parametrize("attack", GROUP_ATTACKS, ids=lambda attack: f"{attack.control}-{attack.name}")
def test_an_attack_that_is_skipped_is_not_held_off(level: str, attack: Attack) -> None:
    elsewhere = {name: place for name, place in control_groups.places().items() if name != attack.control}
    tried = run_group_attack(attack, box(level, "pass"), elsewhere)
    assert tried.verdict == UNTRIED
    assert "no control groups" in tried.words


@pytest.mark.parametrize("attack", GROUP_ATTACKS, ids=lambda attack: f"{attack.control}-{attack.name}")
def test_without_its_control_the_attack_succeeds(attack: Attack, monkeypatch: pytest.MonkeyPatch) -> None:
    """The attacks on control groups are real: a group without the control does not hold them off."""
    need_groups()
    others = [name for name in control_groups.CONTROLS if name != attack.control]
    without = GroupLimits.only
    monkeypatch.setattr(GroupLimits, "only", lambda self, controls: without(self, others))
    monkeypatch.setattr(attacks, "SECONDS", 2.0)
    found = []
    for _ in range(10):  # on a busy machine it may not get its share at once
        found.append(run_group_attack(attack, box("bubblewrap", "pass"), control_groups.places()))
        if found[-1].verdict == ESCAPED:
            return
    pytest.fail(f"it was held off by something else: {found}")


def test_every_function_of_an_attacking_module_is_in_the_list() -> None:
    for module in attacks.MODULES:
        text = Path(attacks.__file__).with_name(f"{module}.py").read_text("utf-8")
        defined = {line[4:].partition("(")[0] for line in text.splitlines() if line.startswith("def ")}
        names = {*NAMED, *(attack.name for attack in GROUP_ATTACKS)}
        listed = {name.partition(".")[2] for name in names if name.startswith(f"{module}.")}
        assert {name for name in defined if not name.startswith("_")} == listed
    assert all(attack.words.endswith(".") for attack in (*ATTACKS, *GROUP_ATTACKS))


# The same attacks where nothing holds them off

LASTING = {attack.name for attack in ATTACKS if attack.lasting}
FOR_ROOT = {"processes.mounting", "processes.privileges", "processes.priority"}
ELSEWHERE = {
    "processes.terminal",  # needs a terminal
    "processes.other_numbers",  # needs a kernel with x32
    "processes.other_architecture",  # needs a kernel with 32-bit calls
    "access.io_uring",  # is switched off on careful machines
}


def bare(names: Sequence[str], folder: Path, before: Sequence[str] = (), uid: int | None = None) -> list[AttackResult]:
    """The attacks in a plain child."""
    chosen = [NAMED[name] for name in names]
    with targets(ResourceLimits(memory=64 * 1024 * 1024)) as given:
        for name, data in program(chosen, given).items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            for one in (path, *(one for one in path.parents if one.is_relative_to(folder))):
                os.chown(one, uid or 0, uid or 0)
        with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as errors:  # an orphan would hold pipes open
            subprocess.run(
                [*before, machine().path, "-EsSB", "main.py"],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=errors,
                timeout=60,
                user=uid,
                group=uid,
                extra_groups=[],
            )
            said.seek(0)
            errors.seek(0)
            return judge_output(chosen, said.read(), errors.read().decode())


@pytest.fixture
def identity(tmp_path: Path) -> Iterator[PooledUid]:
    if os.geteuid() != 0:
        pytest.skip("only root can run the attacks under another uid")
    taken = PooledUid.take()
    yield taken
    assert taken.sweep()
    taken.release()


@pytest.fixture
def folder(identity: PooledUid) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        os.chown(name, identity.uid, identity.uid)
        yield Path(name)


def test_outside_a_sandbox_the_attacks_succeed(folder: Path, identity: PooledUid) -> None:
    together = [name for name in NAMED if name not in LASTING | FOR_ROOT | ELSEWHERE and not NAMED[name].alone]
    found = bare(together, folder, uid=identity.uid)
    assert [one for one in found if one.verdict != ESCAPED] == []
    for name in ("processes.orphan", "processes.shell_in_its_place", "resources.memory"):
        assert [one.verdict for one in bare([name], folder, uid=identity.uid)] == [ESCAPED]


def test_outside_a_sandbox_root_can_do_the_rest(folder: Path) -> None:
    private = ["unshare", "-m", "--propagation", "private"]
    found = bare(sorted(FOR_ROOT), folder, private)
    assert [one for one in found if one.verdict != ESCAPED] == []


# The judging


def test_what_was_not_tried_has_not_held() -> None:
    plain, deadly = NAMED["access.database"], NAMED["resources.memory"]

    def verdict(attack: Attack, *lines: object) -> str:
        return judge_output([attack], b"".join(json.dumps(line).encode() + b"\n" for line in lines), "")[0].verdict

    began, ended = {"began": plain.name}, {"ended": plain.name, "escaped": None, "words": ""}
    assert verdict(plain) == UNTRIED
    assert verdict(plain, began) == UNTRIED
    assert verdict(plain, began, ended) == HELD
    assert verdict(plain, began, {**ended, "escaped": "it got through"}) == ESCAPED
    assert verdict(deadly) == UNTRIED
    assert verdict(deadly, {"began": deadly.name}) == HELD
    said = json.dumps({"began": deadly.name}).encode() + b"\n"
    assert judge_output([deadly], said, "", exited=False)[0].verdict == UNTRIED  # only our own deadline ended it


@at_every_level
def test_a_mistake_in_an_attack_proves_nothing(level: str) -> None:
    broken = {"main.py": program([NAMED["access.database"]], {})["main.py"]}  # it lacks its modules
    assert [one.verdict for one in attacks.run_batch([NAMED["access.database"]], box(level, broken))] == [UNTRIED]
    with_nothing = program([NAMED["access.database"]], {})  # and here what it is given
    found = attacks.run_batch([NAMED["access.database"]], box(level, with_nothing))
    assert found[0].verdict == UNTRIED
    assert "KeyError" in found[0].words


AS_SOMEBODY = """
import json, os, sys
from ludodrome.arena.sandbox import boxes, bubblewrap, levels
os.setgroups([])
os.setresgid(UID, UID, UID)
os.setresuid(UID, UID, UID)
os.environ["HOME"] = "/nonexistent"
found = levels.run_attacks(bubblewrap, boxes.find_interpreter())
print(json.dumps([bubblewrap.missing(), [one.to_json() for one in found]]))
"""


def test_bubblewrap_holds_without_root_too(identity: PooledUid) -> None:
    need("bubblewrap")
    command = [sys.executable, "-c", AS_SOMEBODY.replace("UID", str(identity.uid))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    missing, tried = json.loads(done.stdout)
    assert missing is None
    assert len(tried) == len(ATTACKS)
    assert [one for one in tried if one["verdict"] != HELD] == []
