"""The conditions of a game: clock, policy on faults, what bots see, what is tolerated of them, adjudication.

Conditions are part of a record. Clock, policy and adjudication also have a short text form for the command line.
"""

import re
from dataclasses import dataclass
from typing import Any

from ludodrome.arena.clocks import MAX_MS, Clock
from ludodrome.game import Game
from ludodrome.validation import integer, show

FORFEIT, SUBSTITUTE, RETRY = "forfeit", "substitute", "retry"
MAX_TRIES = 1000
DEFAULT_CLOCK = Clock(move_ms=1000)
AGREE, MARGIN, ENGINE, SOLVER = ("agree", "margin", "engine", "solver")
SOLVER_NODES = 20_000
RIGHT_RULES = "agree:300x8, margin, margin:5x6, engine:300x8, solver or solver:100000, or several with commas"


@dataclass(frozen=True, slots=True)
class AdjudicationRule:
    """One rule of adjudication."""

    kind: str
    limit: int = 0
    """Score or points; 0: the margin that nobody can catch up."""
    moves: int = 0
    """Turns for which it holds."""
    nodes: int = 0
    """Positions that the solver may visit."""

    def __str__(self) -> str:
        """The text that ``Adjudication.parse`` reads."""
        if self.kind == SOLVER:
            return SOLVER if self.nodes == SOLVER_NODES else f"{SOLVER}:{self.nodes}"
        return f"{self.kind}:{self.limit}x{self.moves}" if self.limit else self.kind


@dataclass(frozen=True, slots=True)
class Adjudication:
    """The rules by which a game may end early, written with commas between them. The first that decides counts.

    - ``agree:300x8``: in the last 8 turns of each of two seats, one bot's own score was at least 300 and the other's
      at most -300.
    - ``margin``: nobody can catch up with the leader's points any more.
    - ``margin:5x6``: after each of the last 6 turns the same seat led by at least 5 points.
    - ``engine:300x8``: after each of the last 8 turns the built-in search saw the same seat ahead by at least 300
      hundredths.
    - ``solver``: the value of the position is proven within 20,000 positions; ``solver:N`` within N.

    Scores and points are below a million, turns below 100, positions below a million: a record is verified in seconds.

    >>> str(Adjudication.parse("agree:300x8,solver"))
    'agree:300x8,solver'
    """

    rules: tuple[AdjudicationRule, ...]

    @staticmethod
    def parse(text: Any) -> "Adjudication":
        """Read the text form; ValueError says what would be right."""
        if type(text) is not str or not text:
            raise ValueError(f"adjudication is written like {RIGHT_RULES}, not {show(text)}")
        rules = tuple(_read_rule(part) for part in text.split(","))
        if len(set(rules)) < len(rules):
            raise ValueError(f"adjudication has a rule twice in {show(text)}")
        return Adjudication(rules)

    def __str__(self) -> str:
        """The text that ``parse`` reads."""
        return ",".join(map(str, self.rules))

    def check_fits(self, game: Game) -> None:
        """Raise ValueError if a rule cannot be applied to a game."""
        for rule in self.rules:
            if rule.kind != MARGIN and game.seats != 2:
                raise ValueError(f"adjudication by {rule.kind} is for two seats, and {game.id} has {game.seats} here")
            if rule.kind == MARGIN and type(game).scores_of is Game.scores_of:
                raise ValueError(f"adjudication by {MARGIN} is for games of points, and {game.id} has none")
            if rule == AdjudicationRule(MARGIN) and type(game).points_left is Game.points_left:
                raise ValueError(f"{game.id} does not say how many points are left; write {MARGIN}:5x6, for instance")
            if rule.kind in (ENGINE, SOLVER) and game.evaluator is None:
                raise ValueError(f"adjudication by {rule.kind} needs a search, but {game.why_not_searchable}")


