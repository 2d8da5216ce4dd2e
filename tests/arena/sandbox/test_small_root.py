"""What a boxed bot can see and use of the system: the interpreter, its library and NumPy, and little else."""

import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from ludodrome.arena.sandbox import boxes
from ludodrome.arena.sandbox.attacks import MAX_FILES_SEEN
from ludodrome.arena.sandbox.boxes import Interpreter
from tests.arena.sandbox.boxed import Running, at_every_level, box, machine, need

MODULES = """
import importlib, json, os, sys
failed = {}
for name in sorted(sys.stdlib_module_names):
    if name not in ("antigravity", "this", "idlelib", "turtledemo"):
        try:
            importlib.import_module(name)
        except ImportError as error:
            failed[name] = str(error)
print(json.dumps(sorted(failed)), flush=True)
input()
"""


@at_every_level
def test_the_standard_library_works(level: str) -> None:
    """Every module that can be imported outside can be imported inside, but for terminals and files of databases."""
    with Running(box(level, MODULES)) as running:
        failed = set(json.loads(running.line(60)))
    useless = {*boxes.USELESS_MODULES, "curses", "tkinter", "turtle"}
    windows = {"msilib", "winreg", "winsound", "_winapi", "msvcrt", "nt", "_msi", "_overlapped", "_scproxy"}
    outside = {"distutils", "lib2to3", "ensurepip", "venv", "_aix_support", "asyncio.windows_events", "dbm"}
    assert failed <= useless | windows | outside


THREADS = """
import ctypes, decimal, hashlib, json, sqlite3, ssl, threading, zlib
found = []
threads = [threading.Thread(target=found.append, args=(number,)) for number in range(4)]
for one in threads: one.start()
for one in threads: one.join()
threading.Thread(target=threading.Event().wait, daemon=True).start()
sqlite3.connect(":memory:").execute("select 1")
print(json.dumps([sorted(found), hashlib.sha256(b"").hexdigest()[:4], str(decimal.Decimal(1) / 7)[:4]]), flush=True)
"""


@at_every_level
def test_threads_and_libraries_work_to_the_end(level: str) -> None:
    with Running(box(level, THREADS)) as running:
        assert json.loads(running.line()) == [[0, 1, 2, 3], "e3b0", "0.14"]
        assert running.process.leave(20) == 0, running.process.stderr  # also with a thread that still runs


def test_few_files_are_shown() -> None:
    shown = boxes.shown(machine())
    assert "/usr/lib" not in shown
    assert "/usr" not in shown
    assert sum(1 for path in shown for _ in Path(path).rglob("*") if Path(path).is_dir()) < MAX_FILES_SEEN
    assert any(path.endswith("libc.so.6") or "musl" in path for path in shown)


def test_machines_that_cannot_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boxes, "LDD", "there-is-no-such-program")
    with pytest.raises(OSError, match="there-is-no-such-program"):
        boxes.needed_libraries(("/usr/bin/env",))
    monkeypatch.setattr(boxes, "LDD", "true")
    with pytest.raises(OSError, match="found no libraries"):
        boxes.needed_libraries(("/usr/bin/env",))


# NumPy, from a folder of packages that every uid can read


@pytest.fixture(scope="module")
def packages() -> Iterator[Path]:
    found = find_spec("numpy")
    assert found is not None
    assert found.origin is not None
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        for one in boxes.NUMPY:
            if (source := Path(found.origin).parent.parent / one).is_dir():
                shutil.copytree(source, folder / one, ignore=shutil.ignore_patterns("tests", "__pycache__", "*.pyi"))
        yield folder


NUMPY = """
import sys
sys.path.insert(0, FOLDER)
import numpy, numpy.linalg, numpy.random, numpy.fft
a = numpy.arange(6.0).reshape(2, 3)
print(a @ a.T, numpy.linalg.det(numpy.eye(3)), numpy.random.default_rng(1).integers(10) < 10, flush=True)
"""


@at_every_level
def test_numpy_works(level: str, packages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need(level)
    found = machine()
    if Path(found.path).name != f"python3.{sys.version_info.minor}":
        pytest.skip(f"the tests run under another Python than {found.path}, so NumPy here does not fit it")
    monkeypatch.setattr(boxes, "PACKAGES", (str(packages),))
    made = box(level, NUMPY.replace("FOLDER", repr(str(packages))))
    with_numpy = Interpreter(found.path, numpy="some")
    assert str(packages / "numpy") in boxes.shown(with_numpy)
    with Running(boxes.Box(made.kind, with_numpy, made.limits, made.files)) as running:
        said = running.line(60)
        while "True" not in said and not running.process.finished_output:
            said += running.line(60)
        assert said.split() == ["[[", "5.", "14.]", "[14.", "50.]]", "1.0", "True"], running.process.stderr
