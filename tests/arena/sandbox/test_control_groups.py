"""Control groups: looked up in both versions, made, joined, frozen, killed and removed; leftovers go too."""

import errno
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ludodrome.arena.sandbox import control_groups
from ludodrome.arena.sandbox.control_groups import (
    CONTROLS,
    FREEZER,
    LEAF,
    MEMORY,
    PROCESSES,
    PROCESSOR,
    ControlGroup,
    GroupLimits,
    GroupPlace,
    find_places,
)
from tests.arena.sandbox.boxed import Running, at_every_level, box, eventually, need_groups

# A machine made of plain files


class Machine:
    """The files of /proc/self and the mounted hierarchies, in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.process = folder / "proc"
        self.process.mkdir()
        for name in ("mountinfo", "cgroup"):
            (self.process / name).write_text("22 1 0:5 / / rw - ext4 /dev/vda rw\n" if name == "mountinfo" else "")

    def mount(self, top: str, own: str, controllers: str | None, root: str = "/") -> Path:
        """Mount a hierarchy; ``controllers`` is None for version 2. Returns our own group in it."""
        kind, options = ("cgroup2", "rw") if controllers is None else ("cgroup", f"rw,{controllers}")
        where = str(self.folder / top).replace(" ", "\\040")
        with (self.process / "mountinfo").open("a") as file:
            file.write(f"30 22 0:9 {root} {where} rw,nosuid shared:9 - {kind} cgroup {options}\n")
        with (self.process / "cgroup").open("a") as file:
            file.write(f"{9 if controllers else 0}:{controllers or ''}:{own}\n")
        made = self.folder / top / own.removeprefix(root).strip("/")
        made.mkdir(parents=True, exist_ok=True)
        (made / "cgroup.procs").write_text("")
        return made

    def version_2(self, own: str, controllers: str, enabled: str = "") -> Path:
        """Mount version 2."""
        made = self.mount("unified", own, None)
        (made / "cgroup.controllers").write_text(controllers)
        (made / "cgroup.subtree_control").write_text(enabled)
        (made / "cgroup.freeze").write_text("0")
        return made


@pytest.fixture
def fake(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.fixture
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody without root's way out, the top of the hierarchy."""
    monkeypatch.setattr(os, "geteuid", lambda: 1000)


@pytest.mark.usefixtures("nobody")
def test_version_2_has_all_controls(fake: Machine) -> None:
    own = fake.version_2("/user.slice/ours.scope", "cpuset cpu io memory pids", "cpu memory pids")
    assert find_places(fake.process) == dict.fromkeys(CONTROLS, GroupPlace(2, own))


@pytest.mark.usefixtures("nobody")
def test_version_1_has_a_hierarchy_for_each(fake: Machine) -> None:
    names = {MEMORY: "memory", PROCESSES: "pids", PROCESSOR: "cpu,cpuacct", FREEZER: "freezer"}
    own = {control: fake.mount(f"v1 {control}", "/ours", name) for control, name in names.items()}
    assert find_places(fake.process) == {control: GroupPlace(1, folder) for control, folder in own.items()}


@pytest.mark.usefixtures("nobody")
def test_what_version_2_lacks_is_taken_from_version_1(fake: Machine) -> None:
    unified = fake.version_2("/ours", "")
    memory = fake.mount("memory", "/docker/ours", "memory", root="/docker")
    assert memory == fake.folder / "memory" / "ours"
    assert find_places(fake.process) == {FREEZER: GroupPlace(2, unified), MEMORY: GroupPlace(1, memory)}


@pytest.mark.usefixtures("nobody")
def test_what_is_outside_of_the_mount_is_not_ours(fake: Machine) -> None:
    fake.mount("memory", "/elsewhere", "memory", root="/docker")
    assert find_places(fake.process) == {}


def test_without_control_groups_there_are_none(tmp_path: Path) -> None:
    assert find_places(tmp_path) == {}
    with pytest.raises(OSError, match="no control groups for memory, freezer here"):
        ControlGroup.make(GroupLimits(memory=1, freezer=True), {})