def _read_rule(text: str) -> AdjudicationRule:
    match = re.fullmatch(r"(agree|margin|engine):([1-9][0-9]{0,5})x([1-9][0-9]?)", text)
    if match:
        return AdjudicationRule(match[1], int(match[2]), int(match[3]))
    if text == MARGIN:
        return AdjudicationRule(MARGIN)
    match = re.fullmatch(rf"{SOLVER}(?::([1-9][0-9]{{0,5}}))?", text)
    if match:
        return AdjudicationRule(SOLVER, nodes=int(match[1] or SOLVER_NODES))
    raise ValueError(f"{show(text)} is not a rule of adjudication; it is written like {RIGHT_RULES}")


@dataclass(frozen=True, slots=True)
class Conditions:
    """How a game is played, besides its rules."""

    policy: str
    """``forfeit``, ``substitute`` or ``retry:n``."""
    clock: Clock = DEFAULT_CLOCK
    legal_moves: bool = True
    """Whether ``turn`` messages list the legal moves."""
    start_ms: int = 10_000
    """Uncharged milliseconds for a seat's first turn, on top of its clock: programs load, kernels compile."""
    tolerant: bool = False
    """Whether lines of bots that are not JSON are ignored and noted, instead of being faults."""
    adjudication: Adjudication | None = None
    """The rules by which the game may end early; None: it is played to its end."""

    @property
    def tries(self) -> int:
        """The number of illegal answers in a row that lead to a verdict; 1 without retries."""
        return int(self.policy.partition(":")[2]) if self.policy.startswith(RETRY) else 1

    def to_json(self) -> dict[str, Any]:
        """The conditions as records carry them."""
        clock = self.clock.to_json()
        value: dict[str, Any] = {
            "policy": self.policy,
            "clock": clock,
            "legal_moves": self.legal_moves,
            "start_ms": self.start_ms,
        }
        if self.tolerant:
            value["tolerant"] = True
        if self.adjudication is not None:
            value["adjudication"] = str(self.adjudication)
        return value

    @staticmethod
    def from_json(value: Any) -> "Conditions":
        """Read the conditions of a record; ValueError if they are malformed."""
        needed = {"policy", "clock", "legal_moves", "start_ms"}
        if type(value) is not dict or not needed <= set(value) <= needed | {"tolerant", "adjudication"}:
            raise ValueError(f"conditions have policy, clock, legal_moves and start_ms, not {show(value)}")
        if type(value["legal_moves"]) is not bool:
            raise ValueError(f"legal_moves is true or false, not {show(value['legal_moves'])}")
        if value.get("tolerant", True) is not True:
            raise ValueError(f"tolerant is true or left out, not {show(value['tolerant'])}")
        start_ms = integer(value["start_ms"], 0, MAX_MS, "start_ms", ValueError)
        policy, clock = read_policy(value["policy"]), Clock.from_json(value["clock"])
        adjudication = Adjudication.parse(value["adjudication"]) if "adjudication" in value else None
        return Conditions(policy, clock, value["legal_moves"], start_ms, "tolerant" in value, adjudication)


def conditions(
    game: Game,
    policy: str | None = None,
    clock: str | None = None,
    legal_moves: bool = True,
    tolerant: bool = False,
    adjudication: str | None = None,
) -> Conditions:
    """Conditions for a game. Defaults: the game's own policy, one second a move, no adjudication.

    ValueError: a text is malformed, or the rules of adjudication do not fit the game.
    """
    chosen = read_policy(policy) if policy is not None else read_policy(game.policy)
    running = Clock.parse(clock) if clock is not None else DEFAULT_CLOCK
    rules = Adjudication.parse(adjudication) if adjudication is not None else None
    if rules is not None:
        rules.check_fits(game)
    return Conditions(chosen, running, legal_moves, tolerant=tolerant, adjudication=rules)


def read_policy(text: Any) -> str:
    """Check a policy; ``retry`` alone means ten tries."""
    if text == RETRY:
        return f"{RETRY}:10"
    if text in (FORFEIT, SUBSTITUTE):
        return str(text)
    match = re.fullmatch(rf"{RETRY}:([1-9][0-9]{{0,3}})", text) if type(text) is str else None
    if match and int(match[1]) <= MAX_TRIES:
        return str(text)
    raise ValueError(f"a policy is {FORFEIT}, {SUBSTITUTE} or {RETRY}:10 (tries, up to {MAX_TRIES}), not {show(text)}")
