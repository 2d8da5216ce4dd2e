"""The units of systemd: they verify, and they name commands and options that exist."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

UNITS = Path(__file__).parents[2] / "deploy" / "systemd"
PROGRAM = "/opt/ludodrome/.venv/bin/ludodrome"


def _settings(unit: str) -> list[tuple[str, str]]:
    lines = (UNITS / unit).read_text("utf-8").splitlines()
    pairs = (line.partition("=") for line in lines if line and line[0] not in "#[")
    return [(name, value) for name, _, value in pairs]


def _commands(unit: str) -> list[list[str]]:
    """The commands of ludodrome that a unit runs."""
    found = []
    for name, value in _settings(unit):
        words = shlex.split(value) if name.startswith("Exec") else []
        if words[:2] == ["/bin/sh", "-c"]:
            words = shlex.split(words[2].removeprefix("exec "))
        if words and words[0] == PROGRAM:
            found.append(words[1:])
    return found


def test_there_are_three_units() -> None:
    assert {file.name for file in UNITS.iterdir()} == {
        "ludodrome.service",
        "ludodrome-backup.service",
        "ludodrome-backup.timer",
    }


@pytest.mark.parametrize("unit", ["ludodrome.service", "ludodrome-backup.service"])
def test_its_commands_and_options_exist(unit: str) -> None:
    (words,) = _commands(unit)
    command = [word for word in words[:2] if re.fullmatch(r"[a-z-]+", word) and not word.startswith("-")]
    asked = [sys.executable, "-m", "ludodrome", *command, "--help"]
    helped = subprocess.run(asked, capture_output=True, text=True, check=True, env={**os.environ, "COLUMNS": "200"})
    options = [word for word in words if word.startswith("--")]
    for option in options:
        assert option in helped.stdout, option
    assert command in (["serve"], ["admin", "backup"])


@pytest.mark.parametrize("unit", ["ludodrome.service", "ludodrome-backup.service"])
def test_a_service_has_few_rights(unit: str) -> None:
    settings = _settings(unit)
    for wanted in (
        ("User", "ludodrome"),
        ("NoNewPrivileges", "yes"),
        ("CapabilityBoundingSet", ""),
        ("ProtectSystem", "strict"),
        ("ProtectHome", "yes"),
        ("PrivateTmp", "yes"),
        ("UMask", "0077"),
    ):
        assert wanted in settings
    if unit == "ludodrome.service":
        assert ("Delegate", "yes") in settings
        forbidden = {"MemoryDenyWriteExecute", "RestrictNamespaces", "ProtectControlGroups", "ProtectKernelTunables"}
        assert not forbidden & {name for name, _ in settings}, "the sandbox and the compiler need them"


def test_systemd_accepts_them(tmp_path: Path) -> None:
    tool = shutil.which("systemd-analyze")
    if tool is None:
        pytest.skip("there is no systemd-analyze: no unit was verified")
    program = tmp_path / "ludodrome"  # that it exists is checked, too
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    for unit in UNITS.iterdir():
        (tmp_path / unit.name).write_text(unit.read_text("utf-8").replace(PROGRAM, str(program)))
    paths = [str(tmp_path / unit.name) for unit in sorted(UNITS.iterdir())]
    done = subprocess.run([tool, "verify", "--man=no", *paths], capture_output=True, text=True)
    ours = [line for line in done.stderr.splitlines() if "ludodrome" in line]
    assert ours == [], done.stderr
    assert done.returncode == 0, done.stderr


def test_systemd_refuses_what_is_wrong(tmp_path: Path) -> None:
    """The check above can fail."""
    tool = shutil.which("systemd-analyze")
    if tool is None:
        pytest.skip("there is no systemd-analyze: no unit was verified")
    (tmp_path / "wrong.service").write_text("[Service]\nType=sometimes\nExecStart=/no/such/program\n")
    done = subprocess.run([tool, "verify", "--man=no", str(tmp_path / "wrong.service")], capture_output=True, text=True)
    assert "wrong.service" in done.stderr
