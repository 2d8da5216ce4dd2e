"""Running the blocks of a page: in order, in a folder of their own, with a namespace in common.

Commands of ``ludodrome`` that are not marked ``long`` run in this process; all else is a child process. Port 8008
on a page stands for one that is free. Nothing is installed: ``scripts/serve`` is what it ends with, `ludodrome serve`.
"""

import ast
import contextlib
import io
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.bots import endpoint
from tests.cli.running import run as run_here
from tests.docs.blocks import ROOT, BadPage, Block
from tests.docs.comparing import Tolerance, difference, line_agrees
from tests.docs.parsing import plain_words, steps

PORT = "8008"
VALUE = re.compile(r"  # => (.+)$")
PROMPT = re.compile(r"^[^>]*> (\S.*)$", re.MULTILINE)
PATIENCE = 120.0
"""Seconds in which what goes on beside the page has said what the page says."""
ENDED = (0, 130, -signal.SIGINT)
"""Exit codes after Ctrl-C."""


class Stage:
    """Where the blocks of one page are run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "page"
        self.where = self.folder
        self.names: dict[str, Any] = {"__name__": "page"}
        self.printed = ""
        """By the Python block before."""
        self.beside: list[tuple[subprocess.Popen[bytes], Block]] = []
        self.stands_for: dict[str, str] = {}
        self.more = contextlib.ExitStack()
        tools = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        paths = os.pathsep.join(filter(None, (str(ROOT / "src"), os.environ.get("PYTHONPATH"))))
        data = str(folder / "data")
        self.environment = {"XDG_DATA_HOME": data, "PATH": tools, "PYTHONPATH": paths, "PYTHONUNBUFFERED": "1"}
        self._furnish()

    def _furnish(self) -> None:
        """What a checkout has, as far as pages speak of it; nothing in it is the project's own file."""
        self.folder.mkdir()
        (self.folder / "docs" / "pictures").mkdir(parents=True)
        for name in ("examples", "benchmarks"):
            shutil.copytree(ROOT / name, self.folder / name, ignore=shutil.ignore_patterns(".*", "__pycache__"))
        (self.folder / "scripts").mkdir()
        install = self.folder / "scripts" / "install"
        install.write_text("#!/bin/sh\n")
        install.chmod(0o755)
        (self.folder / ".venv").symlink_to(sys.prefix)

    def run(self, block: Block) -> str:
        """Runs a block; how it differs from what the page says, empty if it does not."""
        text = self._meant(block)
        if "ends with Ctrl-C" in block.marks:
            return self._leave_running(block, text)
        if block.language == "python":
            return self._python(block, text)
        if block.language == "sh" and any(plain_words(command) is None for command, _ in steps(block)):
            return self._complaint(block, *self._shell(text, ""))
        meant = Block(block.page, block.line, block.language, text, block.marks)
        tolerance = Tolerance.of(block.mark("tolerance "))
        for number, (command, said) in enumerate(steps(meant)):
            last = number == len(steps(meant)) - 1
            typed = "".join(f"{line}\n" for line in PROMPT.findall(said)) if "typed" in block.marks else ""
            code, printed, errors = self._command(command, typed, beside=block.long)
            if trouble := self._complaint(
                block if last else meant, code, printed, errors, expected=None if last else 0
            ):
                return f"$ {command}\n{trouble}"
            if code:
                printed += "".join(line for line in errors.splitlines(True) if not line.startswith("compiling "))
            if block.language == "console" and (trouble := difference(said, printed, tolerance)):
                return f"$ {command}\n{trouble}"
        return ""

    def compare(self, block: Block) -> str:
        """How what the last Python block printed differs from a block that shows it."""
        return difference(block.text, self.printed, Tolerance.of(block.mark("tolerance ")))

    def _complaint(self, block: Block, code: int, printed: str, errors: str, *, expected: int | None = None) -> str:
        wanted = int(block.mark("exits ") or 0) if expected is None else expected
        return "" if code == wanted else f"exit code {code}, not {wanted}\n{printed[-3000:]}\n{errors[-3000:]}"

    def _meant(self, block: Block) -> str:
        """The block's text, with its words replaced."""
        for word, meaning in block.stands_for.items():
            self.stands_for.setdefault(word, self._provide(meaning))
        text = block.text
        if PORT in text or re.search(r"^(\$ )?(scripts/serve|ludodrome (serve|enter))", text, re.MULTILINE):
            self.stands_for.setdefault(PORT, self._provide("a free port"))
        for word, meaning in self.stands_for.items():
            text = text.replace(word, meaning)
        port = self.stands_for.get(PORT, PORT)
        text = re.sub(r"^(\$ )?scripts/serve\b", r"\1ludodrome serve", text, flags=re.MULTILINE)
        for verb, more in (("serve", f"--port {port} --no-browser"), ("enter", f"--server http://127.0.0.1:{port}")):
            wanting = rf"^((?:\$ )?ludodrome {verb})\b(?!.*{more.split()[0]})"
            text = re.sub(wanting, rf"\1 {more}", text, flags=re.MULTILINE)
        return text

    def _provide(self, meaning: str) -> str:
        if meaning == "a free port":
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                return str(probe.getsockname()[1])
        if meaning == "an endpoint":
            return self.more.enter_context(endpoint.serving()).url
        if meaning == "a PostgreSQL":
            from tests.postgresql import cluster, new_database

            return new_database(self.more.enter_context(cluster()))
        return meaning

    # Commands

    @contextlib.contextmanager
    def here(self) -> Iterator[None]:
        """In the page's folder and environment."""
        before = {name: os.environ.get(name) for name in self.environment}
        os.environ.update(self.environment)
        try:
            with contextlib.chdir(self.where):
                yield
        finally:
            for name, value in before.items():
                os.environ.pop(name)
                if value is not None:
                    os.environ[name] = value

    def _command(self, command: str, typed: str, *, beside: bool) -> tuple[int, str, str]:
        """Exit code, output and errors of a line; ``beside``: of a process of its own in any case."""
        words = plain_words(command)
        if words is not None and words[0] == "cd":
            self.where = (self.where / words[1]).resolve()
            return 0 if self.where.is_dir() else 1, "", f"there is no folder {self.where}"
        if beside or words is None or words[0] != "ludodrome":
            return self._shell(command, typed)
        with self.here():
            done = run_here(*words[1:], stdin=typed)
        return done.exit_code, done.stdout, done.stderr

    def _shell(self, script: str, typed: str) -> tuple[int, str, str]:
        left = self.folder.parent / "where"
        left.write_text(str(self.where))
        done = subprocess.run(
            ["/bin/bash", "-e", "-c", f"{script}\npwd > '{left}'"],
            input=typed,
            cwd=self.where,
            env={**os.environ, **self.environment},
            capture_output=True,
            text=True,
        )
        self.where = Path(left.read_text().strip())
        return done.returncode, done.stdout, done.stderr

    # What goes on beside the page

    def _leave_running(self, block: Block, text: str) -> str:
        if block.language == "python":
            program = self.where / f"line_{block.line}.py"
            program.write_text(text, "utf-8")
            command, said = f"python {program.name}", ""
        else:
            ((command, said),) = steps(Block(block.page, block.line, block.language, text))
        log = self.folder.parent / f"log-{block.line}"
        with log.open("wb") as output:
            process = subprocess.Popen(
                ["/bin/bash", "-c", f"exec {command}"],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT if block.language != "console" else subprocess.DEVNULL,
                cwd=self.where,
                env={**os.environ, **self.environment},
                preexec_fn=_heed,
            )
        self.beside.append((process, block))
        return _await(process, log, said)

    def close(self) -> list[str]:
        """Ctrl-C to all that still runs; complaints about what did not end well."""
        troubles = []
        for process, block in reversed(self.beside):
            process.send_signal(signal.SIGINT)
            try:
                code = process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                code = process.wait()
            if code not in ENDED and block.language != "python":  # a program of a reader's may end by KeyboardInterrupt
                troubles.append(f"{block.place}: exit code {code} after Ctrl-C")
        self.more.close()
        return troubles

    # Python

    def _python(self, block: Block, text: str) -> str:
        if "program" in block.marks:
            program = self.where / f"line_{block.line}.py"
            program.write_text(text, "utf-8")
            code, self.printed, errors = self._shell(f"python {program.name}", "")
            return self._complaint(block, code, self.printed, errors)
        printed = io.StringIO()
        lines = text.splitlines()
        with self.here(), contextlib.redirect_stdout(printed):
            for statement in ast.parse(text).body:
                wanted = VALUE.search(lines[(statement.end_lineno or 0) - 1])
                start = printed.tell()
                value = self._do(statement, block)
                got = printed.getvalue()[start:].rstrip("\n") if value is None else repr(value)
                if wanted and not line_agrees(wanted[1], got):
                    return f"line {statement.lineno} of the block gives {got}, not {wanted[1]}"
        self.printed = printed.getvalue()
        return ""

    def _do(self, statement: ast.stmt, block: Block) -> Any:
        """Runs a statement; the value of an expression."""
        ast.increment_lineno(statement, block.line)
        if isinstance(statement, ast.Expr):
            return eval(compile(ast.Expression(statement.value), block.place, "eval"), self.names)
        exec(compile(ast.Module([statement], []), block.place, "exec"), self.names)
        return None


def _heed() -> None:
    """The process that started the tests may ignore Ctrl-C, and children inherit it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _await(process: subprocess.Popen[bytes], log: Path, said: str) -> str:
    """Waits until a program has said what it should; where nothing is said, it must only go on."""
    deadline = time.monotonic() + (PATIENCE if said else 3.0)
    while time.monotonic() < deadline:
        if process.poll() is not None:
            return f"it ended with exit code {process.returncode}:\n{log.read_text()[-3000:]}"
        if said and not difference(said, log.read_text()):
            return ""
        time.sleep(0.05)
    return difference(said, log.read_text()) if said else ""


def serve_is_what_the_script_ends_with() -> None:
    """The replacement of ``scripts/serve`` is right."""
    if (ROOT / "scripts" / "serve").read_text().splitlines()[-1] != 'exec .venv/bin/ludodrome serve "$@"':
        raise BadPage("scripts/serve does not end with ludodrome serve any more")
