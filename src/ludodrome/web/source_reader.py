"""What the editor for bots needs to know about a source: its tokens, to colour them, and where Python finds it wrong.

The source is a stranger's: a lexer can take for ever and a parser can be made to crash. So each reading is a child
process of its own, with limits on memory and processor time, which runs this file and never the source.
"""

import asyncio
import json
import sys
import warnings
from contextlib import suppress
from typing import Any

from pygments.lexers.python import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, String, _TokenType

if sys.platform != "win32":
    import resource

SECONDS = 20.0
"""Seconds of a reading, at most: on a busy machine it waits for a processor."""
CPU_SECONDS, MEMORY = 2, 512 << 20
"""Limits of the child."""
MAX_ANSWER = 8 << 20
MAX_PROBLEMS = 20
"""Problems that are reported."""
ERROR, WARNING = "error", "warning"
TOO_COMPLEX = "Python cannot parse this: it is nested too deeply or takes too long"
KINDS = (
    (Comment, "c"),
    (String, "s"),
    (Number, "n"),
    (Keyword, "k"),
    (Operator.Word, "k"),
    (Name.Function, "d"),
    (Name.Class, "d"),
    (Name.Decorator, "d"),
    (Name.Builtin, "b"),
    (Name.Exception, "b"),
)
"""Kinds of tokens: comment, string, number, keyword, what is defined, built-in names. All others are plain."""


async def read_source(source: str) -> dict[str, Any]:
    """The ``lines`` of a source as runs [length, kind], and its ``problems``. TimeoutError if the machine is too busy.

    The caller has checked the size of the source.
    """
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-I",
        __file__,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        limit=MAX_ANSWER,
    )
    assert child.stdout is not None
    try:
        said, _ = await asyncio.wait_for(child.communicate(json.dumps(source).encode()), SECONDS)
    finally:
        if child.returncode is None:
            with suppress(ProcessLookupError):
                child.kill()
            await child.wait()
    parts = [json.loads(line) for line in said.splitlines(keepends=True) if line.endswith(b"\n")]
    return {
        "problems": parts[0] if parts else [_problem(ERROR, TOO_COMPLEX, None)],
        "lines": parts[1] if len(parts) > 1 else [],
    }


# The child


def tokens(source: str) -> list[list[tuple[int, str]]]:
    """The runs of each line: how many UTF-16 units, as a browser counts, are of which kind."""
    lines: list[list[tuple[int, str]]] = [[]]
    for token, text in PythonLexer(stripnl=False, ensurenl=False).get_tokens(source):
        kind = _kind(token)
        for number, part in enumerate(text.split("\n")):
            if number:
                lines.append([])
            if part:
                size, line = _units(part), lines[-1]
                if line and line[-1][1] == kind:
                    size += line.pop()[0]
                line.append((size, kind))
    return lines


def _units(text: str) -> int:
    """The length of a text in UTF-16 units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _kind(token: _TokenType) -> str:
    return next((kind for family, kind in KINDS if token in family), "")


def problems(source: str) -> list[dict[str, Any]]:
    """Why the source is not Python, or what Python warns of in it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            compile(source, "main.py", "exec", dont_inherit=True)
            found = []
        except SyntaxError as error:
            single = error.end_lineno == error.lineno
            columns = [_column(error.text, one) for one in (error.offset, error.end_offset if single else None)]
            found = [_problem(ERROR, error.msg, error.lineno, *columns)]
        except (ValueError, RecursionError, MemoryError, OverflowError) as error:
            found = [_problem(ERROR, str(error) if isinstance(error, ValueError) else TOO_COMPLEX, None)]
    found += [_problem(WARNING, str(one.message), one.lineno) for one in caught]
    return found[:MAX_PROBLEMS]


def _column(line: str | None, offset: int | None) -> int:
    """A column as a browser counts; 0 if there is none."""
    return 0 if offset is None or offset < 1 else 1 + _units((line or "")[: offset - 1].ljust(offset - 1))


def _problem(grade: str, text: str, line: int | None, column: int = 0, end: int = 0) -> dict[str, Any]:
    """A problem; lines and columns count from 1, ``end`` is the first column after it, or 0 for all of the line."""
    return {"grade": grade, "text": text, "line": line, "column": max(1, column), "end": end if end > column else 0}


def main() -> None:
    """Read a source as JSON from the standard input; write its problems, then its tokens, a line each."""
    if sys.platform != "win32":
        for name, most in ((resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_CPU, CPU_SECONDS), (resource.RLIMIT_CORE, 0)):
            resource.setrlimit(name, (most, most))
    source = json.load(sys.stdin)
    for part in (problems, tokens):
        print(json.dumps(part(source)), flush=True)


if __name__ == "__main__":
    main()
