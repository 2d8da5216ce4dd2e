"""Uploaded bots as seats: a folder for a game, limits on one's own machine, a sandbox for strangers'."""

import base64
import io
import tempfile
import zipfile
from pathlib import Path

import pytest

from ludodrome.arena import sandbox
from ludodrome.arena.clocks import Clock
from ludodrome.arena.conditions import FORFEIT, Conditions
from ludodrome.arena.game_loop import run
from ludodrome.arena.ladder import uploads
from ludodrome.arena.ladder.uploads import (
    MAX_SOURCE,
    MAX_UPLOADED_MODULE,
    MEMORY,
    REQUIRED,
    UploadedSeat,
    check_source,
    is_module,
    pack_archive,
    pack_files,
    uploaded_seat,
)
from ludodrome.arena.play_spec import PlaySpec
from ludodrome.arena.referee import Referee
from ludodrome.arena.transports import make_seat
from ludodrome.bots.starters import one_file

OPTIONS = {"rows": 2, "cols": 2}
HOARD = f"hoard = bytearray({2 * MEMORY})\n"
WRITE = "open('left.txt', 'w', buffering=1).write('a line\\n')\n"


def _play(source: str, sandboxed: bool, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """A game of the source against ``random``; the record."""
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    bots = ("uploaded:x", "random")
    referee = Referee(PlaySpec("dots", OPTIONS, bots, bots, Conditions(FORFEIT, Clock.parse("5s"))))
    seats = [UploadedSeat("uploaded:x", source, referee.game, sandboxed), make_seat("random", referee.game, 0)]
    try:
        run(referee, seats)
    finally:
        for one in seats:
            one.close()
    assert not list(folder.glob("ludodrome-bot-*")), "its folder is gone with it"
    return referee.record([one.stderr for one in seats])


def test_a_starter_plays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = _play(one_file("dots"), False, tmp_path, monkeypatch)
    assert record["result"]["verdicts"] == []  # type: ignore[index]


@pytest.mark.parametrize(("crime", "word"), [(HOARD, "MemoryError"), (WRITE, "File too large")])
def test_on_ones_own_machine_it_has_limits(
    crime: str, word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = _play(crime + one_file("dots"), False, tmp_path, monkeypatch)
    assert record["result"]["verdicts"][0]["cause"] == "crash"  # type: ignore[index]
    assert word in record["stderr"][0]  # type: ignore[index]
    assert not Path("left.txt").exists()


def test_a_strangers_bot_plays_in_a_sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not sandbox.level().holds:
        pytest.skip(f"no sandbox holds here, and nothing was run: {sandbox.level().sentence}")
    record = _play(one_file("dots"), True, tmp_path, monkeypatch)
    assert record["result"]["verdicts"] == []  # type: ignore[index]


@pytest.mark.parametrize("source", ["", "\n", "\0", "\ud800", "x" * 70_000])
def test_what_is_no_source(source: str) -> None:
    with pytest.raises(ValueError, match="source"):
        check_source(source)


# Several files, or a zip. The zip is opened by the bot's own process only.


SPLIT = {
    "main.py": one_file("dots").replace(
        "def main():", "from wise import wisdom\n\n\ndef main():\n    assert wisdom == 42"
    ),
    "wise.py": "import pkgutil\nwisdom = int(pkgutil.get_data(__name__, 'wisdom.txt'))\n",
    "wisdom.txt": "42\n",
}


def _zip(**files: bytes) -> str:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as written:
        for name, content in files.items():
            written.writestr(name, content)
    return base64.b64encode(buffer.getvalue()).decode()


@pytest.mark.parametrize("sandboxed", [False, True])
def test_a_bot_of_several_files_plays(sandboxed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if sandboxed and not sandbox.level().holds:
        pytest.skip(f"no sandbox holds here, and nothing was run: {sandbox.level().sentence}")
    assert pack_files(SPLIT) == pack_files(dict(reversed(SPLIT.items()))), "the order of the files does not matter"
    record = _play(pack_files(SPLIT), sandboxed, tmp_path, monkeypatch)
    assert record["result"]["verdicts"] == [], record["stderr"]  # type: ignore[index]


@pytest.mark.parametrize(
    ("archive", "word"),
    [
        (_zip(**{"other.py": b"print()"}), "no file main.py"),
        (_zip(**{"main.py": b"x", "big.txt": b"0" * (9 << 20)}), "bytes unpacked"),
        (_zip(**{"../../escaped.py": b"x", "main.py": b"import escaped"}), "No module named 'escaped'"),
        (base64.b64encode(b"PK\x03\x04 and nothing more").decode(), "cannot be read"),
    ],
    ids=["no program", "bomb", "slip", "broken"],
)
def test_a_bad_zip_fails_in_its_own_process(
    archive: str, word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = _play(pack_archive(archive), False, tmp_path, monkeypatch)
    assert record["result"]["verdicts"][0]["cause"] == "crash"  # type: ignore[index]
    assert word in record["stderr"][0]  # type: ignore[index]
    assert not list(tmp_path.rglob("escaped.py"))


@pytest.mark.parametrize("archive", ["?", "AAAA", base64.b64encode(b"PK\x03\x04" + b"x" * MAX_SOURCE).decode()])
def test_what_is_no_zip_is_refused(archive: str) -> None:
    with pytest.raises(ValueError, match=r"archive|most"):
        pack_archive(archive)


@pytest.mark.parametrize(
    ("files", "word"),
    [
        ({"other.py": "x"}, "main.py"),
        ({"main.py": "x", "../main.py": "x"}, "name"),
        ({"main.py": "x", "a/b.py": "x"}, "name"),
        ({"main.py": "x", "a.so": "x"}, "name"),
        ({"main.py": "x" * 40_000, "b.py": "x" * 40_000}, "together"),
        ({"main.py": "x", "b.py": "\0"}, "NUL"),
        ({"main.py": "x", **{f"p{number}.py": "x" for number in range(60)}}, "at most"),
    ],
)
def test_files_that_cannot_be_a_bot_are_refused(files: dict[str, str], word: str) -> None:
    with pytest.raises(ValueError, match=word):
        pack_files(files)


# WebAssembly


def test_a_module_plays_where_no_sandbox_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("wasmtime")
    from tests.arena.wasm_zoo import program  # it needs the engine

    monkeypatch.setattr(sandbox, "level", lambda: sandbox.SandboxLevel("none", ("nothing holds here",)))
    source = pack_archive(base64.b64encode(program()).decode())
    assert is_module(source)
    bots = ("uploaded:x", "random")
    referee = Referee(PlaySpec("dots", OPTIONS, bots, bots, Conditions(FORFEIT, Clock.parse("5s"))))
    seats = [uploaded_seat("uploaded:x", source, referee.game, 1, REQUIRED), make_seat("random", referee.game, 0)]
    try:
        run(referee, seats)
    finally:
        for one in seats:
            one.close()
    assert referee.record()["result"]["verdicts"] == []


def test_modules_have_a_size_and_a_head(monkeypatch: pytest.MonkeyPatch) -> None:
    def packed(module: bytes) -> str:
        return pack_archive(base64.b64encode(module).decode())

    with pytest.raises(ValueError, match=f"at most {MAX_UPLOADED_MODULE} bytes here"):
        packed(b"\0asm\x01\0\0\0" + bytes(MAX_UPLOADED_MODULE))
    with pytest.raises(ValueError, match="it is a WebAssembly component"):
        packed(b"\0asm\x0d\0\x01\0")
    with pytest.raises(ValueError, match="neither a zip nor a WebAssembly module"):
        packed(b"MZ")
    monkeypatch.setattr(uploads, "is_installed", lambda: False)
    with pytest.raises(ValueError, match="this server has no WebAssembly engine"):
        packed(b"\0asm\x01\0\0\0")
