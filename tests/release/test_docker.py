"""The Dockerfile and compose.yaml: parsed always; under --long every step is run in a clean Debian chroot."""

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
DOCKERFILE = ROOT / "Dockerfile"
COMPOSE = ROOT / "compose.yaml"
PORT = 18008
KNOWN = {"FROM", "RUN", "WORKDIR", "COPY", "USER", "ENV", "VOLUME", "EXPOSE", "CMD"}


class Step(NamedTuple):
    """One instruction of a Dockerfile."""

    instruction: str
    rest: str


def steps() -> list[Step]:
    """The instructions of the Dockerfile, in order."""
    text = DOCKERFILE.read_text("utf-8").replace("\\\n", " ")
    lines = (line.strip() for line in text.splitlines())
    return [Step(*line.split(maxsplit=1)) for line in lines if line and not line.startswith("#")]


def test_every_instruction_is_one_that_the_chroot_runs() -> None:
    assert {step.instruction for step in steps()} <= KNOWN
    assert steps()[0] == Step("FROM", "debian:bookworm-slim")


def test_everything_that_is_copied_exists_and_is_not_ignored() -> None:
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line.startswith("!")}
    copied = [word.rstrip("/") for step in steps() if step.instruction == "COPY" for word in step.rest.split()[:-1]]
    assert copied
    for name in copied:
        assert (ROOT / name).exists(), name
        assert name in allowed, name


def test_compose_runs_modules_and_options_that_exist() -> None:
    text = COMPOSE.read_text("utf-8")
    module = text.partition("python -m ")[2].split()[0]
    asked = [sys.executable, "-m", module, "--help"]
    helped = subprocess.run(asked, capture_output=True, text=True, check=True, env={**os.environ, "COLUMNS": "200"})
    for option in ("--db", "--ladder", "--sandbox"):
        assert option in helped.stdout
    asked = [sys.executable, "-m", "ludodrome", "serve", "--help"]
    served = subprocess.run(asked, capture_output=True, text=True, check=True, env={**os.environ, "COLUMNS": "200"})
    words = [*json.loads(next(step.rest for step in steps() if step.instruction == "CMD")), "--host-name", "--ladder"]
    for word in words:
        if word.startswith("--"):
            assert word in served.stdout, word
            assert word.removeprefix("--no-") in served.stdout


@pytest.fixture(scope="module")
def chroot(tmp_path_factory: pytest.TempPathFactory, long: bool) -> Iterator[Path]:
    """A clean Debian, as small as debootstrap makes it."""
    if not long:
        pytest.skip("installs a whole Debian: --long")
    if os.geteuid() != 0 or shutil.which("debootstrap") is None:
        pytest.skip("needs root and debootstrap: no step of the Dockerfile was run")
    folder = tmp_path_factory.mktemp("chroot")
    folder.chmod(0o755)  # as a root folder is
    made = subprocess.run(
        ["debootstrap", "--variant=minbase", "bookworm", str(folder), *_mirror()], capture_output=True, text=True
    )
    if made.returncode:
        pytest.skip(f"debootstrap could not fetch Debian: {(made.stdout + made.stderr)[-300:]}")
    for name in _registry_settings():
        target = folder / name.relative_to("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        if name.is_dir():
            shutil.copytree(name, target, symlinks=True, dirs_exist_ok=True)
        else:
            shutil.copy2(name, target)
    for kind in ("proc", "dev"):
        subprocess.run(["mount", "--bind", f"/{kind}", str(folder / kind)], check=True)
    yield folder
    for kind in ("proc", "dev"):
        subprocess.run(["umount", "--lazy", str(folder / kind)], check=True)


def _mirror() -> list[str]:
    """The mirror that this machine uses; debootstrap's own default if it names none."""
    for file in (*Path("/etc/apt").glob("*.list"), *Path("/etc/apt/sources.list.d").glob("*")):
        for line in file.read_text("utf-8").splitlines():
            words = line.split()
            if words and words[0] in ("deb", "URIs:"):
                found = [word for word in words if "://" in word and word.rstrip("/").endswith("/debian")]
                if found:
                    return found
    return []


def _registry_settings() -> list[Path]:
    """The files by which this machine reaches its package registries, where it has any."""
    named = [
        Path("/etc/pip.conf"),
        Path("/etc/resolv.conf"),
        Path("/etc/hosts"),
        *Path("/etc/apt/apt.conf.d").glob("*"),
    ]
    return [name for name in named if name.exists()]


def test_every_step_works_in_a_clean_debian_and_the_server_answers(chroot: Path) -> None:
    folder, user, environment = "/", "root", {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root"}
    authorities = Path(os.environ.get("PIP_CERT", "/etc/ssl/certs/ca-certificates.crt"))
    if authorities.exists():  # those that this machine trusts, under a name that no package of Debian's overwrites
        shutil.copy2(authorities, chroot / "etc" / "trusted.crt")
        environment["PIP_CERT"] = "/etc/trusted.crt"
    command: list[str] = []
    for instruction, rest in steps():
        if instruction == "RUN":
            _run(chroot, folder, user, environment, rest)
        elif instruction == "WORKDIR":
            folder = rest
            (chroot / folder.lstrip("/")).mkdir(parents=True, exist_ok=True)
        elif instruction == "COPY":
            *names, where = rest.split()
            for name in names:
                _copy(
                    ROOT / name.rstrip("/"),
                    chroot / folder.lstrip("/") / where / ("" if name.endswith("/") else Path(name).name),
                )
        elif instruction == "USER":
            user = rest
            environment["HOME"] = "/var/lib/ludodrome"
        elif instruction == "ENV":
            environment |= dict(word.split("=", 1) for word in shlex.split(rest))
        elif instruction == "CMD":
            command = json.loads(rest)
    assert user != "root"
    command[command.index("--port") + 1] = str(PORT)
    server = subprocess.Popen(_words(chroot, folder, user, environment, shlex.join(command)), start_new_session=True)
    try:
        assert _health() == 200
    finally:
        os.killpg(server.pid, 15)
        server.wait(30)


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)


def _words(chroot: Path, folder: str, user: str, environment: dict[str, str], line: str) -> list[str]:
    pairs = [f"{name}={value}" for name, value in environment.items()]
    inside = f"cd {shlex.quote(folder)} && exec env -i {shlex.join(pairs)} sh -c {shlex.quote(line)}"
    return ["chroot", f"--userspec={user}", str(chroot), "sh", "-c", inside]


def _run(chroot: Path, folder: str, user: str, environment: dict[str, str], line: str) -> None:
    done = subprocess.run(_words(chroot, folder, user, environment, line), capture_output=True, text=True)
    assert done.returncode == 0, f"RUN {line}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"


def _health() -> int:
    until = time.monotonic() + 90
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/health", timeout=5) as answer:
                return int(answer.status)
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.5)
