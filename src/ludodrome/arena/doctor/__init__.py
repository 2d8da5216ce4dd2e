"""The doctor: a bot is put through everything that a match will do to it, and more.

``examine`` hands out findings as they are made. The checks are in ``checkups.py`` and ``manners.py``.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ludodrome.arena.clocks import Clock
from ludodrome.arena.doctor.checks import CHECKS, Check
from ludodrome.arena.doctor.examination import FAILURE, SKIPPED, USUAL_CLOCK, CheckResult, Examination
from ludodrome.arena.transports import make_seat
from ludodrome.game import Game
from ludodrome.validation import listing, show


def examine(
    game: Game,
    spec: str,
    folder: Path,
    seed: int = 0,
    clock: str = USUAL_CLOCK,
    only: Sequence[str] = (),
    tell: Callable[[str], None] = lambda note: None,
) -> Iterator[CheckResult]:
    """All findings about a bot, in the order of the checks; ``only``: of these checks alone.

    What shows a trouble again is written into the folder, which is made when it is needed. A bot that does not play
    its first game is not examined further. ValueError: there is no such bot, check or clock.
    """
    chosen = chosen_checks(only)
    Clock.parse(clock)
    make_seat(spec, game, seed).close()
    on = Examination(game, spec, seed, clock, folder)
    return _findings(on, chosen, tell)


def chosen_checks(names: Sequence[str]) -> list[Check]:
    """The checks of these names, in their own order; all of them if none is named."""
    known = {check.name: check for check in CHECKS}
    for name in names:
        if name not in known:
            raise ValueError(f"there is no check {show(name)}; the checks are {listing(known)}")
    return [check for check in CHECKS if not names or check.name in names]


def _findings(on: Examination, chosen: Sequence[Check], tell: Callable[[str], None]) -> Iterator[CheckResult]:
    for number, check in enumerate(chosen):
        tell(f"{check.name}: {check.question}")
        failed = False
        for finding in check.run(on):
            failed |= finding.grade == FAILURE
            yield finding
        if failed and check.name == "start" and len(chosen) > 1:
            for rest in chosen[number + 1 :]:
                yield CheckResult(rest.name, SKIPPED, "it did not play its first game")
            return
