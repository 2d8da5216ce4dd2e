"""Which level is in force: found by attacks, refused with a reason, kept for a while and no longer."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from ludodrome.arena import sandbox
from ludodrome.arena.sandbox import (
    NoSandbox,
    boxes,
    bubblewrap,
    control_groups,
    landlock,
    landlock_launcher,
    levels,
    seccomp,
)
from ludodrome.arena.sandbox.attacks import ATTACKS, ESCAPED, GROUP_ATTACKS, HELD, UNTRIED, AttackResult
from ludodrome.arena.sandbox.boxes import Interpreter, ResourceLimits
from ludodrome.arena.sandbox.levels import NAMES, SandboxLevel

ALL_HELD = [AttackResult(attack.name, HELD) for attack in ATTACKS]
GROUPS_HELD = [(attack.control, AttackResult(attack.name, HELD)) for attack in GROUP_ATTACKS]


@pytest.fixture(autouse=True)
def nothing_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(levels, "_known", {})


@pytest.fixture
def pretended(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A machine on which both levels hold, as long as nothing else is said here."""
    said: dict[str, Any] = {"bubblewrap": ALL_HELD, "landlock": ALL_HELD, "groups": GROUPS_HELD, "probes": 0}

    def attacked(kind: Any, machine: Interpreter, group: Any = None) -> list[AttackResult]:
        said["probes"] += 1
        found = said[kind.NAME]
        if isinstance(found, Exception):
            raise found
        return list(found)

    monkeypatch.setattr(boxes, "_runs_for_all", lambda path: True)
    for module in (bubblewrap, landlock):
        monkeypatch.setattr(module, "missing", lambda: None)
    monkeypatch.setattr(seccomp, "here", lambda: True)
    monkeypatch.setattr(levels, "inspect_interpreter", lambda kind, machine: Interpreter(machine.path, "3.11.2", None))
    monkeypatch.setattr(levels, "run_attacks", attacked)
    monkeypatch.setattr(levels, "run_group_attacks", lambda kind, machine: list(said["groups"]))
    return said


def test_the_level_in_force_here_is_a_real_one() -> None:
    found = sandbox.level()
    if not found.holds:
        pytest.skip(f"no level holds here: {found.why_not_better}")
    assert found.name in NAMES
    assert [one["verdict"] for one in found.tried] == [HELD] * len(ATTACKS)
    assert found.interpreter.startswith("/usr/")
    assert found.python in found.sentence


def test_the_best_that_holds_is_in_force(pretended: dict[str, Any]) -> None:
    assert sandbox.level(refresh=True).name == "bubblewrap"
    pretended["bubblewrap"] = [AttackResult("access.database", ESCAPED, "open (b'secret')"), *ALL_HELD]
    found = sandbox.level(refresh=True)
    assert found.name == "landlock"
    assert found.why_not_better == (
        f"bubblewrap: 1 of {len(ATTACKS) + 1} attacks were not held off; access.database: escaped, open (b'secret')",
    )
    pretended["landlock"] = OSError(1, "not today")
    found = sandbox.level(refresh=True)
    assert (found.name, found.holds) == ("none", False)
    assert "not today" in found.why_not_better[1]


def test_what_was_not_tried_does_not_hold(pretended: dict[str, Any]) -> None:
    pretended["bubblewrap"] = pretended["landlock"] = [AttackResult("access.database", UNTRIED), *ALL_HELD[1:]]
    assert not sandbox.level().holds


def test_control_groups_are_in_force_where_all_attacks_on_them_are_held_off(pretended: dict[str, Any]) -> None:
    found = sandbox.level()
    assert found.control_groups == control_groups.CONTROLS
    assert found.label == "bubblewrap with control groups (memory, processes, processor, freezer)"
    assert found.label in found.sentence
    limits = found.group_limits(ResourceLimits())
    assert limits is not None
    assert limits.controls == control_groups.CONTROLS
    # one attack of two gets through, and the other is not tried: neither control is in force, and the level still is
    pretended["groups"] = [
        (control, AttackResult(one.name, ESCAPED if one.name == "resources.missing_names" else HELD, "out"))
        for control, one in GROUPS_HELD
    ]
    pretended["groups"][-1] = ("freezer", AttackResult("processes.busy_threads", UNTRIED, "not here"))
    found = sandbox.level(refresh=True)
    assert (found.name, found.control_groups) == ("bubblewrap", ("processes", "processor"))
    assert found.groups_sentence == (
        "Not held by control groups: memory (resources.missing_names: escaped, out); "
        "freezer (processes.busy_threads: not tried, not here)."
    )
    assert SandboxLevel.from_json(json.loads(json.dumps(found.to_json()))) == found
    pretended["groups"] = [(control, AttackResult(one.name, UNTRIED, "none")) for control, one in GROUPS_HELD]
    found = sandbox.level(refresh=True)
    assert (found.label, found.group_limits(ResourceLimits())) == ("bubblewrap", None)


