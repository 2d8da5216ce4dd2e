"""Checks of uploaded bots: the doctor runs in a child process and streams its findings.

This process never compiles, imports or runs an upload.
"""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import suppress

from ludodrome.arena import sandbox
from ludodrome.arena.ladder.uploads import check_source
from ludodrome.web.errors import Busy
from ludodrome.web.position_view import Json

DESKS = 2
"""Checks that run at once."""
PATIENCE = 20.0
"""Seconds that a check waits for a free slot."""
LONGEST = 180.0
"""Seconds of a check, at most."""
LEAVING = 5.0
COMMAND = (sys.executable, "-m", "ludodrome.arena.ladder.uploads")
LIMIT = 1 << 20
"""Bytes of one finding, at most."""


class UploadChecker:
    """Checks uploads, a few at a time."""

    def __init__(self, sandboxed: bool) -> None:
        self.sandboxed = sandboxed
        self.level: sandbox.SandboxLevel | None = None
        """The sandbox of uploads, once known."""
        self._slots = asyncio.Semaphore(DESKS)

    def look(self) -> sandbox.SandboxLevel:
        """Find the sandbox of uploads; this may take seconds."""
        self.level = sandbox.level()
        return self.level

    async def examine(self, game: str, source: str, only: Sequence[str] = ()) -> AsyncGenerator[Json]:
        """The messages of the child: ``note``, ``finding``, ``trouble``, and ``over`` at the end."""
        check_source(source)
        try:
            await asyncio.wait_for(self._slots.acquire(), PATIENCE)
        except TimeoutError:
            raise Busy("too many bots are being checked; try again in a moment") from None
        try:
            async for line in _lines({"game": game, "source": source, "only": only, "sandboxed": self.sandboxed}):
                yield line
        finally:
            self._slots.release()


async def _lines(asked: Json) -> AsyncIterator[Json]:
    child = await asyncio.create_subprocess_exec(
        *COMMAND,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        limit=LIMIT,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    deadline = asyncio.get_running_loop().time() + LONGEST
    try:
        child.stdin.write(json.dumps(asked).encode() + b"\n")
        await child.stdin.drain()
        while line := await asyncio.wait_for(child.stdout.readline(), deadline - asyncio.get_running_loop().time()):
            yield json.loads(line)
    except TimeoutError:
        yield {"trouble": f"the check was stopped after {LONGEST:.0f} seconds"}
    except (ConnectionError, ValueError):
        yield {"trouble": "the check crashed"}
    finally:
        child.stdin.close()
        with suppress(TimeoutError):
            await asyncio.wait_for(child.wait(), LEAVING)
        if child.returncode is None:
            child.kill()
            await child.wait()