@pytest.fixture
def busy(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The kernel's rule: no controllers for children while the group has members."""
    written: list[str] = []
    write = control_groups._write

    def checked(file: Path, text: str) -> None:
        written.append(f"{file.parent.name}/{file.name} {text}")
        if file.name == "cgroup.subtree_control":
            if control_groups._members(file.parent):
                raise OSError(errno.EBUSY, "busy")
            file.write_text(f"{file.read_text()} {text[1:]}")
        elif file.name == "cgroup.procs":
            file.touch()
            file.write_text(f"{file.read_text()}{text}\n")
            left = [word for word in (file.parent.parent / file.name).read_text().split() if word != text]
            (file.parent.parent / file.name).write_text("\n".join(left))
        else:
            write(file, text)

    monkeypatch.setattr(control_groups, "_write", checked)
    return written


@pytest.mark.usefixtures("nobody")
def test_the_arena_moves_to_a_leaf_of_a_delegated_group(fake: Machine, busy: list[str]) -> None:
    own = fake.version_2("/ours.service", "cpu memory pids")
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        (own / "cgroup.procs").write_text(f"{os.getpid()}\n{child.pid}\n")
        assert find_places(fake.process) == dict.fromkeys(CONTROLS, GroupPlace(2, own))
        assert control_groups._members(own) == []
        assert control_groups._members(own / LEAF) == [os.getpid(), child.pid]
    finally:
        child.communicate(b"\n")
    # from now on the arena's own group is the leaf, and boxes are beside it
    (fake.process / "cgroup").write_text(f"0::/ours.service/{LEAF}\n")
    count = len(busy)
    assert find_places(fake.process) == dict.fromkeys(CONTROLS, GroupPlace(2, own))
    assert len(busy) == count


@pytest.mark.usefixtures("nobody")
def test_the_processes_of_others_are_not_moved(fake: Machine, busy: list[str]) -> None:
    own = fake.version_2("/session.scope", "cpu memory pids")
    (own / "cgroup.procs").write_text(f"{os.getpid()}\n1\n")
    assert find_places(fake.process) == {FREEZER: GroupPlace(2, own)}
    assert control_groups._members(own) == [1, os.getpid()] or control_groups._members(own) == [os.getpid(), 1]
    assert not (own / LEAF).exists()


def test_limits_in_both_versions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: dict[str, str] = {}
    monkeypatch.setattr(control_groups, "_write", lambda file, text: written.update({file.name: text}))
    monkeypatch.setattr(os, "getpriority", lambda which, who: 5)
    where = {control: GroupPlace(2, tmp_path) for control in (MEMORY, PROCESSES, PROCESSOR)}
    limits = GroupLimits(1000, 7, 1.5)
    group = ControlGroup.make(limits, where)
    assert written == {
        "memory.max": "1000",
        "memory.swap.max": "0",
        "pids.max": "7",
        "cpu.max": "150000 100000",
        "cpu.weight.nice": "5",
    }
    assert group.command()[-2].startswith(str(tmp_path))
    assert group.remove()
    assert list(tmp_path.iterdir()) == []
    written.clear()
    ControlGroup.make(limits, {control: GroupPlace(1, place.folder) for control, place in where.items()}).remove()
    assert written == {
        "memory.limit_in_bytes": "1000",
        "memory.memsw.limit_in_bytes": "1000",
        "pids.max": "7",
        "cpu.cfs_quota_us": "150000",
        "cpu.shares": "335",
    }
    assert limits.only([MEMORY]) == GroupLimits(memory=1000)
    assert limits.only([FREEZER]).controls == ()


# This machine


def groups_of_bots() -> set[Path]:
    """The groups of bots that exist now, of this process."""
    mine = f"ludodrome-{os.getpid()}-"
    return {
        folder
        for place in set(control_groups.places().values())
        for folder in place.folder.iterdir()
        if folder.name.startswith(mine)
    }


WAITS = "print('ready', flush=True)\ninput()\n"


@at_every_level
def test_a_box_is_in_its_group_from_beginning_to_end(level: str) -> None:
    made = box(f"{level} with control groups", WAITS)
    with Running(made) as running:
        assert running.line() == "ready\n"
        group = running.process.group
        assert group is not None
        assert running.process._popen.pid in group.members
        assert group.memory_peak > 0
        for place in control_groups.places().values():
            folder = next(folder for folder in groups_of_bots() if folder.parent == place.folder)
            assert set(control_groups._members(folder)) == set(group.members)
    assert running.process.gone
    assert groups_of_bots() == set()


@at_every_level
def test_a_frozen_box_can_be_ended(level: str) -> None:
    with Running(box(f"{level} with control groups", WAITS)) as running:
        assert running.line() == "ready\n"
        running.process.end_turn()
        time.sleep(0.1)
    assert running.process.gone
    assert groups_of_bots() == set()


def test_a_group_without_the_quick_kill_is_ended_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(control_groups.FILES, 2, {**control_groups.FILES[2], "kill": "cgroup.no_such_file"})
    test_a_frozen_box_can_be_ended("bubblewrap")


def test_the_groups_of_dead_arenas_are_removed() -> None:
    need_groups()
    script = (
        "import os, subprocess, time\n"
        "from ludodrome.arena.sandbox.boxes import ResourceLimits\n"
        "from ludodrome.arena.sandbox.control_groups import ControlGroup\n"
        "group = ControlGroup.make(ResourceLimits().group())\n"
        "sleeping = [*group.command(), '/bin/sleep', '600']\n"
        "child = subprocess.Popen(sleeping, stdout=subprocess.DEVNULL, start_new_session=True)\n"
        "while child.pid not in group.members: time.sleep(0.01)\n"
        "group.freeze()\n"
        "print(child.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    arena = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert arena.stdout is not None
    left = int(arena.stdout.readline())
    mine = f"ludodrome-{arena.pid}-"

    def folders() -> list[Path]:
        found = {place.folder for place in control_groups.places().values()}
        return [one for folder in found for one in folder.iterdir() if one.name.startswith(mine)]

    control_groups.remove_leftovers(control_groups.places())
    assert folders() != []  # it lives
    arena.kill()
    arena.communicate(timeout=60)
    assert Path(f"/proc/{left}").exists()
    control_groups.remove_leftovers(control_groups.places())
    assert folders() == []
    assert eventually(lambda: not Path(f"/proc/{left}").exists() or "Z" in Path(f"/proc/{left}/stat").read_text())
