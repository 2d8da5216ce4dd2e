"""Waking those who wait for something to change."""

import asyncio
from collections.abc import Callable


class Bell:
    """May be rung from any thread; those who wait are coroutines."""

    def __init__(self) -> None:
        self._waiting: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()

    def ring(self) -> None:
        """Everybody who waits goes on."""
        for loop, event in list(self._waiting):
            if not loop.is_closed():
                loop.call_soon_threadsafe(event.set)

    async def wait(self, changed: Callable[[], bool], seconds: float) -> None:
        """Until the bell rings, unless ``changed`` is true by then; at most so long."""
        mine = (asyncio.get_running_loop(), asyncio.Event())
        self._waiting.add(mine)
        try:
            if not changed():
                async with asyncio.timeout(seconds):  # a task of its own, as by wait_for, would cost more than all else
                    await mine[1].wait()
        except TimeoutError:
            pass
        finally:
            self._waiting.discard(mine)
