"""A boxed bot as a seat: pipes, deadlines and verdicts are those of every child process."""

from ludodrome.arena.messages import LINE
from ludodrome.arena.sandbox.boxes import Box, BoxedProcess
from ludodrome.arena.transports.child import ChildSeat


class NotStarted(RuntimeError):
    """A box could not be made, which is no fault of the bot in it."""


class BoxedSeat(ChildSeat):
    """A bot in a box. The box is made with its first game."""

    def __init__(self, name: str, box: Box, longest_line: int = LINE) -> None:
        super().__init__(name, (), longest_line)
        self._box = box

    def _begin(self) -> BoxedProcess:
        try:
            return BoxedProcess(self._box)
        except OSError as error:
            raise NotStarted(f"the sandbox could not be started: {error}") from error
