"""The doctor: put a bot through everything that a match can do to it, and more.

``examine`` yields results as they come. The checks are in ``checks.py``; ``examination.py`` plays their games.
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
    announce: Callable[[str], None] = lambda note: None,
) -> Iterator[CheckResult]:
    """Yield the results of all checks of a bot, or of those in ``only``; ``announce`` is called before each check.

    Files that reproduce a problem go to ``folder``, which is created when it is needed. A bot that fails its first game
    is not examined further. ValueError: no such bot, check or clock.
    """
    chosen = chosen_checks(only)
    Clock.parse(clock)
    make_seat(spec, game, seed).close()
    on = Examination(game, spec, seed, clock, folder)
    return _findings(on, chosen, announce)


def chosen_checks(names: Sequence[str]) -> list[Check]:
    """The named checks in their usual order; all checks if none is named."""
    known = {check.name: check for check in CHECKS}
    for name in names:
        if name not in known:
            raise ValueError(f"there is no check {show(name)}; the checks are {listing(known)}")
    return [check for check in CHECKS if not names or check.name in names]


def _findings(on: Examination, chosen: Sequence[Check], announce: Callable[[str], None]) -> Iterator[CheckResult]:
    for number, check in enumerate(chosen):
        announce(f"{check.name}: {check.question}")
        failed = False
        for finding in check.run(on):
            failed |= finding.grade == FAILURE
            yield finding
        if failed and check.name == "start" and len(chosen) > 1:
            for rest in chosen[number + 1 :]:
                yield CheckResult(rest.name, SKIPPED, "it did not play its first game")
            return