def test_uploads_are_refused_with_the_reason(
    pretended: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.undo()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(levels, "_known", {})
    (tmp_path / "main.py").write_text("pass")
    with pytest.raises(NoSandbox, match=r"bubblewrap: the program bwrap cannot be found .*; landlock: it needs root"):
        sandbox.seat(tmp_path)
    assert sandbox.level().sentence.startswith("Uploaded bots are not run here, because no sandbox holds: bubblewrap:")


def test_machines_for_which_it_is_not_made(pretended: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seccomp, "here", lambda: False)
    assert "written for x86_64" in sandbox.level(refresh=True).why_not_better[0]
    monkeypatch.setattr(levels, "find_interpreter", lambda: None)
    assert "no /usr/bin/python3" in sandbox.level(refresh=True).why_not_better[0]
    monkeypatch.setattr(seccomp, "here", lambda: True)


def test_kernels_without_landlock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(landlock_launcher, "version", lambda c: -1)
    assert "no Landlock" in str(landlock.missing())
    monkeypatch.setattr(landlock_launcher, "version", lambda c: 1)
    assert landlock.missing() is None
    monkeypatch.setattr(bubblewrap, "PRLIMIT", "/nonexistent/prlimit")
    monkeypatch.setattr(bubblewrap, "program", lambda: "/usr/bin/bwrap")
    assert "/nonexistent/prlimit" in str(bubblewrap.missing())


# What is kept


def test_what_was_found_is_kept_for_a_while(pretended: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    first = sandbox.level()
    assert (sandbox.level(), pretended["probes"]) == (first, 1)
    monkeypatch.setattr(levels, "_known", {})
    assert (sandbox.level(), pretended["probes"]) == (first, 1)  # from the file
    later = time.time() + levels.HOURS * 3600 + 1
    monkeypatch.setattr(time, "time", lambda: later)
    sandbox.level()
    assert pretended["probes"] == 2
    sandbox.level(refresh=True)
    assert pretended["probes"] == 3


def test_that_none_holds_is_soon_tried_again(pretended: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    pretended["bubblewrap"] = pretended["landlock"] = [AttackResult("access.database", ESCAPED)]
    assert not sandbox.level().holds
    pretended["bubblewrap"] = ALL_HELD
    assert not sandbox.level().holds
    later = time.time() + levels.MINUTES * 60 + 1
    monkeypatch.setattr(time, "time", lambda: later)
    assert sandbox.level().holds


@pytest.mark.parametrize(
    "change",
    [
        lambda patch: patch.setattr(bubblewrap, "program", lambda: "/bin/sh"),
        lambda patch: patch.setattr(os, "geteuid", lambda: 4711),
        lambda patch: patch.setattr(levels, "_sources", lambda: "other"),
        lambda patch: patch.setenv("LUDODROME_SANDBOX_UIDS", "62000-62010"),
    ],
)
def test_other_circumstances_are_tried_anew(
    pretended: dict[str, Any], monkeypatch: pytest.MonkeyPatch, change: Any
) -> None:
    sandbox.level()
    change(monkeypatch)
    sandbox.level()
    assert pretended["probes"] == 2


def test_a_file_that_others_can_write_is_not_believed(
    pretended: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    sandbox.level()
    file = tmp_path / "ludodrome" / "sandbox.json"
    for spoil in (lambda: file.chmod(0o666), lambda: file.write_text("{"), lambda: file.write_text(json.dumps([1]))):
        spoil()
        monkeypatch.setattr(levels, "_known", {})
        before = pretended["probes"]
        sandbox.level()
        assert pretended["probes"] == before + 1


def test_a_level_survives_being_written() -> None:
    level = SandboxLevel("landlock", ("bubblewrap: no",), "/usr/bin/python3", "3.11.2", "1.24.2", ({"name": "a"},))
    assert SandboxLevel.from_json(json.loads(json.dumps(level.to_json()))) == level
    assert level.sentence == (
        "Uploaded bots run under landlock, with Python 3.11.2 and its standard library, with NumPy 1.24.2."
    )
